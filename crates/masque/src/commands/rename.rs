//! `masque rename`: another name, and what refers to it follows.

use super::written;
use crate::cli::RenameArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(crate) async fn run(args: RenameArgs, session: &Session, output: &mut Output) -> Result<()> {
    let (kind, name, new_name) = args.target()?;
    let Session { library, author, .. } = session;
    let written = library.rename(author, kind, &name, new_name, args.change.scope, args.why.message).await?;
    let kind = kind.spoken();
    let done = format!("renamed {kind} {name} to {}", written.name);
    let idle = format!("{kind} {name} has this name already");
    written::tell(&written, &done, &idle, output)
}
