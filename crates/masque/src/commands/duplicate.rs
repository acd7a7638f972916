//! `masque duplicate`: an entity under another name, or in another scope.

use super::written::tell_with_pieces;
use crate::cli::DuplicateArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(crate) async fn run(args: DuplicateArgs, session: &Session, output: &mut Output) -> Result<()> {
    let (kind, name, new_name) = args.target()?;
    let DuplicateArgs { from, to, why, .. } = args;
    let Session { library, author, .. } = session;
    let written = library.duplicate(author, kind, &name, new_name, from, to, why.message).await?;
    let (kind, new_name) = (kind.spoken(), &written.name);
    let done = format!("created {kind} {new_name}, a copy of {name}");
    let idle = format!("{kind} {new_name} is a copy of {name} already");
    tell_with_pieces(&written, &done, &idle, output)
}
