//! `masque delete`.

use app::inputs::Delete;
use app::outputs::Deleted;
use persona::Kind;

use super::written::list;
use crate::cli::DeleteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: DeleteArgs, session: &Session, output: &mut Output) -> Result<()> {
    let DeleteArgs { kind, name, force, if_revision, why } = args;
    let input = Delete { name, force, if_revision, message: why.message };
    let deleted = session.library.delete(&session.author, Kind::from(kind), input).await?;
    if output.is_json() {
        return output.json(&deleted);
    }
    let Deleted { kind, name, deleted, unlinked, builtin_in_force } = &deleted;
    if !deleted {
        output.line(format!("no {kind} is named {name}; there was nothing to delete"))?;
    } else if unlinked.is_empty() {
        output.line(format!("deleted {kind} {name}"))?;
    } else {
        output.line(format!("deleted {kind} {name}; it was linked to {}", list(unlinked)))?;
    }
    if *builtin_in_force {
        output.line(format!("the builtin {kind} {name} is in force again"))?;
    }
    Ok(())
}
