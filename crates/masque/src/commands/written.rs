//! Prints the outcome of a write.

use app::outputs::{EntityRef, LeftBehind, ScopedEntityRef, StageState, Written};
use persona::Scope;

use crate::failure::Result;
use crate::output::Output;

/// Up to this many copies are listed by name.
const FEW: usize = 4;
/// Up to this many pieces are listed by name.
pub(super) const MOST_NAMED: usize = 10;

/// Prints the outcome of writing an entity. `done` describes a change, such as "created part
/// calm-tone"; `idle` says why nothing changed.
pub(super) fn print(written: &Written, done: &str, idle: &str, output: &mut Output) -> Result<()> {
    print_with(written, done, idle, &place(written), print_copied, output)
}

/// Prints the outcome of a rollback, with the revision that it created.
pub(super) fn print_rollback(written: &Written, done: &str, idle: &str, output: &mut Output) -> Result<()> {
    let Written { scope, revision, changed, .. } = written;
    let now = if *changed { "now " } else { "" };
    print_with(written, done, idle, &format!("{now}revision {revision}, {scope}"), print_copied, output)
}

/// Prints the outcome for a copy of a builtin, which brings its pieces along.
pub(super) fn print_with_pieces(
    written: &Written,
    done: &str,
    idle: &str,
    output: &mut Output,
) -> Result<()> {
    print_with(written, done, idle, &place(written), print_came_along, output)
}

/// Prints the outcome of a link or a stage, which changes the persona or the arc.
pub(super) fn print_of_owner(written: &Written, done: &str, idle: &str, output: &mut Output) -> Result<()> {
    let Written { name, scope, revision, .. } = written;
    let revision = match scope {
        Scope::Builtin => format!("{name} is a builtin"),
        scope => format!("{name} is at revision {revision} in {scope}"),
    };
    print_with(written, done, idle, &revision, print_copied, output)
}

fn place(written: &Written) -> String {
    match written.scope {
        Scope::Builtin => "builtin".to_owned(),
        scope => format!("{scope}, revision {}", written.revision),
    }
}

fn print_with(
    written: &Written,
    done: &str,
    idle: &str,
    revision: &str,
    copies: fn(&[EntityRef], &mut Output) -> Result<()>,
    output: &mut Output,
) -> Result<()> {
    if output.is_json() {
        return output.json(written);
    }
    let Written { changed, created, copied, followed, not_followed, .. } = written;
    if *changed {
        output.line(format!("{done} ({revision})"))?;
    } else {
        output.line(format!("nothing to change: {idle} ({revision})"))?;
    }
    if !created.is_empty() {
        output.line(format!("also created: {}", list(created)))?;
    }
    copies(copied, output)?;
    followed.iter().try_for_each(|place| output.line(format!("  updated: {}", place_text(place))))?;
    if not_followed.is_empty() {
        return Ok(());
    }
    output.line("could not update these, which still use the old name:")?;
    not_followed.iter().try_for_each(|LeftBehind { place, why }| {
        // Further lines show the place in a broken file, which a warning already has.
        let why = why.lines().next().unwrap_or_default();
        output.line(format!("  {}: {}", place_text(place), why))
    })
}

/// An entity with its scope, as text.
pub(super) fn place_text(place: &ScopedEntityRef) -> String {
    let ScopedEntityRef { scope, kind, name } = place;
    format!("{} {name} ({scope})", kind.spoken())
}

/// Prints the stage of a persona.
pub(super) fn print_stage(state: &StageState, output: &mut Output) -> Result<()> {
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
    print_copied(copied, output)
}

/// Prints the copies that a change of a builtin made first.
fn print_copied(copied: &[EntityRef], output: &mut Output) -> Result<()> {
    match copied {
        [] => Ok(()),
        [.., last] if copied.len() > FEW => {
            // The entity itself is copied last, after its pieces.
            let more = copied.len() - 1;
            let (kind, name) = (last.kind.spoken(), &last.name);
            output
                .line(format!("copied from the builtins first: {kind} {name} and the {more} pieces it uses"))
        }
        few => output.line(format!("copied from the builtins first: {}", list(few))),
    }
}

fn print_came_along(copied: &[EntityRef], output: &mut Output) -> Result<()> {
    if copied.is_empty() {
        return Ok(());
    }
    output.line(format!("copied from the builtins with it: {}", list(copied)))
}

/// Lists pieces by name, up to a limit.
pub(super) fn list(pieces: &[EntityRef]) -> String {
    listed(pieces, |piece| format!("{} {}", piece.kind.spoken(), piece.name))
}

/// Lists entities with their scopes, up to a limit.
pub(super) fn list_places(places: &[ScopedEntityRef]) -> String {
    listed(places, place_text)
}

fn listed<T>(all: &[T], text: impl Fn(&T) -> String) -> String {
    let named = all.iter().take(MOST_NAMED).map(text).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
