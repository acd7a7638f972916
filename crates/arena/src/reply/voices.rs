//! The player's own part of a text, up to the first line of another speaker.

use serde_json::Value;

use crate::log::Dropped;
use crate::{SeatId, Seats};

/// The player's own words: its name in front is taken away, and everything from the first line that
/// speaks for another player.
pub(super) fn own_part<'a>(
    text: &'a str,
    seat: SeatId,
    seats: &Seats,
    dropped: &mut Vec<Dropped>,
) -> &'a str {
    let text = text.trim_start();
    let text = after_label(text, seats.name(seat)).unwrap_or(text);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(other) = foreign_speaker(line, seat, seats) {
            let name = seats.name(other).to_owned();
            dropped.push(Dropped::SpokeFor { name, text: text[at..].trim().to_owned() });
            return &text[..at];
        }
        at += line.len();
    }
    text
}

fn foreign_speaker(line: &str, seat: SeatId, seats: &Seats) -> Option<SeatId> {
    let others = || seats.iter().filter(|other| other.id != seat);
    let line = line.trim();
    if line.starts_with('{') {
        let object: Value = serde_json::from_str(line.trim_end_matches(',')).ok()?;
        let from = object.get("from").and_then(Value::as_str)?;
        return others().find(|other| other.name.eq_ignore_ascii_case(from.trim())).map(|other| other.id);
    }
    others().find(|other| after_label(line, &other.name).is_some()).map(|other| other.id)
}

const OPENING: [char; 8] = ['*', '_', '#', '>', '-', '[', '(', ' '];
const CLOSING: [char; 6] = ['*', '_', ']', ')', ' ', '\u{a0}'];

/// The rest after `Name:`, in the forms in which transcripts write it: `**Name:**`, `[Name]:`, `> Name:`.
fn after_label<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.trim_start_matches(OPENING);
    let mut chars = rest.chars();
    for wanted in name.chars() {
        let found = chars.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let rest = chars.as_str().trim_start_matches(CLOSING);
    let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
    Some(rest.trim_start_matches(['*', '_', ' ']))
}
