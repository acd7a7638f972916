//! `masque delete`.

use app::inputs::Delete;
use app::outputs::Deleted;
use persona::Kind;

use super::written::{in_words, list};
use crate::cli::DeleteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: DeleteArgs, session: &Session, output: &mut Output) -> Result<()> {
    let DeleteArgs { kind, name, force, if_revision, change, why } = args;
    let input = Delete { name, force, if_revision, message: why.message, scope: change.scope };
    let outcome = session.library.delete(&session.author, Kind::from(kind), input).await?;
    if output.is_json() {
        return output.json(&outcome);
    }
    let Deleted { kind, name, scope, deleted, unlinked, left_without, in_force } = &outcome;
    let kind = kind.spoken();
    if !deleted {
        let place = if change.scope.is_some() { format!(" in {scope}") } else { String::new() };
        output.line(format!("no {kind} is named {name}{place}; there was nothing to delete"))?;
    } else if unlinked.is_empty() {
        output.line(format!("deleted {kind} {name} from {scope}"))?;
    } else {
        output.line(format!("deleted {kind} {name} from {scope}; it was linked to {}", list(unlinked)))?;
    }
    if !left_without.is_empty() {
        output.line("these still name it, and find nothing:")?;
        left_without.iter().try_for_each(|place| output.line(format!("  {}", in_words(place))))?;
    }
    if let Some(other) = in_force {
        // What was weaker comes to the fore; what is stronger never went.
        let how = if *deleted && other < scope { "in force again" } else { "in force" };
        output.line(format!("the {other} {kind} {name} is {how}"))?;
    }
    Ok(())
}
