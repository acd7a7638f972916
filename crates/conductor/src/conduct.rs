//! The machine: the folded state of a track, the steps that it offers, the commands that it decides.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{
    Cap, Escalation, Event, FORMAT, Isolation, Origin, PauseCause, PlanApproval, Recorded, ShortState, State,
    Ticket, TicketId, Track,
};

mod agenda;
mod decide;
mod fold;
mod follow;
mod graph;
mod offer;
mod outcomes;
mod people;
mod planning;
mod progress;
mod record;
mod start;

use agenda::Agenda;
pub use planning::{Mistake, cycle};
pub use progress::{Attempt, Order, OrderKind, Progress, Round, Turn};

/// The state of a track, folded from its log.
///
/// `apply` costs as much as what the event affects; `steps` as much as what is worked at once.
#[derive(Debug, Clone)]
pub struct Conduct {
    track: Arc<Track>,
    opened: Option<Opened>,
    tickets: Vec<Progress>,
    index: HashMap<TicketId, usize>,
    /// Every id in lower case: two ids that differ in case alone would share a branch on some systems.
    folded: HashSet<String>,
    /// For each ticket, those that depend on it or await it.
    dependents: Vec<Vec<usize>>,
    agenda: Agenda,
    paused: Option<PauseCause>,
    ending: Option<Ending>,
    /// Tickets that failed since one was last merged.
    failed_in_a_row: Vec<TicketId>,
    caps: Caps,
    warned: Vec<(crate::Account, crate::CapUnit)>,
    /// True if the log has events of a newer version.
    newer: bool,
    /// Times that the track came to its end. A retry opens it again.
    finishes: u32,
    seq: u64,
    began_at: Option<DateTime<Utc>>,
    last_at: Option<DateTime<Utc>>,
}

/// Caps, with what people changed.
#[derive(Debug, Clone, Default)]
struct Caps {
    track: Cap,
    day: Cap,
    tickets: HashMap<TicketId, Cap>,
}

#[derive(Debug, Clone, Copy)]
struct Opened {
    isolation: Isolation,
    plan: PlanApproval,
    concurrency: Option<usize>,
}

/// How a track came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Finished,
    Cancelled,
}

/// What a track does as a whole.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Phase {
    /// Not opened yet.
    New,
    Running,
    /// Nothing can be done until a person acts.
    Waiting,
    Paused,
    Finished,
    Cancelled,
}

impl Conduct {
    /// The state before the first event. The track should have passed its check: a ticket with an
    /// unknown dependency, or on a cycle, stays blocked.
    pub fn new(track: Track) -> Self {
        let caps = Caps { track: track.caps.track, day: track.caps.day, tickets: HashMap::new() };
        let mut conduct = Self {
            track: Arc::new(track),
            opened: None,
            tickets: Vec::new(),
            index: HashMap::new(),
            folded: HashSet::new(),
            dependents: Vec::new(),
            agenda: Agenda::default(),
            paused: None,
            ending: None,
            failed_in_a_row: Vec::new(),
            caps,
            warned: Vec::new(),
            newer: false,
            finishes: 0,
            seq: 0,
            began_at: None,
            last_at: None,
        };
        let tickets = conduct.track.tickets.clone();
        conduct.add(tickets, &Origin::Track, State::Blocked, 0);
        conduct
    }

