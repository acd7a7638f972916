//! What a write did, in a sentence.

use app::outputs::{LeftBehind, Piece, Place, StageState, Written};
use persona::Scope;

use crate::failure::Result;
use crate::output::Output;

/// Copies that are named one by one.
const FEW: usize = 4;
/// Pieces that are named one by one, whatever happened to them.
pub(super) const MOST_NAMED: usize = 10;

/// Tells the outcome of writing an entity itself. `done` says what happened where something did,
/// as in "created part calm-tone"; `idle` what is so already where nothing did.
pub(super) fn tell(written: &Written, done: &str, idle: &str, output: &mut Output) -> Result<()> {
    tell_with(written, done, idle, &place(written), tell_copied, output)
}

/// Tells of an entity that came from a builtin: the pieces that it uses came along.
pub(super) fn tell_with_pieces(written: &Written, done: &str, idle: &str, output: &mut Output) -> Result<()> {
    tell_with(written, done, idle, &place(written), tell_came_along, output)
}

/// Tells the outcome of a link or a stage, which is a change of the persona or the arc.
pub(super) fn tell_of_owner(written: &Written, done: &str, idle: &str, output: &mut Output) -> Result<()> {
    let Written { name, scope, revision, .. } = written;
    let revision = match scope {
        Scope::Builtin => format!("{name} is a builtin"),
        scope => format!("{name} is at revision {revision} in {scope}"),
    };
    tell_with(written, done, idle, &revision, tell_copied, output)
}

fn place(written: &Written) -> String {
    match written.scope {
        Scope::Builtin => "builtin".to_owned(),
        scope => format!("{scope}, revision {}", written.revision),
    }
}

fn tell_with(
    written: &Written,
    done: &str,
    idle: &str,
    revision: &str,
    copies: fn(&[Piece], &mut Output) -> Result<()>,
    output: &mut Output,
) -> Result<()> {
    if output.is_json() {
        return output.json(written);
    }
    let Written { changed, created, copied, followed, not_followed, .. } = written;
    if *changed {
        output.line(format!("{done} ({revision})"))?;
    } else {
        output.line(format!("{idle}; nothing changed ({revision})"))?;
    }
    if !created.is_empty() {
        output.line(format!("also created: {}", list(created)))?;
    }
    copies(copied, output)?;
    followed.iter().try_for_each(|place| output.line(format!("  follows: {}", in_words(place))))?;
    if not_followed.is_empty() {
        return Ok(());
    }
    output.line("these still name the old one, and could not be changed:")?;
    not_followed.iter().try_for_each(|LeftBehind { place, why }| {
        // Where a file is broken, the lines below show the place, which was told already.
        let why = why.lines().next().unwrap_or_default();
        output.line(format!("  {}: {}", in_words(place), why))
    })
}

/// An entity with its scope.
pub(super) fn in_words(place: &Place) -> String {
    let Place { scope, kind, name } = place;
    format!("{} {name} ({scope})", kind.spoken())
}

/// Tells where a persona stands now.
pub(super) fn tell_stage(state: &StageState, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(state);
    }
    let StageState { persona, arc, stage, position, of, description, condition, copied, .. } = state;
    output.line(format!("{persona} is at stage {position} of {of} in {arc}: {stage}"))?;
    if let Some(description) = description {
        output.paragraph(2, description)?;
    }
    if let Some(condition) = condition {
        output.paragraph(2, &format!("Condition: {condition}"))?;
    }
    tell_copied(copied, output)
}

/// A builtin is read-only, so a change is made to a copy of it; nobody should wonder about that.
fn tell_copied(copied: &[Piece], output: &mut Output) -> Result<()> {
    match copied {
        [] => Ok(()),
        [.., last] if copied.len() > FEW => {
            // What was asked for is copied last, after all that it uses.
            let more = copied.len() - 1;
            let (kind, name) = (last.kind.spoken(), &last.name);
            output.line(format!(
                "copied from the builtins first: {kind} {name}, with the {more} pieces that it uses"
            ))
        }
        few => output.line(format!("copied from the builtins first: {}", list(few))),
    }
}

fn tell_came_along(copied: &[Piece], output: &mut Output) -> Result<()> {
    if copied.is_empty() {
        return Ok(());
    }
    output.line(format!("copied from the builtins with it: {}", list(copied)))
}

/// Pieces by name, as far as somebody would read them.
pub(super) fn list(pieces: &[Piece]) -> String {
    let named = pieces.iter().take(MOST_NAMED).map(|piece| format!("{} {}", piece.kind.spoken(), piece.name));
    let named = named.collect::<Vec<_>>().join(", ");
    match pieces.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
