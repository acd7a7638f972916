//! `masque promote`: copies or moves an entity and everything it refers to to another scope.

use app::inputs::PromoteEntity;
use app::outputs::{EntityRef, Promoted};
use persona::Scope;

use super::lookup;
use super::written::list;
use crate::cli::PromoteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(crate) async fn run(args: PromoteArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let target = args.target()?;
    let kind = lookup::kind("promote", &target, args.from, workspace).await?;
    let name = target.name;
    let PromoteArgs { from, to, moves, replace, why, .. } = args;
    let message = why.message;
    let input = PromoteEntity { kind, name, to, moves, replace, message, if_revision: None, scope: from };
    let promoted = workspace.library.promote(&workspace.author, input).await?;
    if output.is_json() {
        return output.json(&promoted);
    }
    let Promoted { kind, name, from, to, carried, copied, removed, kept, unfilled } = &promoted;
    // A builtin is always copied.
    let moved = moves && *from != Scope::Builtin;
    let done = if moved { "moved" } else { "copied" };
    output.line(format!("{done} {} {name} from {from} to {to}", kind.spoken()))?;
    // The entity itself is in the line above.
    let others = |pieces: &[EntityRef]| -> Vec<EntityRef> {
        pieces.iter().filter(|piece| piece.kind != *kind || piece.name != *name).cloned().collect()
    };
    let (carried, copied) = (others(carried), others(copied));
    let lists = [
        (format!("with it, to {to}"), &carried),
        ("copied from the builtins".to_owned(), &copied),
        (format!("removed from {from}"), removed),
        (format!("kept in {from}, because others use it"), kept),
    ];
    for (what, pieces) in lists.iter().filter(|(_, pieces)| !pieces.is_empty()) {
        output.line(format!("{what}: {}", list(pieces)))?;
    }
    if !moved && from > to {
        output.advise(&format!("{from} still has it and wins over {to}; `--move` removes it there"))?;
    }
    if !unfilled.is_empty() {
        output.advise(&format!(
            "${{env.…}} expands in files only; in {to} it stays plain text: {}",
            list(unfilled)
        ))?;
    }
    Ok(())
}
