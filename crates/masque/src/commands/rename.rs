//! `masque rename`: renames an entity and updates references to it.

use app::inputs::RenameEntity;

use super::{lookup, written};
use crate::cli::RenameArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(crate) async fn run(args: RenameArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (target, new_name) = args.target()?;
    let kind = lookup::kind("rename", &target, args.change.scope, workspace).await?;
    let name = target.name;
    let Workspace { library, author, .. } = workspace;
    let (message, scope) = (args.why.message, args.change.scope);
    let input = RenameEntity { kind, name: name.clone(), new_name, message, if_revision: None, scope };
    let written = library.rename(author, input).await?;
    let kind = kind.spoken();
    let done = format!("renamed {kind} {name} to {}", written.name);
    let idle = format!("{kind} {name} already has this name");
    written::print(&written, &done, &idle, output)
}
