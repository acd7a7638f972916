//! Seats and their names.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::limits;

/// A seat, by the order of joining. It is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatId(pub u16);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    /// Is asked: a persona, a person in a game, a script.
    #[default]
    Player,
    /// Speaks when it likes, and is never asked: the person of a room.
    Host,
}

/// A seat as it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Newcomer {
    /// The display name. The table changes one that is empty, taken or reserved.
    pub name: String,
    #[serde(default)]
    pub kind: SeatKind,
    /// The persona or person who plays, as the caller names it. The machine never reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// The chance in percent that it speaks unasked, for natural turn-taking.
    #[serde(default = "default_talkativeness")]
    pub talkativeness: u8,
}

fn default_talkativeness() -> u8 {
    50
}

impl Newcomer {
    pub fn player(name: impl Into<String>) -> Self {
        let (kind, talkativeness) = (SeatKind::Player, default_talkativeness());
        Self { name: name.into(), kind, player: None, talkativeness }
    }

    pub fn host(name: impl Into<String>) -> Self {
        Self { kind: SeatKind::Host, ..Self::player(name) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    pub id: SeatId,
    /// Unique at this table, without characters that could forge a line.
    pub name: String,
    pub kind: SeatKind,
    pub talkativeness: u8,
    /// Witnesses, and does not speak.
    pub muted: bool,
    /// Neither witnesses nor speaks any more.
    pub left: bool,
}

/// Names that mean something else.
const RESERVED: [&str; 7] = ["all", "everyone", "table", "me", "you", "nobody", "pass"];

/// All seats of a table, left ones included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seats(Vec<Seat>);

impl Seats {
    pub fn new(newcomers: &[Newcomer]) -> Self {
        let mut seats = Self::default();
        newcomers.iter().for_each(|newcomer| {
            seats.add(newcomer);
        });
        seats
    }

    pub(crate) fn add(&mut self, newcomer: &Newcomer) -> SeatId {
        let id = SeatId(u16::try_from(self.0.len()).unwrap_or(u16::MAX));
        let seat = Seat {
            id,
            name: self.free_name(&newcomer.name),
            kind: newcomer.kind,
            talkativeness: newcomer.talkativeness.min(100),
            muted: false,
            left: false,
        };
        self.0.push(seat);
        id
    }

    pub(crate) fn get_mut(&mut self, id: SeatId) -> Option<&mut Seat> {
        self.0.get_mut(usize::from(id.0))
    }

    pub fn get(&self, id: SeatId) -> Option<&Seat> {
        self.0.get(usize::from(id.0))
    }

    /// The name of a seat; empty for an unknown one.
    pub fn name(&self, id: SeatId) -> &str {
        self.get(id).map_or("", |seat| &seat.name)
    }

    /// The names of some seats: `Ana, Ben`.
    pub fn names(&self, ids: impl IntoIterator<Item = SeatId>) -> String {
        ids.into_iter().map(|id| self.name(id)).collect::<Vec<_>>().join(", ")
    }

    pub fn iter(&self) -> impl Iterator<Item = &Seat> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Seats whose player has not left.
    pub fn present(&self) -> impl Iterator<Item = &Seat> {
        self.0.iter().filter(|seat| !seat.left)
    }

    /// Players who are there.
    pub fn players(&self) -> impl Iterator<Item = SeatId> {
        self.present().filter(|seat| seat.kind == SeatKind::Player).map(|seat| seat.id)
    }

    pub fn hosts(&self) -> impl Iterator<Item = SeatId> {
        self.present().filter(|seat| seat.kind == SeatKind::Host).map(|seat| seat.id)
    }

    /// True if the seat may be asked.
    pub fn may_speak(&self, id: SeatId) -> bool {
        self.get(id).is_some_and(|seat| seat.kind == SeatKind::Player && !seat.muted && !seat.left)
    }

    /// The present seat of this name. Case counts only where two names differ in nothing else, which
    /// [`Seats::add`] rules out.
    pub fn resolve(&self, name: &str) -> Option<SeatId> {
        let wanted = fold(name.trim().trim_start_matches('@'));
        self.present().find(|seat| fold(&seat.name) == wanted).map(|seat| seat.id)
    }

    fn free_name(&self, asked: &str) -> String {
        let clean = clean_name(asked);
        let number = self.0.len() + 1;
        let base = if clean.is_empty() { format!("Player {number}") } else { clean };
        let taken: HashSet<String> = self.0.iter().map(|seat| fold(&seat.name)).collect();
        let is_free = |name: &str| !taken.contains(&fold(name)) && !RESERVED.contains(&fold(name).as_str());
        if is_free(&base) {
            return base;
        }
        // There are fewer seats than numbers to try.
        (2..=self.0.len() + 2)
            .map(|number| format!("{base} {number}"))
            .find(|name| is_free(name))
            .unwrap_or(base)
    }
}

/// The same text for names that differ in case and spaces alone.
fn fold(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A name without line breaks, controls, invisible characters and characters that mean something in a
/// transcript.
fn clean_name(name: &str) -> String {
    let kept = name.chars().map(|char| if char.is_whitespace() { ' ' } else { char });
    let kept =
        kept.filter(|char| !char.is_control() && !is_invisible(*char) && !"@:\"<>[]{}".contains(*char));
    let kept: String = kept.collect();
    let kept = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    kept.chars().take(limits::NAME_CHARS).collect::<String>().trim().to_owned()
}

/// True for characters without a shape of their own, which could hide or reorder text.
pub(crate) fn is_invisible(char: char) -> bool {
    matches!(u32::from(char),
        0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
        | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff9..=0xfffb
        | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

#[cfg(test)]
mod tests;
