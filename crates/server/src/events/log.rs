//! The last events of this process, numbered, so that streams can resume.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::Change;
use serde_json::json;
use tokio::sync::watch;

const CHANGE: &str = "change";
const EVERYTHING: &str = "everything";
const PROBLEMS: &str = "problems";
/// Clients ignore events without data.
const NO_DATA: &str = "{}";

/// One event and its place. The first events of a stream have the place from which it continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoggedChange {
    pub(super) place: u64,
    pub(super) event: &'static str,
    pub(super) data: Arc<str>,
}

/// A bounded log. Places count from 1 and are valid within its epoch only: another process counts
/// from 1 as well.
#[derive(Debug)]
pub(super) struct ChangeLog {
    epoch: u64,
    most: usize,
    state: Mutex<LogState>,
    /// The newest place. Wakes waiting streams.
    newest: watch::Sender<u64>,
}

#[derive(Debug)]
struct LogState {
    /// Without gaps: the first is at `forgotten + 1`.
    entries: VecDeque<LoggedChange>,
    /// The newest place that was dropped.
    forgotten: u64,
    problems: Arc<str>,
}

impl LogState {
    fn newest(&self) -> u64 {
        self.forgotten + self.entries.len() as u64
    }

    fn everything(&self) -> LoggedChange {
        LoggedChange { place: self.newest(), event: EVERYTHING, data: NO_DATA.into() }
    }

    fn problems(&self, place: u64) -> LoggedChange {
        LoggedChange { place, event: PROBLEMS, data: Arc::clone(&self.problems) }
    }
}

impl ChangeLog {
    pub(super) fn new(epoch: u64, most: usize) -> Self {
        let state = LogState { entries: VecDeque::new(), forgotten: 0, problems: "".into() };
        Self { epoch, most, state: Mutex::new(state), newest: watch::Sender::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a change.
    pub(super) fn note(&self, change: &Change) {
        let (event, data) = match change {
            Change::Entity { kind, name, listed } => {
                (CHANGE, json!({ "kind": kind, "name": name, "listed": listed }).to_string().into())
            }
            Change::Everything => (EVERYTHING, NO_DATA.into()),
        };
        self.push(&mut self.lock(), event, data);
    }

    /// Appends the errors in files if they differ from the last ones. `describe` runs under the lock, so
    /// that of two callers the later one gets the later state.
    pub(super) fn note_problems(&self, describe: impl FnOnce() -> String) {
        let mut state = self.lock();
        let problems = describe();
        if *state.problems != *problems {
            state.problems = problems.into();
            let data = Arc::clone(&state.problems);
            self.push(&mut state, PROBLEMS, data);
        }
    }

    fn push(&self, state: &mut LogState, event: &'static str, data: Arc<str>) {
        let place = state.newest() + 1;
        state.entries.push_back(LoggedChange { place, event, data });
        if state.entries.len() > self.most {
            state.entries.pop_front();
            state.forgotten += 1;
        }
        self.newest.send_replace(place);
    }

    /// The id of a place on the wire.
    pub(super) fn id(&self, place: u64) -> String {
        format!("{:016x}-{place}", self.epoch)
    }

    /// The place of an id of this process.
    fn place(&self, id: &str) -> Option<u64> {
        let (epoch, place) = id.trim().split_once('-')?;
        let ours = u64::from_str_radix(epoch, 16).ok()? == self.epoch;
        place.parse().ok().filter(|_| ours)
    }

    /// The first events of a stream. A client with an unknown or too old id has to read everything
    /// again.
    pub(super) fn begin(&self, last: Option<&str>) -> Vec<LoggedChange> {
        let state = self.lock();
        let last = last.filter(|id| !id.trim().is_empty());
        let place = last.and_then(|id| self.place(id));
        match (last, place.filter(|place| (state.forgotten..=state.newest()).contains(place))) {
            (_, Some(place)) => vec![state.problems(place)],
            (None, None) => vec![state.problems(state.newest())],
            (Some(_), None) => vec![state.everything(), state.problems(state.newest())],
        }
    }

    /// The events after a place. A stream that is too slow has to read everything again.
    pub(super) fn after(&self, place: u64) -> Vec<LoggedChange> {
        let state = self.lock();
        if place < state.forgotten {
            return vec![state.everything(), state.problems(state.newest())];
        }
        state.entries.iter().filter(|entry| entry.place > place).cloned().collect()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }
}
