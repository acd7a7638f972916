//! What became of a ticket.

use chrono::{DateTime, Utc};
use persona::Name;
use uuid::Uuid;

use crate::ladder::Climb;
use crate::{
    CheckRun, Event, Evidence, Fault, Finding, Model, Need, Origin, Outcome, Review, Role, State, StepKind,
    Submission, Ticket, TicketId, Verdict,
};

/// A ticket with all that happened to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub ticket: Ticket,
    pub origin: Origin,
    pub state: State,
    /// What a person is needed for.
    pub need: Option<Need>,
    /// Tickets that came in between: its parts, or the one that resolves its conflict.
    pub awaits: Vec<TicketId>,
    /// The commit that its worktree started from.
    pub base: Option<String>,
    pub branch: Option<String>,
    /// The check, run before anything was changed.
    pub baseline: Option<CheckRun>,
    pub attempts: Vec<Attempt>,
    pub rounds: Vec<Round>,
    /// The commit that brought it into the target.
    pub merged: Option<String>,
    /// The ticket that brought it in, if it was not itself.
    pub via: Option<TicketId>,
    /// Why it is where it is.
    pub evidence: Vec<Evidence>,
    /// Every change of its way, in order.
    pub turns: Vec<Turn>,
    /// What people decided about it, in order.
    pub orders: Vec<Order>,
    /// Personas that could not be loaded.
    pub fell_back: Vec<(Role, Name, String)>,
    /// The model and the persona that a person chose.
    pub chosen_model: Option<Model>,
    pub chosen_persona: Option<Name>,
    /// The time of its last event.
    pub last_at: Option<DateTime<Utc>>,
    /// When work on it began, and ended.
    pub began_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    /// Its place on the ladder.
    pub climb: Climb,

    /// Dependencies that are not met, and those that never will be unless a person acts.
    pub(super) unmet: u32,
    pub(super) dead: u32,
    pub(super) prepared: bool,
    /// True if a person lets it start on a base whose check is red.
    pub(super) accepts_red_base: bool,
    pub(super) setups: u32,
    pub(super) integrations: u32,
    /// The next or the current attempt.
    pub(super) work: Option<Work>,
    pub(super) review: Option<ReviewPlan>,
    pub(super) split: Option<SplitPlan>,
    /// True if the step at hand was started.
    pub(super) begun: bool,
    /// True if it waits for a place among the tickets that are worked.
    pub(super) parked: bool,
    pub(super) not_before: Option<DateTime<Utc>>,
    /// The step that a person approved.
    pub(super) granted: Option<StepKind>,
    /// The state to return to once the person has acted.
    pub(super) held: Option<State>,
    /// The event by which it entered the merge queue.
    pub(super) queued_at: u64,
    pub(super) height: u32,
}

/// A change of a ticket's way: the machine's decision, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub at: DateTime<Utc>,
    pub next: crate::Next,
    pub evidence: Vec<Evidence>,
}

/// A person's decision about a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub at: DateTime<Utc>,
    pub by: String,
    pub kind: OrderKind,
    /// In the person's words. May be empty.
    pub note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderKind {
    Accepted,
    Retried,
    Cancelled,
}

impl Order {
    pub(super) fn of(event: &Event, at: DateTime<Utc>) -> Option<Self> {
        let (kind, by, note) = match event {
            Event::ResultApproved { by, note, .. } => (OrderKind::Accepted, by, note),
            Event::Retried { by, note, .. } => (OrderKind::Retried, by, note),
            Event::Cancelled { by, reason, .. } | Event::TrackCancelled { by, reason } => {
                (OrderKind::Cancelled, by, reason)
            }
            _ => return None,
        };
        Some(Self { at, by: by.clone(), kind, note: note.clone() })
    }
}

/// One attempt of one worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    pub session: Uuid,
    pub persona: Option<Name>,
    pub model: Model,
    pub rung: u32,
    /// True if its session began with it.
    pub fresh: bool,
    pub began_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub head: Option<String>,
    pub submission: Option<Submission>,
    pub verdict: Option<Verdict>,
    /// The conductor's own run of the check.
    pub run: Option<CheckRun>,
    pub checked_at: Option<DateTime<Utc>>,
    pub fault: Option<Fault>,
    /// Questions with their answers.
    pub questions: Vec<(String, Option<String>)>,
    /// The reference that keeps its work in progress, and the commit.
    pub checkpoint: Option<(String, String)>,
}

