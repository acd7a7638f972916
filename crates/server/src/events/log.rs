//! The last events of this process, numbered, for streams to read from where they are.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::Change;
use serde_json::json;
use tokio::sync::watch;

const CHANGE: &str = "change";
const EVERYTHING: &str = "everything";
const PROBLEMS: &str = "problems";
/// An event without data is not shown to those who listen.
const NO_DATA: &str = "{}";

/// One event and its place. What a stream begins with has the place from which it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: u64,
    pub(super) event: &'static str,
    pub(super) data: Arc<str>,
}

/// A bounded log. Places count from 1, and mean something together with its epoch alone: another
/// process counts from 1 as well.
#[derive(Debug)]
pub(super) struct Log {
    epoch: u64,
    most: usize,
    kept: Mutex<Kept>,
    /// Tells the newest place to streams that wait for one.
    newest: watch::Sender<u64>,
}

#[derive(Debug)]
struct Kept {
    /// Without gaps: the first is at `forgotten + 1`.
    entries: VecDeque<Entry>,
    /// The newest place that was dropped.
    forgotten: u64,
    problems: Arc<str>,
}

impl Kept {
    fn newest(&self) -> u64 {
        self.forgotten + self.entries.len() as u64
    }

    fn everything(&self) -> Entry {
        Entry { place: self.newest(), event: EVERYTHING, data: NO_DATA.into() }
    }

    fn problems(&self, place: u64) -> Entry {
        Entry { place, event: PROBLEMS, data: Arc::clone(&self.problems) }
    }
}

impl Log {
    pub(super) fn new(epoch: u64, most: usize) -> Self {
        let kept = Kept { entries: VecDeque::new(), forgotten: 0, problems: "".into() };
        Self { epoch, most, kept: Mutex::new(kept), newest: watch::Sender::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a change down.
    pub(super) fn note(&self, change: &Change) {
        let (event, data) = match change {
            Change::Entity { kind, name, listed } => {
                (CHANGE, json!({ "kind": kind, "name": name, "listed": listed }).to_string().into())
            }
            Change::Everything => (EVERYTHING, NO_DATA.into()),
        };
        self.push(&mut self.lock(), event, data);
    }

    /// Writes down what is wrong with the files, if that is something else than before. Asked for
    /// while the log is held, so that of two who ask the later one has the later answer.
    pub(super) fn note_problems(&self, describe: impl FnOnce() -> String) {
        let mut kept = self.lock();
        let problems = describe();
        if *kept.problems != *problems {
            kept.problems = problems.into();
            let data = Arc::clone(&kept.problems);
            self.push(&mut kept, PROBLEMS, data);
        }
    }

    fn push(&self, kept: &mut Kept, event: &'static str, data: Arc<str>) {
        let place = kept.newest() + 1;
        kept.entries.push_back(Entry { place, event, data });
        if kept.entries.len() > self.most {
            kept.entries.pop_front();
            kept.forgotten += 1;
        }
        self.newest.send_replace(place);
    }

    /// The id under which a place is sent.
    pub(super) fn id(&self, place: u64) -> String {
        format!("{:016x}-{place}", self.epoch)
    }

    /// The place that an id of this process means.
    fn place(&self, id: &str) -> Option<u64> {
        let (epoch, place) = id.trim().split_once('-')?;
        let ours = u64::from_str_radix(epoch, 16).ok()? == self.epoch;
        place.parse().ok().filter(|_| ours)
    }

    /// Where a stream begins, and what it says first. With an id that is not known, or of which
    /// too much was forgotten since, its client is to look at everything.
    pub(super) fn begin(&self, last: Option<&str>) -> Vec<Entry> {
        let kept = self.lock();
        let last = last.filter(|id| !id.trim().is_empty());
        let place = last.and_then(|id| self.place(id));
        match (last, place.filter(|place| (kept.forgotten..=kept.newest()).contains(place))) {
            (_, Some(place)) => vec![kept.problems(place)],
            (None, None) => vec![kept.problems(kept.newest())],
            (Some(_), None) => vec![kept.everything(), kept.problems(kept.newest())],
        }
    }

    /// What came after a place; a stream that was too slow looks at everything.
    pub(super) fn after(&self, place: u64) -> Vec<Entry> {
        let kept = self.lock();
        if place < kept.forgotten {
            return vec![kept.everything(), kept.problems(kept.newest())];
        }
        kept.entries.iter().filter(|entry| entry.place > place).cloned().collect()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }
}
