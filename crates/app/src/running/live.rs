//! A session that this process runs or watches: its recent events, and controls of its run.
//!
//! Entries of the log are stored before they are reported here. Only passing events exist here alone:
//! a viewer that arrives in between gets them from the buffer, and one that is too slow for the buffer
//! reads the log instead.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Event, Mode};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Events that a viewer may lag behind before it reads the log instead.
const BUFFERED_EVENTS: usize = 1024;

/// An event's place: that of a log entry, or of a passing event after it.
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

/// An event and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    pub id: EventId,
    pub event: Event,
}

/// A session that this process runs, or that is watched from here.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: Uuid,
    /// The session that delegated to this one.
    parent: Option<Arc<Live>>,
    state: Mutex<State>,
    /// The number of events ever reported; wakes those who wait for more.
    count: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    buffer: VecDeque<Arc<Reported>>,
    /// The number of events before the first of the buffer.
    before: u64,
    last: EventId,
    mode: Mode,
    /// The place in the log as of which the mode is known. A mode that was read earlier and arrives
    /// later must not undo a switch.
    mode_seq: i64,
    run: Option<Control>,
    /// The number of runs that began.
    runs: u64,
    viewers: usize,
    /// The session was deleted.
    is_deleted: bool,
}

impl State {
    fn push(&mut self, id: EventId, event: Event) {
        self.last = self.last.max(id);
        self.buffer.push_back(Arc::new(Reported { id, event }));
        if self.buffer.len() > BUFFERED_EVENTS {
            self.buffer.pop_front();
            self.before += 1;
        }
    }
}

/// Controls of the current run.
#[derive(Debug)]
struct Control {
    cancel: CancellationToken,
    /// Goes on when nobody watches.
    detached: bool,
    number: u64,
    /// A user cancelled it. That also ends a run that begins to wait at this moment; the loss of the
    /// last viewer and the end of the process do not.
    is_unwanted: bool,
}

/// The buffer's events from a position on.
pub(super) enum Buffered {
    Events(Vec<Arc<Reported>>, u64),
    /// The buffer begins later by now. The log has the rest.
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
        Self { id, parent, state: Mutex::new(state), count: watch::Sender::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The effective mode: a session below one that plans, plans.
    pub(super) fn mode(&self) -> Mode {
        let own = self.state().mode;
        match &self.parent {
            Some(parent) if own == Mode::Build => parent.mode(),
            _ => own,
        }
    }

    /// Sets the mode as of a place in the log.
    pub(super) fn set_mode(&self, mode: Mode, seq: i64) {
        let mut state = self.state();
        if seq >= state.mode_seq {
            state.mode = mode;
            state.mode_seq = seq;
        }
    }

    /// Plans until the log says otherwise. For news from other processes that do not say as of which
    /// place they are true; news of build mode wait for the next entry, because they could be late.
    pub(super) fn plan(&self) {
        self.state().mode = Mode::Plan;
    }

    /// Starts a run. Returns its number, by which it is stopped.
    pub(super) fn start(&self, cancel: CancellationToken, detached: bool) -> u64 {
        let mut state = self.state();
        let detached = detached || state.viewers == 0;
        state.runs += 1;
        state.run = Some(Control { cancel, detached, number: state.runs, is_unwanted: false });
        state.runs
    }

    /// Stops a run, unless the next one has begun already. Returns true if a user had cancelled it.
    pub(super) fn stop(&self, number: u64) -> bool {
        let ended = self.state().run.take_if(|run| run.number == number);
        // Viewers have to poll the log from now on.
        self.count.send_modify(|_| {});
        ended.is_some_and(|run| run.is_unwanted)
    }

    pub(super) fn is_running(&self) -> bool {
        self.state().run.is_some()
    }

    /// Marks the session as deleted: nothing is left to watch.
    pub(super) fn delete(&self) {
        self.state().is_deleted = true;
        self.count.send_modify(|_| {});
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.state().is_deleted
    }

    /// Cancels the run on a user's behalf.
    pub(super) fn cancel(&self) {
        if let Some(control) = &mut self.state().run {
            control.is_unwanted = true;
            control.cancel.cancel();
        }
    }

    /// Cancels the run because the process ends.
    pub(super) fn interrupt(&self) {
        if let Some(control) = &self.state().run {
            control.cancel.cancel();
        }
    }

    /// Reports a log entry.
    pub(super) fn report(&self, seq: i64, event: Event) {
        self.report_all(seq, [event]);
    }

    /// Reports consecutive log entries.
    pub(super) fn report_all(&self, first: i64, events: impl IntoIterator<Item = Event>) {
        let mut state = self.state();
        for (event, seq) in events.into_iter().zip(first..) {
            state.push(EventId::of_entry(seq), event);
        }
        self.announce(&state);
    }

    /// Reports an event that is not stored.
    pub(super) fn report_passing(&self, event: Event) {
        let mut state = self.state();
        let id = EventId { delta: state.last.delta + 1, ..state.last };
        state.push(id, event);
        self.announce(&state);
    }

    fn announce(&self, state: &State) {
        self.count.send_replace(state.before + state.buffer.len() as u64);
    }

    /// Adds a viewer. The position is that of the oldest event in the buffer.
    pub(super) fn watch(self: &Arc<Self>) -> (Viewer, watch::Receiver<u64>, u64) {
        let mut state = self.state();
        state.viewers += 1;
        (Viewer(Arc::clone(self)), self.count.subscribe(), state.before)
    }

    /// True if this session, or one that delegated to it, has a viewer.
    pub(super) fn is_watched(&self) -> bool {
        self.state().viewers > 0 || self.parent.as_ref().is_some_and(|parent| parent.is_watched())
    }

    pub(super) fn since(&self, position: u64) -> Buffered {
        let state = self.state();
        let end = state.before + state.buffer.len() as u64;
        if position < state.before {
            // Halfway in, or the next event would leave the viewer behind again.
            return Buffered::Lagged(state.before + state.buffer.len() as u64 / 2);
        }
        let from = (position - state.before) as usize;
        Buffered::Events(state.buffer.iter().skip(from).cloned().collect(), end)
    }
}

/// Counts as a viewer while it is held. When the last one is dropped, a run that is not detached is
/// cancelled: nobody is there to read it.
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