/// One round of review.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// From 1.
    pub number: u32,
    pub session: Uuid,
    pub persona: Option<Name>,
    pub model: Model,
    pub began_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    /// The attempt and the head that it looks at.
    pub attempt: u32,
    pub head: Option<String>,
    pub review: Option<Review>,
    pub fault: Option<Fault>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    pub(super) rung: u32,
    pub(super) fresh: bool,
    pub(super) onto_target: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReviewPlan {
    pub(super) rung: u32,
    /// Models of the reviewer's casting, once it is known.
    pub(super) models: usize,
    /// The session to go on with.
    pub(super) session: Option<Uuid>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SplitPlan {
    pub(super) session: Option<Uuid>,
    pub(super) tries: u32,
    /// A person's answer to the tech lead.
    pub(super) answer: Option<String>,
}

impl Progress {
    pub(super) fn new(ticket: Ticket, origin: Origin, state: State, splits: u32) -> Self {
        let may_split = !matches!(origin, Origin::Resolver { .. });
        Self {
            ticket,
            origin,
            state,
            need: None,
            awaits: Vec::new(),
            base: None,
            branch: None,
            baseline: None,
            attempts: Vec::new(),
            rounds: Vec::new(),
            merged: None,
            via: None,
            evidence: Vec::new(),
            turns: Vec::new(),
            orders: Vec::new(),
            fell_back: Vec::new(),
            chosen_model: None,
            chosen_persona: None,
            last_at: None,
            began_at: None,
            ended_at: None,
            climb: Climb { splits, may_split, ..Climb::default() },
            unmet: 0,
            dead: 0,
            prepared: false,
            accepts_red_base: false,
            setups: 0,
            integrations: 0,
            work: None,
            review: None,
            split: None,
            begun: false,
            parked: false,
            not_before: None,
            granted: None,
            held: None,
            queued_at: 0,
            height: 0,
        }
    }

    pub fn id(&self) -> &TicketId {
        &self.ticket.id
    }

    /// True if it can never start unless a person mends one of its dependencies.
    pub fn is_stalled(&self) -> bool {
        self.state == State::Blocked && self.dead > 0
    }

    /// The current or last attempt.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// The session of the step at hand.
    pub fn session(&self) -> Option<Uuid> {
        if self.state.is_final() {
            return None;
        }
        let split = self.split.as_ref().and_then(|split| split.session);
        let attempt = || self.attempts.last().filter(|attempt| attempt.ended_at.is_none());
        let round = || self.rounds.last().filter(|round| round.ended_at.is_none());
        split.or_else(|| Some(round()?.session)).or_else(|| Some(attempt()?.session))
    }

    /// The last submission that was handed in.
    pub fn submission(&self) -> Option<&Submission> {
        self.attempt().and_then(|attempt| attempt.submission.as_ref())
    }

    /// The commit to check, to review and to merge.
    pub fn head(&self) -> Option<&str> {
        self.attempts.iter().rev().find_map(|attempt| attempt.head.as_deref())
    }

    /// True if a split is being made.
    pub fn is_splitting(&self) -> bool {
        self.split.is_some()
    }

    /// Findings of the last round, if it sent the result back.
    pub fn open_findings(&self) -> Vec<Finding> {
        let last = self.rounds.iter().rev().find_map(|round| round.review.as_ref());
        last.map(|review| review.findings.clone()).unwrap_or_default()
    }

    pub(super) fn claims_no_change(&self) -> bool {
        self.submission().is_some_and(|it| it.outcome == Outcome::NoChange)
    }

    /// The number of the current attempt, or of the next one.
    pub(super) fn work_number(&self) -> u32 {
        let made = u32::try_from(self.attempts.len()).unwrap_or(u32::MAX);
        if self.begun { made } else { made.saturating_add(1) }
    }

    /// The step at hand with its number, if it is in the hands of the machine.
    pub(super) fn stage(&self) -> Option<(StepKind, u32)> {
        let next = |made: u32| made.saturating_add(u32::from(!self.begun));
        let made = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Some(match (self.state, &self.split) {
            (State::Ready | State::Setup, _) => (StepKind::Prepare, next(self.setups)),
            (State::Working | State::Rework, Some(split)) => (StepKind::Split, next(split.tries)),
            (State::Working | State::Rework, None) => (StepKind::Work, self.work_number()),
            (State::Submitted | State::Checking, _) => (StepKind::Verify, made(self.attempts.len())),
            (State::Reviewing, _) => (StepKind::Review, next(made(self.rounds.len()))),
            (State::Queued | State::Integrating, _) => (StepKind::Integrate, next(self.integrations)),
            _ => return None,
        })
    }

    /// The session that the next attempt goes on with.
    pub(super) fn session_to_continue(&self) -> Option<Uuid> {
        let goes_on = self.begun || self.work.as_ref().is_some_and(|work| !work.fresh);
        if goes_on { self.attempt().map(|attempt| attempt.session) } else { None }
    }

    /// Takes the state of a ticket that nobody works: its dependencies decide.
    pub(super) fn rest(&mut self) {
        self.begun = false;
        self.not_before = None;
        self.parked = false;
        if self.unmet > 0 {
            self.state = State::Blocked;
        } else if self.prepared && self.work.is_some() {
            if !self.awaits.is_empty() {
                let parts = self.awaits.clone();
                self.evidence = vec![Evidence::PartsMerged { parts }];
            }
            self.state = State::Working;
            self.parked = true;
        } else {
            self.state = State::Ready;
        }
    }

    /// True if its dependencies alone decide whether it is ready.
    pub(super) fn is_resting(&self) -> bool {
        self.need.is_none() && matches!(self.state, State::Blocked | State::Ready)
    }
}
