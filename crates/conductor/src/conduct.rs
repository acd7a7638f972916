//! The machine: the folded state of a track.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{Command, Event, Limits, Recorded, Refusal, State, Step, TicketId, Track};

/// The state of a track, folded from its log.
#[derive(Debug, Clone)]
pub struct Conduct {
    track: Arc<Track>,
    seq: u64,
}

impl Conduct {
    /// The state before the first event.
    pub fn new(track: Track) -> Self {
        Self { track: Arc::new(track), seq: 0 }
    }

    /// The definition, as it was written.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The state of a ticket.
    pub fn state(&self, ticket: &TicketId) -> Option<State> {
        self.track.ticket(ticket).map(|_| State::Ready)
    }

    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.seq = recorded.seq;
    }

    /// The steps that can be taken now, the most urgent first.
    pub fn steps(&self, _limits: Limits) -> Vec<Step> {
        Vec::new()
    }

    /// The events that a command leads to at this time.
    pub fn decide(&self, _at: DateTime<Utc>, _command: &Command) -> Result<Vec<Event>, Refusal> {
        Err(Refusal::NotOpen)
    }
}
