//! The log of a track: what happened, in order. The log is the state.

use chrono::{DateTime, Utc};
use persona::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Account, Cap, CapUnit, Casting, CheckRun, Evidence, Fault, Model, Need, Review, Role, StepKind,
    Submission, Ticket, TicketId, Verdict,
};

/// The format of events that this version writes. It counts up when an old event gets another meaning,
/// which new names and new fields with defaults avoid.
pub const FORMAT: u32 = 1;

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// From 1, without gaps.
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub event: Event,
}

/// One thing that happened to a track. Stored as JSON, with the name in `type`.
///
/// Reading is tolerant: fields that this version does not know are ignored, and an event that it does
/// not know is kept as [`Event::Unknown`], which makes the track read-only for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    Opened {
        format: u32,
        isolation: Isolation,
        plan: PlanApproval,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        concurrency: Option<usize>,
        by: String,
    },
    /// A person approved planned tickets or drafts.
    Approved {
        tickets: Vec<TicketId>,
        by: String,
    },
    StepApproved {
        ticket: TicketId,
        step: StepKind,
        by: String,
    },
    Paused {
        cause: PauseCause,
    },
    Resumed {
        by: String,
    },
    TrackCancelled {
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// Nothing is left that can be done.
    Finished,
    TicketsAdded {
        origin: Origin,
        entry: Entry,
        tickets: Vec<Ticket>,
    },
    /// A persona could not be loaded, and the defaults took over.
    PersonaFellBack {
        ticket: TicketId,
        role: Role,
        persona: Name,
        reason: String,
    },
    SetupStarted {
        ticket: TicketId,
        number: u32,
    },
    Prepared {
        ticket: TicketId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The check, run before anything was changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        baseline: Option<CheckRun>,
    },
    WorkStarted {
        ticket: TicketId,
        attempt: u32,
        session: Uuid,
        casting: Casting,
        model: Model,
        /// True if the session begins anew, with a handover of what failed.
        fresh: bool,
    },
    /// The attempt goes on in its session: with an answer, or after a person made room.
    WorkResumed {
        ticket: TicketId,
        attempt: u32,
    },
    Asked {
        ticket: TicketId,
        attempt: u32,
        question: String,
    },
    Answered {
        ticket: TicketId,
        attempt: u32,
        answer: String,
        by: String,
    },
    ReportedBlocked {
        ticket: TicketId,
        attempt: u32,
        reason: String,
    },
    /// Work in progress is kept in a reference.
    Checkpointed {
        ticket: TicketId,
        attempt: u32,
        reference: String,
        commit: String,
    },
    Submitted {
        ticket: TicketId,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        submission: Submission,
    },
    CheckStarted {
        ticket: TicketId,
        attempt: u32,
    },
    Checked {
        ticket: TicketId,
        attempt: u32,
        verdict: Verdict,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<CheckRun>,
    },
    ReviewStarted {
        ticket: TicketId,
        round: u32,
        session: Uuid,
        casting: Casting,
        model: Model,
    },
    Reviewed {
        ticket: TicketId,
        round: u32,
        review: Review,
    },
    SplitStarted {
        ticket: TicketId,
        session: Uuid,
        casting: Casting,
        model: Model,
    },
    IntegrationStarted {
        ticket: TicketId,
        number: u32,
    },
    Merged {
        ticket: TicketId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The ticket that resolved its conflict and brought it in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<TicketId>,
    },
    /// A step failed.
    Faulted {
        ticket: TicketId,
        step: StepKind,
        number: u32,
        fault: Fault,
    },
    /// A person approved a result that no check or no reviewer vouches for.
    ResultApproved {
        ticket: TicketId,
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The machine decided how a ticket goes on.
    Decided {
        ticket: TicketId,
        #[serde(flatten)]
        next: Next,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Evidence>,
    },
    /// A person gave a ticket another chance.
    Retried {
        ticket: TicketId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Model>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        persona: Option<Name>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    Cancelled {
        ticket: TicketId,
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// An account has spent four fifths of a cap.
    CapWarned {
        account: Account,
        unit: CapUnit,
    },
    CapRaised {
        account: CapAccount,
        cap: Cap,
        by: String,
    },
    /// An event of a newer version, as it is stored.
    #[serde(untagged)]
    Unknown(Value),
}

impl Event {
    /// The ticket that the event is about, if it is about one.
    pub fn ticket(&self) -> Option<&TicketId> {
        match self {
            Self::Opened { .. }
            | Self::Approved { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::TrackCancelled { .. }
            | Self::Finished
            | Self::TicketsAdded { .. }
            | Self::CapWarned { .. }
            | Self::CapRaised { .. }
            | Self::Unknown(_) => None,
            Self::StepApproved { ticket, .. }
            | Self::PersonaFellBack { ticket, .. }
            | Self::SetupStarted { ticket, .. }
            | Self::Prepared { ticket, .. }
            | Self::WorkStarted { ticket, .. }
            | Self::WorkResumed { ticket, .. }
            | Self::Asked { ticket, .. }
            | Self::Answered { ticket, .. }
            | Self::ReportedBlocked { ticket, .. }
            | Self::Checkpointed { ticket, .. }
            | Self::Submitted { ticket, .. }
            | Self::CheckStarted { ticket, .. }
            | Self::Checked { ticket, .. }
            | Self::ReviewStarted { ticket, .. }
            | Self::Reviewed { ticket, .. }
            | Self::SplitStarted { ticket, .. }
            | Self::IntegrationStarted { ticket, .. }
            | Self::Merged { ticket, .. }
            | Self::Faulted { ticket, .. }
            | Self::ResultApproved { ticket, .. }
            | Self::Decided { ticket, .. }
            | Self::Retried { ticket, .. }
            | Self::Cancelled { ticket, .. } => Some(ticket),
        }
    }
}

/// The accounts whose caps a person can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "account", rename_all = "snake_case")]
pub enum CapAccount {
    Ticket { ticket: TicketId },
    Track,
    Day,
}

impl CapAccount {
    /// True if the cap of this account is the one that the sum counts for.
    pub fn covers(&self, account: &Account) -> bool {
        match (self, account) {
            (Self::Ticket { ticket }, Account::Ticket { ticket: other }) => ticket == other,
            (Self::Track, Account::Track) | (Self::Day, Account::Day { .. }) => true,
            _ => false,
        }
    }
}

/// Where workers work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Isolation {
    /// Each ticket in a git worktree of its own.
    Worktrees,
    /// In the project's directory, one after the other: it is no git repository.
    None,
}

/// Who approves tickets that a model planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PlanApproval {
    /// A person wrote the track. Tickets that a split adds need approval.
    Written,
    /// A model drafted the track, so every ticket needs approval.
    Drafted,
    /// Nothing needs approval.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum PauseCause {
    Person {
        by: String,
    },
    /// So many tickets failed in a row.
    Failures {
        tickets: Vec<TicketId>,
    },
}

/// Where added tickets come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "origin", rename_all = "snake_case")]
pub enum Origin {
    /// Written in the track.
    Track,
    /// A person added it.
    Person { by: String },
    /// Tier 2 broke a ticket down.
    Split { of: TicketId },
    /// A worker found it while working on another ticket.
    Found { by: TicketId },
    /// Merging a ticket conflicts.
    Resolver { of: TicketId, with: Vec<TicketId>, paths: Vec<String> },
}

/// How added tickets enter the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Entry {
    Draft,
    AwaitingApproval,
    Planned,
}

/// How a ticket goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum Next {
    /// The same step again.
    Again {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<DateTime<Utc>>,
    },
    /// Another attempt.
    Work {
        /// The index of the model among those of the casting.
        rung: u32,
        /// True for a fresh session with a handover.
        fresh: bool,
        /// True if the tree must be brought onto the target's head first.
        onto_target: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<DateTime<Utc>>,
    },
    Review {
        round: u32,
    },
    /// Another model reviews.
    ReviewBy {
        rung: u32,
    },
    Queue,
    NoChange,
    /// Tier 2 breaks it down.
    Split,
    /// Other tickets come first: its parts, or the one that resolves its conflict.
    Await {
        tickets: Vec<TicketId>,
    },
    /// A person has to act.
    AskPerson {
        need: Need,
    },
    Fail,
}
