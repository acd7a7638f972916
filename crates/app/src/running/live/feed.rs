//! The recent events of a session.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::Event;
use tokio::sync::watch;

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

/// The buffer's events from a position on.
#[derive(Debug, PartialEq)]
pub(in crate::running) enum Buffered {
    Events(Vec<Arc<Reported>>, u64),
    /// The buffer begins later by now. The log has the rest.
    Lagged(u64),
}

/// A buffer of events, which wakes its readers.
#[derive(Debug)]
pub(in crate::running) struct EventFeed {
    state: Mutex<State>,
    /// The number of events ever reported.
    count: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    events: VecDeque<Arc<Reported>>,
    /// The number of events before the first of the buffer.
    before: u64,
    last: EventId,
    is_closed: bool,
}

impl State {
    fn push(&mut self, id: EventId, event: Event) {
        self.last = self.last.max(id);
        self.events.push_back(Arc::new(Reported { id, event }));
        if self.events.len() > BUFFERED_EVENTS {
            self.events.pop_front();
            self.before += 1;
        }
    }

    fn count(&self) -> u64 {
        self.before + self.events.len() as u64
    }
}

impl EventFeed {
    /// An empty feed that continues a log.
    pub(super) fn new(last_seq: i64) -> Self {
        let last = EventId::of_entry(last_seq);
        let state = State { events: VecDeque::new(), before: 0, last, is_closed: false };
        Self { state: Mutex::new(state), count: watch::Sender::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports consecutive log entries, which are stored already.
    pub(in crate::running) fn report_all(&self, first: i64, events: impl IntoIterator<Item = Event>) {
        let mut state = self.state();
        for (event, seq) in events.into_iter().zip(first..) {
            state.push(EventId::of_entry(seq), event);
        }
        self.count.send_replace(state.count());
    }

    /// Reports one log entry.
    pub(in crate::running) fn report(&self, seq: i64, event: Event) {
        self.report_all(seq, [event]);
    }

    /// Reports an event that is not stored.
    pub(in crate::running) fn report_passing(&self, event: Event) {
        let mut state = self.state();
        let id = EventId { delta: state.last.delta + 1, ..state.last };
        state.push(id, event);
        self.count.send_replace(state.count());
    }

    /// Subscribes to wake-ups. The position is that of the oldest event in the buffer.
    pub(super) fn subscribe(&self) -> (watch::Receiver<u64>, u64) {
        let state = self.state();
        (self.count.subscribe(), state.before)
    }

    pub(in crate::running) fn since(&self, position: u64) -> Buffered {
        let state = self.state();
        if position < state.before {
            // Halfway in, or the next event would leave the viewer behind again.
            return Buffered::Lagged(state.before + state.events.len() as u64 / 2);
        }
        let from = (position - state.before) as usize;
        Buffered::Events(state.events.iter().skip(from).cloned().collect(), state.count())
    }

    /// Wakes readers without an event.
    pub(super) fn wake(&self) {
        self.count.send_modify(|_| {});
    }

    /// Closes the feed of a deleted session.
    pub(in crate::running) fn close(&self) {
        self.state().is_closed = true;
        self.wake();
    }

    pub(in crate::running) fn is_closed(&self) -> bool {
        self.state().is_closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(content: &str) -> Event {
        Event::TextDelta { content: content.to_owned() }
    }

    fn ids(buffered: &Buffered) -> String {
        match buffered {
            Buffered::Events(events, next) => {
                let ids: Vec<String> = events.iter().map(|reported| reported.id.to_string()).collect();
                format!("{} then {next}", ids.join(" "))
            }
            Buffered::Lagged(position) => format!("lagged to {position}"),
        }
    }

    #[test]
    fn passing_events_are_numbered_after_the_last_entry() {
        let feed = EventFeed::new(7);
        feed.report_passing(delta("a"));
        feed.report_passing(delta("b"));
        feed.report_all(8, [delta("c"), delta("d")]);
        feed.report_passing(delta("e"));
        assert_eq!(ids(&feed.since(0)), "7.1 7.2 8 9 9.1 then 5");
        assert_eq!(ids(&feed.since(3)), "9 9.1 then 5");
        assert_eq!(ids(&feed.since(5)), " then 5");
    }

    #[test]
    fn a_reader_behind_the_buffer_restarts_in_its_middle() {
        let feed = EventFeed::new(0);
        for seq in 1..=BUFFERED_EVENTS as i64 + 10 {
            feed.report(seq, delta("x"));
        }
        assert_eq!(ids(&feed.since(9)), format!("lagged to {}", 10 + BUFFERED_EVENTS / 2));
        let Buffered::Events(events, next) = feed.since(10) else { panic!("lagged") };
        assert_eq!((events.len(), next), (BUFFERED_EVENTS, BUFFERED_EVENTS as u64 + 10));
    }

    #[test]
    fn events_and_closing_wake_readers() {
        let feed = EventFeed::new(0);
        let (mut receiver, position) = feed.subscribe();
        assert_eq!((position, receiver.has_changed().expect("an open channel")), (0, false));
        feed.report_passing(delta("x"));
        assert!(receiver.has_changed().expect("an open channel"));
        receiver.mark_unchanged();
        feed.close();
        assert!(receiver.has_changed().expect("an open channel") && feed.is_closed());
    }
}
