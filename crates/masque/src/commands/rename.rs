//! `masque rename`: renames an entity and updates references to it.

use super::written;
use crate::cli::RenameArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(crate) async fn run(args: RenameArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (kind, name, new_name) = args.target()?;
    let Workspace { library, author, .. } = workspace;
    let written = library.rename(author, kind, &name, new_name, args.change.scope, args.why.message).await?;
    let kind = kind.spoken();
    let done = format!("renamed {kind} {name} to {}", written.name);
    let idle = format!("{kind} {name} already has this name");
    written::print(&written, &done, &idle, output)
}
