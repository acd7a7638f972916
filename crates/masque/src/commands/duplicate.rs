//! `masque duplicate`: copies an entity to another name or scope.

use super::written::print_with_pieces;
use crate::cli::DuplicateArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(crate) async fn run(args: DuplicateArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (kind, name, new_name) = args.target()?;
    let DuplicateArgs { from, to, why, .. } = args;
    let Workspace { library, author, .. } = workspace;
    let written = library.duplicate(author, kind, &name, new_name, from, to, why.message).await?;
    let (kind, new_name) = (kind.spoken(), &written.name);
    let done = format!("created {kind} {new_name}, a copy of {name}");
    let idle = format!("{kind} {new_name} is already a copy of {name}");
    print_with_pieces(&written, &done, &idle, output)
}
