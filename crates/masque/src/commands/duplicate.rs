//! `masque duplicate`: copies an entity to another name or scope.

use app::inputs::DuplicateEntity;

use super::lookup;
use super::written::print_with_pieces;
use crate::cli::DuplicateArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(crate) async fn run(args: DuplicateArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (target, new_name) = args.target()?;
    let kind = lookup::kind("duplicate", &target, args.from, workspace).await?;
    let name = target.name;
    let DuplicateArgs { from, to, why, .. } = args;
    let Workspace { library, author, .. } = workspace;
    let message = why.message;
    let input =
        DuplicateEntity { kind, name: name.clone(), new_name, to, message, if_revision: None, scope: from };
    let written = library.duplicate(author, input).await?;
    let (kind, new_name) = (kind.spoken(), &written.name);
    let done = format!("created {kind} {new_name}, a copy of {name}");
    let idle = format!("{kind} {new_name} is already a copy of {name}");
    print_with_pieces(&written, &done, &idle, output)
}
