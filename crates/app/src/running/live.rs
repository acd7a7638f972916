//! What happens in a session right now, for those who watch it from this process.
//!
//! Entries of the log are in the database before they are told here. What is only here is text on
//! its way: whoever comes in between gets it from the buffer, and whoever is too slow for the
//! buffer reads the log instead.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Event, Mode};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Events that a viewer may be behind before it has to read the log.
const BUFFERED_EVENTS: usize = 1024;

/// An event's place: that of an entry of the log, or of a passing text after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    pub seq: i64,
    pub delta: u32,
}

impl EventId {
    pub fn of_entry(seq: i64) -> Self {
        Self { seq, delta: 0 }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.delta {
            0 => write!(f, "{}", self.seq),
            delta => write!(f, "{}.{delta}", self.seq),
        }
    }
}

impl FromStr for EventId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (seq, delta) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self { seq: seq.parse()?, delta: delta.parse()? })
    }
}

/// An event with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub id: EventId,
    pub event: Event,
}

/// A session that this process runs or that somebody watches from here.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: Uuid,
    /// The session that delegated to this one.
    parent: Option<Arc<Live>>,
    state: Mutex<State>,
    /// Counts all events ever told; wakes those who wait for more.
    told: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    buffer: VecDeque<Arc<Told>>,
    /// How many events stood before the first of the buffer.
    before: u64,
    last: EventId,
    mode: Mode,
    /// The place in the log as of which the mode is known: what is read earlier and arrives later
    /// must not undo a switch.
    mode_seq: i64,
    run: Option<Control>,
    /// How many began.
    runs: u64,
    viewers: usize,
    /// The session is not there any more.
    is_deleted: bool,
}

impl State {
    fn push(&mut self, id: EventId, event: Event) {
        self.last = self.last.max(id);
        self.buffer.push_back(Arc::new(Told { id, event }));
        if self.buffer.len() > BUFFERED_EVENTS {
            self.buffer.pop_front();
            self.before += 1;
        }
    }
}

/// How the run that is under way is stopped.
#[derive(Debug)]
struct Control {
    cancel: CancellationToken,
    /// Goes on when nobody watches.
    detached: bool,
    number: u64,
    /// Somebody cancelled it, which also ends a run that begins to wait at that moment. That nobody
    /// watches any more, or that the process ends, does not.
    is_unwanted: bool,
}

/// What stands in the buffer from a position on.
pub(super) enum Heard {
    Events(Vec<Arc<Told>>, u64),
    /// The buffer begins later by now; the log has the rest.
    Lagged(u64),
}

impl Live {
    pub(super) fn new(id: Uuid, parent: Option<Arc<Self>>, mode: Mode, last_seq: i64) -> Self {
        let state = State {
            buffer: VecDeque::new(),
            before: 0,
            last: EventId::of_entry(last_seq),
            mode,
            mode_seq: last_seq,
            run: None,
            runs: 0,
            viewers: 0,
            is_deleted: false,
        };
        Self { id, parent, state: Mutex::new(state), told: watch::Sender::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mode that counts: a session below one that plans, plans.
    pub(super) fn mode(&self) -> Mode {
        let own = self.state().mode;
        match &self.parent {
            Some(parent) if own == Mode::Build => parent.mode(),
            _ => own,
        }
    }

    /// The mode as it was when the log ended with this place.
    pub(super) fn set_mode(&self, mode: Mode, seq: i64) {
        let mut state = self.state();
        if seq >= state.mode_seq {
            state.mode = mode;
            state.mode_seq = seq;
        }
    }

    /// Plans until the log says otherwise: for word from elsewhere that does not say when it was
    /// true. Word of the other mode waits for the next entry, because it could be late.
    pub(super) fn plan(&self) {
        self.state().mode = Mode::Plan;
    }

    /// A run begins; what it is called is needed to stop it.
    pub(super) fn start(&self, cancel: CancellationToken, detached: bool) -> u64 {
        let mut state = self.state();
        let detached = detached || state.viewers == 0;
        state.runs += 1;
        state.run = Some(Control { cancel, detached, number: state.runs, is_unwanted: false });
        state.runs
    }

    /// A run is over. The next one may have begun already: whoever hears of the end may be quick.
    /// Whether somebody had cancelled it.
    pub(super) fn stop(&self, number: u64) -> bool {
        let ended = self.state().run.take_if(|run| run.number == number);
        // Who waits for events has to look for them elsewhere from now on.
        self.told.send_modify(|_| {});
        ended.is_some_and(|run| run.is_unwanted)
    }

    pub(super) fn is_running(&self) -> bool {
        self.state().run.is_some()
    }

    /// The session was deleted: there is nothing left to watch.
    pub(super) fn delete(&self) {
        self.state().is_deleted = true;
        self.told.send_modify(|_| {});
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.state().is_deleted
    }

    /// Somebody does not want it any more.
    pub(super) fn cancel(&self) {
        if let Some(control) = &mut self.state().run {
            control.is_unwanted = true;
            control.cancel.cancel();
        }
    }

    /// The process ends.
    pub(super) fn interrupt(&self) {
        if let Some(control) = &self.state().run {
            control.cancel.cancel();
        }
    }

    /// The text of an entry that is in the log by now.
    pub(super) fn tell(&self, seq: i64, event: Event) {
        self.tell_all(seq, [event]);
    }

    /// The same of entries that follow each other.
    pub(super) fn tell_all(&self, first: i64, events: impl IntoIterator<Item = Event>) {
        let mut state = self.state();
        for (event, seq) in events.into_iter().zip(first..) {
            state.push(EventId::of_entry(seq), event);
        }
        self.announce(&state);
    }

    /// Text that passes by.
    pub(super) fn tell_passing(&self, event: Event) {
        let mut state = self.state();
        let id = EventId { delta: state.last.delta + 1, ..state.last };
        state.push(id, event);
        self.announce(&state);
    }

    fn announce(&self, state: &State) {
        self.told.send_replace(state.before + state.buffer.len() as u64);
    }

    /// Somebody watches from now on; the position is that of the oldest event that is still here.
    pub(super) fn watch(self: &Arc<Self>) -> (Viewer, watch::Receiver<u64>, u64) {
        let mut state = self.state();
        state.viewers += 1;
        (Viewer(Arc::clone(self)), self.told.subscribe(), state.before)
    }

    /// Whether somebody watches this session, or one that delegated to it.
    pub(super) fn is_watched(&self) -> bool {
        self.state().viewers > 0 || self.parent.as_ref().is_some_and(|parent| parent.is_watched())
    }

    pub(super) fn since(&self, position: u64) -> Heard {
        let state = self.state();
        let end = state.before + state.buffer.len() as u64;
        if position < state.before {
            // Further on, or the next event would leave it behind again.
            return Heard::Lagged(state.before + state.buffer.len() as u64 / 2);
        }
        let from = (position - state.before) as usize;
        Heard::Events(state.buffer.iter().skip(from).cloned().collect(), end)
    }
}

/// Counts as somebody who watches for as long as it is held. When the last one is gone, a run that
/// is not detached is cancelled: nobody is there to read it.
#[derive(Debug)]
pub(super) struct Viewer(pub(super) Arc<Live>);

impl Drop for Viewer {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.viewers -= 1;
        if state.viewers == 0
            && let Some(control) = state.run.as_ref().filter(|control| !control.detached)
        {
            control.cancel.cancel();
        }
    }
}
