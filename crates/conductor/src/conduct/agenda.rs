//! Indexes over the tickets, so that an event costs as much as what it affects.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Progress;
use crate::{Isolation, State};

/// The order of work: the longest chain of dependents first, then the order of the file.
pub(super) type Key = (Reverse<u32>, usize);

/// The tickets that steps are found among.
#[derive(Debug, Clone, Default)]
pub(super) struct Agenda {
    pub(super) ready: BTreeSet<Key>,
    /// Tickets in the hands of a step, and those that wait for a place to go on.
    pub(super) busy: BTreeSet<Key>,
    /// In the order in which they came.
    pub(super) queue: BTreeSet<(u64, usize)>,
    /// The ticket that is being merged.
    pub(super) integrating: Option<usize>,
    /// Places in use.
    pub(super) places: usize,
    /// Tickets that wait for a place to go on. They come before those that were not started.
    pub(super) parked: usize,
    /// Tickets that may still come to an end by themselves or by an answer.
    pub(super) live: usize,
}

impl Agenda {
    pub(super) fn insert(&mut self, at: usize, progress: &Progress, isolation: Isolation) {
        let key = (Reverse(progress.height), at);
        match progress.state {
            State::Ready => drop(self.ready.insert(key)),
            State::Queued => drop(self.queue.insert((progress.queued_at, at))),
            State::Integrating => self.integrating = Some(at),
            state if state.is_worked() => drop(self.busy.insert(key)),
            _ => {}
        }
        self.places += usize::from(holds_place(progress, isolation));
        self.parked += usize::from(is_parked(progress));
        self.live += usize::from(is_live(progress));
    }

    pub(super) fn remove(&mut self, at: usize, progress: &Progress, isolation: Isolation) {
        let key = (Reverse(progress.height), at);
        match progress.state {
            State::Ready => drop(self.ready.remove(&key)),
            State::Queued => drop(self.queue.remove(&(progress.queued_at, at))),
            State::Integrating => self.integrating = self.integrating.filter(|it| *it != at),
            state if state.is_worked() => drop(self.busy.remove(&key)),
            _ => {}
        }
        self.places -= usize::from(holds_place(progress, isolation));
        self.parked -= usize::from(is_parked(progress));
        self.live -= usize::from(is_live(progress));
    }
}

fn is_parked(progress: &Progress) -> bool {
    progress.parked && progress.state.is_worked()
}

/// True if the ticket counts for the limit of tickets that are worked at once. One that waits for a
/// person does not, unless its changes lie in the only tree that there is.
fn holds_place(progress: &Progress, isolation: Isolation) -> bool {
    if is_parked(progress) {
        return false;
    }
    let in_place = isolation == Isolation::None
        && progress.prepared
        && matches!(progress.state, State::NeedsInput | State::Queued | State::Integrating);
    progress.state.is_worked() || in_place
}

fn is_live(progress: &Progress) -> bool {
    !(progress.state.is_final() || progress.state == State::Draft || progress.is_stalled())
}
