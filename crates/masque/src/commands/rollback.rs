//! `masque rollback`: an earlier revision, made the newest.

use app::inputs::{RevisionText, Rollback};
use app::outputs::{Piece, PieceThen, RenamedPiece, RolledBack};
use persona::{Kind, Name, Scope};

use super::meant::{Meant, Named};
use super::written;
use crate::cli::{RollbackArgs, Target};
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: RollbackArgs, session: &Session, output: &mut Output) -> Result<()> {
    let (Target { kind, name, implied, .. }, revision) = args.target()?;
    let scope = args.recorded.scope;
    let input = Rollback {
        kind,
        name: name.clone(),
        scope,
        revision: RevisionText(revision.to_owned()),
        with_pieces: args.with_pieces,
        message: args.why.message.clone(),
        if_revision: args.if_revision,
    };
    let back = session.library.rollback(&session.author, input).await;
    let meant = Meant { command: "rollback", name: &name, implied, scope };
    let back = meant.found(back, session).await?;
    if output.is_json() {
        return output.json(&back);
    }
    let RolledBack { written, restored, renamed, differing, forgotten } = &back;
    let spoken = kind.spoken();
    let itself = if differing.is_empty() && restored.is_empty() { "" } else { " itself" };
    let done = format!("put {spoken} {name} back to {revision}");
    let idle = format!("{spoken} {name}{itself} is as it was at {revision}");
    written::tell(written, &done, &idle, output)?;
    if !restored.is_empty() {
        output.line(format!("put back with it: {}", written::list(restored)))?;
    }
    for RenamedPiece { kind, name: now, was } in renamed {
        output.line(format!("{} {was} is {now} now, and {name} refers to that", kind.spoken()))?;
    }
    for place in forgotten {
        let piece = written::in_words(place);
        output.line(format!("how {piece} was then is not in the history any more; it stays as it is"))?;
    }
    tell_differing(differing, (kind, &name, written.scope), revision, session, output).await
}

/// Tells of each piece that is not as it was then, and how it goes back.
async fn tell_differing(
    differing: &[PieceThen],
    (kind, name, scope): (Kind, &Name, Scope),
    revision: &str,
    session: &Session,
    output: &mut Output,
) -> Result<()> {
    for piece in differing.iter().take(written::MOST_NAMED) {
        let PieceThen { scope, kind, name, revision, ask_for, deleted } = piece;
        let revision = ask_for.clone().unwrap_or_else(|| revision.to_string());
        let state = if *deleted { "deleted since" } else { "changed since" };
        let command = Named::new(*kind, name, *scope, session).await.command("rollback", &revision);
        output.line(format!("{state}: {} {name} of {scope}; put it back with `{command}`", kind.spoken()))?;
    }
    if differing.len() > written::MOST_NAMED {
        let more: Vec<Piece> = differing[written::MOST_NAMED..]
            .iter()
            .map(|piece| Piece { kind: piece.kind, name: piece.name.clone() })
            .collect();
        output.line(format!("changed or deleted since as well: {}", written::list(&more)))?;
    }
    let own = differing.iter().filter(|piece| piece.scope == scope).count();
    if own == 0 {
        return Ok(());
    }
    let command = Named::new(kind, name, scope, session).await.command("rollback", revision);
    let all = if own == differing.len() { "all of them" } else { "all of this scope" };
    output.line(format!("{all} at once: `{command} --with-pieces`"))
}
