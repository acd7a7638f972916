//! `masque rollback`: restores an earlier revision as the newest.

use app::inputs::{RevisionText, Rollback};
use app::outputs::{EntityRef, PieceThen, RenamedPiece, RolledBack};
use persona::{Kind, Name, Scope};

use super::lookup::{self, CommandSubject};
use super::written;
use crate::cli::RollbackArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: RollbackArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (target, revision) = args.target()?;
    let scope = args.recorded.scope;
    let kind = lookup::recorded_kind("rollback", &target, scope, workspace).await?;
    let name = target.name;
    let input = Rollback {
        kind,
        name: name.clone(),
        scope,
        revision: RevisionText(revision.to_owned()),
        with_pieces: args.with_pieces,
        message: args.why.message.clone(),
        if_revision: args.if_revision,
    };
    let back = workspace.library.rollback(&workspace.author, input).await?;
    if output.is_json() {
        return output.json(&back);
    }
    let RolledBack { written, restored, renamed, differing, forgotten } = &back;
    let spoken = kind.spoken();
    let subject = if kind == Kind::Persona { name.to_string() } else { format!("{spoken} {name}") };
    let itself = if differing.is_empty() && restored.is_empty() { "" } else { " itself" };
    let at = match revision.parse::<u64>() {
        Ok(number) => format!("revision {number}"),
        Err(_) => revision.to_owned(),
    };
    let done = format!("rolled back {subject} to {at}");
    let idle = format!("{subject}{itself} is already as in {at}");
    written::print_rollback(written, &done, &idle, output)?;
    if !restored.is_empty() {
        output.line(format!("also rolled back: {}", written::list(restored)))?;
    }
    for RenamedPiece { kind, name: now, was } in renamed {
        output.line(format!("{} {was} is now named {now}; {name} refers to it", kind.spoken()))?;
    }
    for place in forgotten {
        let piece = written::place_text(place);
        output.line(format!("the history no longer has {piece} from then; it stays unchanged"))?;
    }
    print_differing(differing, (kind, &name, written.scope), revision, workspace, output).await
}

/// Lists the pieces that differ from the revision, and how to roll them back.
async fn print_differing(
    differing: &[PieceThen],
    (kind, name, scope): (Kind, &Name, Scope),
    revision: &str,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    for piece in differing.iter().take(written::MOST_NAMED) {
        let PieceThen { scope, kind, name, revision, ask_for, deleted } = piece;
        let revision = ask_for.clone().unwrap_or_else(|| revision.to_string());
        let state = if *deleted { "deleted since" } else { "changed since" };
        let command =
            CommandSubject::new(*kind, name, *scope, workspace).await.command("rollback", &revision);
        output
            .line(format!("{state}: {} {name} in {scope}; roll it back with `{command}`", kind.spoken()))?;
    }
    if differing.len() > written::MOST_NAMED {
        let more: Vec<EntityRef> = differing[written::MOST_NAMED..]
            .iter()
            .map(|piece| EntityRef { kind: piece.kind, name: piece.name.clone() })
            .collect();
        output.line(format!("also changed or deleted since: {}", written::list(&more)))?;
    }
    let own = differing.iter().filter(|piece| piece.scope == scope).count();
    if own == 0 {
        return Ok(());
    }
    let command = CommandSubject::new(kind, name, scope, workspace).await.command("rollback", revision);
    let all = if own == differing.len() { "all of them" } else { "all in this scope" };
    output.line(format!("to roll back {all}: `{command} --with-pieces`"))
}
