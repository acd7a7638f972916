//! `masque rollback`: an earlier revision, made the newest.

use app::RevisionRef;

use super::meant::Meant;
use super::written;
use crate::cli::{RollbackArgs, Target};
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: RollbackArgs, session: &Session, output: &mut Output) -> Result<()> {
    let (Target { kind, name, implied, .. }, revision) = args.target()?;
    let wanted = RevisionRef::parse(revision);
    let (scope, message) = (args.recorded.scope, args.why.message.clone());
    let library = &session.library;
    let written = library.rollback(&session.author, kind, &name, scope, &wanted, message).await;
    let written = Meant { command: "rollback", name: &name, implied }.found(written, session).await?;
    let kind = kind.spoken();
    let done = format!("put {kind} {name} back to {revision}");
    let idle = format!("{kind} {name} is as it was at {revision}");
    written::tell(&written, &done, &idle, output)
}
