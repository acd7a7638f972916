//! Proposals and questions of the editing agent: shown as diffs, applied or dropped.

use app::editing::{AppliedChange, EditorProposal, ProposalAnswer, ProposedDefinition};
use app::inputs::{ApplyProposal, ByPersonaId, DismissProposal};
use app::outputs::ScopedEntityRef;
use app::running::Runtime;
use persona::Name;
use serde::Serialize;
use uuid::Uuid;

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

/// What waits for the user's decision.
pub(super) struct Open {
    /// The proposal, then the questions.
    all: Vec<EditorProposal>,
    /// True if the first one is the proposal.
    has_proposal: bool,
}

impl Open {
    pub(super) fn has(&self, id: Uuid) -> bool {
        self.all.iter().any(|open| open.id == id)
    }
}

/// The open proposal and questions of a persona.
pub(super) async fn open(runtime: &Runtime, persona: &Name) -> Result<Open> {
    let input = ByPersonaId { persona_id: persona.clone() };
    let ProposalAnswer { proposal, questions } = runtime.editor_proposal(&input).await?;
    Ok(Open { has_proposal: proposal.is_some(), all: proposal.into_iter().chain(questions).collect() })
}

/// Prints what was not open before, and how to decide it.
pub(super) fn print_new(persona: &Name, open: &Open, known: &Open, output: &mut Output) -> Result<()> {
    for (number, proposal) in open.all.iter().enumerate() {
        if known.has(proposal.id) {
            continue;
        }
        let is_question = !(open.has_proposal && number == 0);
        if output.is_json() {
            let r#type = if is_question { "question" } else { "proposal" };
            let line = serde_json::to_string(&ProposalLine { r#type, proposal });
            output.json_text(&line.unwrap_or_default())?;
            continue;
        }
        output.blank()?;
        print_changes(proposal, output)?;
        output.advise(&match is_question {
            true => format!(
                "This would halve a text, so nothing is changed yet. Take it with `masque edit {persona} --apply`, or \
                 keep yours with `masque edit {persona} --dismiss`."
            ),
            false => format!("Nothing is changed yet. Apply it with `masque edit {persona} --apply`."),
        })?;
    }
    Ok(())
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

/// Applies everything that is open. Fails if there is nothing.
pub(super) async fn apply(
    runtime: &Runtime,
    persona: Name,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let open = open(runtime, &persona).await?.all;
    // Without an id, nothing open is an error.
    let ids = if open.is_empty() { vec![None] } else { open.iter().map(|open| Some(open.id)).collect() };
    for (number, proposal_id) in ids.into_iter().enumerate() {
        let input = ApplyProposal { persona_id: persona.clone(), proposal_id };
        let applied = runtime.apply_editor_proposal(&workspace.author, &input).await?;
        if output.is_json() {
            output.json(&applied)?;
            continue;
        }
        if let Some(proposal) = open.get(number) {
            print_changes(proposal, output)?;
        }
        for AppliedChange { entity: ScopedEntityRef { scope, kind, name }, revision, deleted } in
            &applied.applied
        {
            let done = if *deleted { "deleted" } else { "applied" };
            output.line(format!("{done} {} {name} ({scope}), revision {revision}", kind.spoken()))?;
        }
    }
    Ok(())
}

/// Drops everything that is open.
pub(super) async fn dismiss(runtime: &Runtime, persona: Name, output: &mut Output) -> Result<()> {
    let open = open(runtime, &persona).await?.all;
    if open.is_empty() && !output.is_json() {
        return output.line(format!("the editing agent of {persona} proposes nothing"));
    }
    for EditorProposal { id, message, .. } in open {
        let input = DismissProposal { persona_id: persona.clone(), proposal_id: id };
        let dismissed = runtime.dismiss_editor_proposal(&input).await?;
        match output.is_json() {
            true => output.json(&dismissed)?,
            false => output.line(format!("dismissed what answered {message:?}"))?,
        }
    }
    Ok(())
}
