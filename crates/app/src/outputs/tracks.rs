//! Tracks as fronts show them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent::Approval;
use chrono::{DateTime, Utc};
use conductor::{
    Cap, CheckRun, FellBack, Finding, Isolation, Model, Need, Origin, PauseCause, Phase, ReviewVerdict,
    Ruling, ShortState, Spent, State, Submission, TicketId, Tier, Track,
};
use persona::Name;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A new track.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CreatedTrack {
    pub id: Uuid,
    /// Absent outside of a git repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<TrackBase>,
}

/// The commit that tickets start from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrackBase {
    /// Absent if the head of the checkout is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub commit: String,
    /// Files of the checkout that are not committed. They are no part of the work.
    pub uncommitted: usize,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrackList {
    pub items: Vec<TrackItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrackItem {
    pub id: Uuid,
    pub title: String,
    /// The directory of the project.
    pub project: String,
    pub phase: Phase,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A track with all that happened to its tickets.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrackBoard {
    pub id: Uuid,
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub goal: String,
    pub project: String,
    pub phase: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseCause>,
    /// True if a newer version of Masque wrote to the track, which is then read-only here.
    pub is_newer: bool,
    /// True if this process works the track.
    pub is_worked_here: bool,
    pub concurrency: usize,
    /// Tickets by their short state.
    pub counts: BTreeMap<String, usize>,
    /// The branch that has the merged tickets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Sums of the track.
    pub spent: Spent,
    pub cap: Cap,
    /// Sums of the current day in UTC.
    pub spent_today: Spent,
    pub day_cap: Cap,
    /// The number of the last event.
    pub seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<DateTime<Utc>>,
    /// What waits for a person, the most urgent first.
    pub needs: Vec<TicketNeed>,
    pub tickets: Vec<TicketBoard>,
}

/// A need of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TicketNeed {
    pub ticket: TicketId,
    #[serde(flatten)]
    pub need: Need,
    /// The same as a sentence.
    pub sentence: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TicketBoard {
    pub id: TicketId,
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What must hold when the ticket is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    pub tier: Tier,
    pub origin: Origin,
    pub depends_on: Vec<TicketId>,
    pub state: State,
    pub short_state: ShortState,
    /// What a person is needed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<TicketNeed>,
    /// Tickets that must be merged first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<TicketId>,
    /// Why it is where it is, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// Of the last attempt or review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The session of the step at hand: of its worker, its reviewer, or the tech lead who breaks it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptBoard>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundBoard>,
    /// Personas that could not be loaded: defaults took their place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fell_back: Vec<FellBack>,
    /// Calls of tools that wait for permission.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    pub spent: Spent,
    pub cap: Cap,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The last run of the check by the conductor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<CheckRun>,
    /// The check, run before anything was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<CheckRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit that brought it into the track's branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// The ticket that brought it in, if it was not itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<TicketId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<DateTime<Utc>>,
}

/// One attempt of a worker.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AttemptBoard {
    pub number: u32,
    pub session: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<Name>,
    pub model: Model,
    pub began_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission: Option<Submission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// As sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<CheckRun>,
    /// As a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// One round of review.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoundBoard {
    pub number: u32,
    pub session: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<Name>,
    pub model: Model,
    pub began_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ReviewVerdict>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// As a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What an attempt at a ticket changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TicketChange {
    pub ticket: TicketId,
    pub attempt: u32,
    pub base: String,
    pub head: String,
    /// False if it is work in progress, kept after the last turn.
    pub is_handed_in: bool,
    pub files: Vec<ChangedFile>,
    /// Files that are neither listed nor in the text.
    pub files_left_out: usize,
    /// Patches of files, one after the other, as git writes them.
    pub diff: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    /// The path that it was renamed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub added: u64,
    pub deleted: u64,
    pub is_binary: bool,
    /// Bytes of its patch that the text lacks.
    pub bytes_left_out: usize,
}

/// What happened in a track, as markdown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrackReport {
    pub id: Uuid,
    pub markdown: String,
}

/// A track before it is worked: no model was called.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrackPlan {
    pub title: String,
    /// True if each ticket would get a worktree of its own.
    pub isolate: bool,
    /// Absent outside of a git repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<TrackBase>,
    /// The command that prepares a fresh checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    pub concurrency: usize,
    /// In an order in which they can be worked.
    pub tickets: Vec<PlannedTicket>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedTicket {
    pub id: TicketId,
    pub title: String,
    pub tier: Tier,
    pub depends_on: Vec<TicketId>,
    /// Tickets that come before it in the longest chain.
    pub depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<Name>,
    /// In the order in which they are tried.
    pub models: Vec<Model>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<Name>,
    /// Personas that cannot be loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fell_back: Vec<FellBack>,
    /// Tokens of the first message and the persona's prompt, without files of the project.
    pub tokens: usize,
    /// The files of the project in the prompt. Absent if the ticket and its persona want none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<PlannedContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    pub cap: Cap,
}

/// The files that a worker's first prompt would have.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PlannedContext {
    pub files: usize,
    pub left_out: usize,
    pub tokens: usize,
    pub budget: usize,
}

/// The worktrees that a cleaning found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanedWorktrees {
    /// True if nothing was changed: the outcomes are those that a cleaning would have.
    pub dry_run: bool,
    pub items: Vec<CleanedWorktree>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanedWorktree {
    pub track: String,
    pub ticket: String,
    pub path: PathBuf,
    #[serde(flatten)]
    pub outcome: Cleaning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Cleaning {
    /// Everything in it is reachable from a branch.
    Removed,
    /// What no branch has is kept in a reference, and the worktree was removed.
    Archived {
        reference: String,
    },
    Kept {
        reason: String,
    },
}

/// A track that a model drafted. A person reads it and creates it, or not.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DraftedTrack {
    /// The session that drafted it.
    pub session: Uuid,
    pub track: Track,
    /// The text of a track.toml with it.
    pub toml: String,
}

/// The track's work in a branch of the user.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergedTrack {
    pub branch: String,
    /// True if the branch has the track's work.
    pub merged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The reason why nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<MergeObstacle>,
    /// The command that the user can run then, and where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
}

/// The reason why a branch was left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum MergeObstacle {
    NoBranch,
    /// The branch has commits that the track lacks.
    Diverged,
    /// Its checkout has changes that are not committed.
    Uncommitted,
    /// A merge, a rebase or the like is under way in its checkout.
    Busy,
    /// Git refuses, for example because an untracked file is in the way.
    Refused,
}
