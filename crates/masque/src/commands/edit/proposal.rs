//! Proposals of the editing agent: shown as a diff, and applied.

use app::editing::{AppliedChange, EditorProposal, ProposedDefinition};
use app::inputs::{ApplyProposal, ByPersonaId};
use app::outputs::ScopedEntityRef;
use app::running::Runtime;
use persona::Name;
use serde::Serialize;

use crate::commands::diff::Sides;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

/// The last line of an answer with `--json`.
#[derive(Debug, Serialize)]
struct ProposalLine<'a> {
    r#type: &'static str,
    proposal: &'a EditorProposal,
}

/// The open proposal of a persona.
pub(super) async fn open(runtime: &Runtime, persona: &Name) -> Result<Option<EditorProposal>> {
    let input = ByPersonaId { persona_id: persona.clone() };
    Ok(runtime.editor_proposal(&input).await?.proposal)
}

/// Prints a new proposal, and how to apply it.
pub(super) fn print(persona: &Name, proposal: &EditorProposal, output: &mut Output) -> Result<()> {
    if output.is_json() {
        let line = serde_json::to_string(&ProposalLine { r#type: "proposal", proposal });
        return output.json_text(&line.unwrap_or_default());
    }
    output.blank()?;
    print_changes(proposal, output)?;
    output.advise(&format!("Nothing is changed yet. Apply it with `masque edit {persona} --apply`."))
}

fn print_changes(proposal: &EditorProposal, output: &mut Output) -> Result<()> {
    for ProposedDefinition { scope, kind, name, if_revision, before_toml, after_toml, .. } in
        &proposal.changes
    {
        let named = format!("{} {name} ({scope})", kind.spoken());
        let before = match if_revision {
            0 => "nothing".to_owned(),
            revision => format!("{named} revision {revision}"),
        };
        let after = if after_toml.is_empty() { "deleted".to_owned() } else { format!("{named} proposed") };
        Sides::new(&before, &after, before_toml, after_toml).print(output)?;
    }
    Ok(())
}

/// Applies the open proposal.
pub(super) async fn apply(
    runtime: &Runtime,
    persona: Name,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let proposal = open(runtime, &persona).await?;
    let proposal_id = proposal.as_ref().map(|proposal| proposal.id);
    let input = ApplyProposal { persona_id: persona, proposal_id };
    let applied = runtime.apply_editor_proposal(&workspace.author, &input).await?;
    if output.is_json() {
        return output.json(&applied);
    }
    if let Some(proposal) = &proposal {
        print_changes(proposal, output)?;
    }
    for AppliedChange { entity: ScopedEntityRef { scope, kind, name }, revision, deleted } in &applied.applied
    {
        let done = if *deleted { "deleted" } else { "applied" };
        output.line(format!("{done} {} {name} ({scope}), revision {revision}", kind.spoken()))?;
    }
    Ok(())
}