    /// The state after a whole log.
    pub fn replay<'a>(track: Track, log: impl IntoIterator<Item = &'a Recorded>) -> Self {
        let mut conduct = Self::new(track);
        log.into_iter().for_each(|recorded| conduct.apply(recorded));
        conduct
    }

    /// Folds one event in. Events that were folded before are ignored.
    pub fn apply(&mut self, recorded: &Recorded) {
        if recorded.seq <= self.seq {
            return;
        }
        self.seq = recorded.seq;
        self.last_at = Some(recorded.at);
        self.fold(&recorded.event, recorded.at);
    }

    /// The definition, as it was written.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn began_at(&self) -> Option<DateTime<Utc>> {
        self.began_at
    }

    pub fn last_at(&self) -> Option<DateTime<Utc>> {
        self.last_at
    }

    /// Every ticket, in the order in which they were added.
    pub fn tickets(&self) -> &[Progress] {
        &self.tickets
    }

    pub fn ticket(&self, id: &TicketId) -> Option<&Progress> {
        self.index.get(id).map(|at| &self.tickets[*at])
    }

    pub fn state(&self, id: &TicketId) -> Option<State> {
        self.ticket(id).map(|progress| progress.state)
    }

    pub fn isolation(&self) -> Option<Isolation> {
        self.opened.map(|opened| opened.isolation)
    }

    pub fn paused(&self) -> Option<&PauseCause> {
        self.paused.as_ref()
    }

    /// True if a newer version wrote to the log. The track is then read-only for this one.
    pub fn is_newer(&self) -> bool {
        self.newer
    }

    pub fn phase(&self) -> Phase {
        match (self.opened, self.ending) {
            (_, Some(Ending::Cancelled)) => Phase::Cancelled,
            (None, _) => Phase::New,
            (_, Some(Ending::Finished)) => Phase::Finished,
            _ if self.paused.is_some() => Phase::Paused,
            _ if self.has_steps() => Phase::Running,
            _ => Phase::Waiting,
        }
    }

    /// Tickets that are worked at once.
    pub fn concurrency(&self) -> usize {
        match self.opened {
            // One tree has room for one worker.
            Some(Opened { isolation: Isolation::None, .. }) => 1,
            Some(Opened { concurrency: Some(most), .. }) => most.max(1),
            _ => self.track.concurrency.max(1),
        }
    }

    /// The check that proves a ticket.
    pub fn check_of(&self, ticket: &Ticket) -> Option<&str> {
        let named = |check: &str| !check.trim().is_empty();
        // A ticket's check replaces the track's, which outlives the borrow of the ticket.
        let own = self.ticket(&ticket.id).and_then(|progress| progress.ticket.check.as_deref());
        own.or(self.track.check.as_deref()).filter(|check| named(check))
    }

    /// The checks of a tree that is to become the target: the track's, and the ticket's own.
    pub fn target_checks_of(&self, ticket: &Ticket) -> Vec<String> {
        let checks = [self.track.check.as_deref(), self.check_of(ticket)];
        let mut checks: Vec<_> =
            checks.into_iter().flatten().filter(|check| !check.trim().is_empty()).collect();
        checks.dedup();
        checks.into_iter().map(str::to_owned).collect()
    }

    /// The globs of the paths that a ticket may change. Empty: every path.
    pub fn scope_of<'a>(&'a self, ticket: &'a Ticket) -> &'a [String] {
        if ticket.scope.is_empty() { &self.track.scope } else { &ticket.scope }
    }

    /// The cap of a ticket, as it was written or raised.
    pub fn cap_of(&self, ticket: &Ticket) -> Cap {
        let written = if ticket.caps.is_none() { self.track.caps.ticket } else { ticket.caps };
        self.caps.tickets.get(&ticket.id).copied().unwrap_or(written)
    }

    /// The cap of the track, as it was written or raised.
    pub fn track_cap(&self) -> Cap {
        self.caps.track
    }

    /// The cap of a day, as it was written or raised.
    pub fn day_cap(&self) -> Cap {
        self.caps.day
    }

    /// True if people were warned about an account.
    pub fn was_warned(&self, account: &crate::Account, unit: crate::CapUnit) -> bool {
        self.warned.iter().any(|(it, of)| it == account && *of == unit)
    }

    fn policy(&self) -> &Escalation {
        &self.track.escalation
    }

    fn is_isolated_in(&self) -> Isolation {
        self.opened.map_or(Isolation::Worktrees, |opened| opened.isolation)
    }

    fn is_of_this_version(event: &Event) -> bool {
        match event {
            Event::Opened { format, .. } => *format <= FORMAT,
            Event::Unknown(_) => false,
            _ => true,
        }
    }

    /// How many tickets are in each of the short states.
    pub fn counts(&self) -> Vec<(ShortState, usize)> {
        let all = [
            ShortState::Todo,
            ShortState::InProgress,
            ShortState::Blocked,
            ShortState::Completed,
            ShortState::Failed,
        ];
        let count = |short| self.tickets.iter().filter(|it| it.state.short() == short).count();
        all.into_iter().map(|short| (short, count(short))).collect()
    }
}

#[cfg(test)]
mod tests;
