//! `masque promote`: moves or copies an entity and everything it refers to to another scope.

use app::inputs::PromoteEntity;
use app::outputs::Promoted;
use persona::{Kind, Scope};

use super::written::list;
use crate::cli::PromoteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(crate) async fn run(args: PromoteArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let PromoteArgs { name, kind, from, to, copy, replace, why } = args;
    let kind = kind.map_or(Kind::Persona, Kind::from);
    let message = why.message;
    let input = PromoteEntity { kind, name, to, copy, replace, message, if_revision: None, scope: from };
    let promoted = workspace.library.promote(&workspace.author, input).await?;
    if output.is_json() {
        return output.json(&promoted);
    }
    let Promoted { kind, name, from, to, carried, copied, removed, kept, unfilled } = &promoted;
    // A builtin is always copied.
    let done = if copy || *from == Scope::Builtin { "copied" } else { "moved" };
    output.line(format!("{done} {} {name} from {from} to {to}", kind.spoken()))?;
    let lists = [
        (format!("with it, to {to}"), carried),
        ("copied from the builtins".to_owned(), copied),
        (format!("removed from {from}"), removed),
        (format!("kept in {from}, because others use it"), kept),
    ];
    for (what, pieces) in lists.iter().filter(|(_, pieces)| !pieces.is_empty()) {
        output.line(format!("{what}: {}", list(pieces)))?;
    }
    if !unfilled.is_empty() {
        output.advise(&format!(
            "${{env.…}} expands in files only; in {to} it stays plain text: {}",
            list(unfilled)
        ))?;
    }
    Ok(())
}
