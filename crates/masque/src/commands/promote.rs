//! `masque promote`: an entity and all that it refers to, from one scope to another.

use app::Promotion;
use app::outputs::Promoted;
use persona::{Kind, Scope};

use super::written::list;
use crate::cli::PromoteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(crate) async fn run(args: PromoteArgs, session: &Session, output: &mut Output) -> Result<()> {
    let PromoteArgs { name, kind, from, to, copy, replace, why } = args;
    let kind = kind.map_or(Kind::Persona, Kind::from);
    let promotion = Promotion { kind, name, from, to, copy, replace, message: why.message };
    let promoted = session.library.promote(&session.author, promotion).await?;
    if output.is_json() {
        return output.json(&promoted);
    }
    let Promoted { kind, name, from, to, carried, copied, removed, kept, unfilled } = &promoted;
    // A builtin stays what it is.
    let done = if copy || *from == Scope::Builtin { "copied" } else { "moved" };
    output.line(format!("{done} {} {name} from {from} to {to}", kind.spoken()))?;
    let lists = [
        (format!("carried into {to}"), carried),
        ("copied from the builtins with it".to_owned(), copied),
        (format!("removed from {from}"), removed),
        (format!("kept in {from}, where others use it"), kept),
    ];
    for (what, pieces) in lists.iter().filter(|(_, pieces)| !pieces.is_empty()) {
        output.line(format!("{what}: {}", list(pieces)))?;
    }
    if !unfilled.is_empty() {
        output.advise(&format!(
            "${{env.…}} is filled in only where it stands in a file, and in {to} it is text: {}",
            list(unfilled)
        ))?;
    }
    Ok(())
}
