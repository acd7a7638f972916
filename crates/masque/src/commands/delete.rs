//! `masque delete`.

use app::inputs::Delete;
use app::outputs::Deleted;
use persona::Kind;

use super::written::{list, place_text};
use crate::cli::DeleteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: DeleteArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let DeleteArgs { kind, name, force, if_revision, change, why } = args;
    let input = Delete { name, force, if_revision, message: why.message, scope: change.scope };
    let outcome = workspace.library.delete(&workspace.author, Kind::from(kind), input).await?;
    if output.is_json() {
        return output.json(&outcome);
    }
    let Deleted { kind, name, scope, deleted, unlinked, left_without, in_force } = &outcome;
    let kind = kind.spoken();
    if !deleted {
        let place = if change.scope.is_some() { format!(" in {scope}") } else { String::new() };
        output.line(format!("nothing to delete: no {kind} is named {name}{place}"))?;
    } else if unlinked.is_empty() {
        output.line(format!("deleted {kind} {name} from {scope}"))?;
    } else {
        output
            .line(format!("deleted {kind} {name} from {scope}, and unlinked it from {}", list(unlinked)))?;
    }
    if !left_without.is_empty() {
        output.line("these still refer to it:")?;
        left_without.iter().try_for_each(|place| output.line(format!("  {}", place_text(place))))?;
    }
    if let Some(other) = in_force {
        // A weaker definition takes over; a stronger one was used all the time.
        let how = if *deleted && other < scope { "now used" } else { "used" };
        output.line(format!("the {other} {kind} {name} is {how}"))?;
    }
    Ok(())
}
