//! The memory of one player: the events that it witnessed, the older ones as a diary.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{AskId, Event, Payload, SeatId, Sid, limits};

/// The older part of a memory, summed up by the player itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diary {
    /// The lines that it replaces.
    pub lines: usize,
    pub text: String,
    /// Lines of which nothing is left, because no diary came.
    pub lost: usize,
}

/// Asks for a diary. The answer is [`crate::Input::Diary`].
#[derive(Debug, Clone, PartialEq)]
pub struct Compact {
    pub ask: AskId,
    pub seat: SeatId,
    /// The diary so far.
    pub diary: String,
    /// The lines that it shall take in, as the player saw them.
    pub lines: String,
    /// A longer diary is cut.
    pub most_bytes: usize,
}

/// The memory of one seat.
///
/// Only what was delivered gets in: text that an interrupt left unspoken never does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// In the order of witnessing. The number of a line is its place here, from 1.
    events: Vec<Arc<Event>>,
    diary: Diary,
    /// Estimated bytes of the lines that the diary does not replace.
    bytes: usize,
}

impl Memory {
    /// The witnessed events, with their numbers.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = (usize, &Event)> {
        self.events.iter().enumerate().map(|(at, event)| (at + 1, &**event))
    }

    /// The lines that a prompt shows in full.
    pub(crate) fn recent(&self) -> impl Iterator<Item = (usize, &Event)> {
        self.lines().skip(self.diary.lines)
    }

    pub fn diary(&self) -> &Diary {
        &self.diary
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The number under which the player knows an event.
    pub fn number(&self, sid: Sid) -> Option<usize> {
        // What is referred to is recent.
        self.events.iter().rposition(|event| event.sid == sid).map(|at| at + 1)
    }

    /// Takes an event in, or its newer state.
    pub(crate) fn witness(&mut self, event: &Arc<Event>) {
        match self.events.iter().rposition(|known| known.sid == event.sid) {
            Some(at) => self.events[at] = event.clone(),
            None => {
                self.bytes += weight(event);
                self.events.push(event.clone());
            }
        }
    }

    /// The lines to compact so that the rest takes half of the budget, or 0 if all fits.
    pub(crate) fn surplus(&self, budget_bytes: usize) -> usize {
        let budget = budget_bytes.max(limits::LEAST_MEMORY_BYTES);
        if self.bytes + self.diary.text.len() <= budget {
            return 0;
        }
        let mut kept = self.bytes;
        let recent = self.events.iter().skip(self.diary.lines);
        let is_over = |event: &&Arc<Event>| {
            let is_over = kept > budget / 2;
            kept -= weight(event).min(kept);
            is_over
        };
        recent.take_while(is_over).count()
    }

    /// A diary replaces further lines. `None`: it could not be written, and the lines are lost.
    pub(crate) fn compact(&mut self, lines: usize, text: Option<&str>, budget_bytes: usize) {
        let from = self.diary.lines;
        let to = (from + lines).min(self.events.len());
        let freed: usize = self.events[from..to].iter().map(|event| weight(event)).sum();
        self.bytes -= freed.min(self.bytes);
        self.diary.lines = to;
        match text {
            Some(text) => {
                let most = most_diary_bytes(budget_bytes);
                text[..text.floor_char_boundary(most)].clone_into(&mut self.diary.text);
            }
            None => self.diary.lost += to - from,
        }
    }
}

/// A quarter of the budget.
pub(crate) fn most_diary_bytes(budget_bytes: usize) -> usize {
    budget_bytes.max(limits::LEAST_MEMORY_BYTES) / 4
}

/// Bytes of an event in a prompt: its text and the frame around it.
fn weight(event: &Event) -> usize {
    let text = match &event.payload {
        Payload::Own { text, .. } => text.len(),
        Payload::GameEnd { ending } => ending.text.len(),
        payload => payload.content().map_or(0, str::len),
    };
    text + 48
}
