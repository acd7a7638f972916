//! The states of tickets.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a ticket. Only the conductor writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    /// Proposed by a worker. Not part of the work until a person accepts it.
    Draft,
    /// Planned by a model. A person has to approve the plan.
    AwaitingApproval,
    /// A dependency is not merged, or the ticket itself cannot start.
    Blocked,
    Ready,
    /// Its worktree is being prepared.
    Setup,
    /// A persona works it, or is about to.
    Working,
    /// A person has to answer, to approve or to decide.
    NeedsInput,
    /// Handed in, not yet checked.
    Submitted,
    Checking,
    Reviewing,
    /// Sent back with findings.
    Rework,
    /// Waits for its turn to be merged.
    Queued,
    Integrating,
    Merged,
    /// Nothing had to be changed, as a reviewer or a person confirmed.
    NoChange,
    Failed,
    Cancelled,
}

impl State {
    pub const ALL: [Self; 17] = [
        Self::Draft,
        Self::AwaitingApproval,
        Self::Blocked,
        Self::Ready,
        Self::Setup,
        Self::Working,
        Self::NeedsInput,
        Self::Submitted,
        Self::Checking,
        Self::Reviewing,
        Self::Rework,
        Self::Queued,
        Self::Integrating,
        Self::Merged,
        Self::NoChange,
        Self::Failed,
        Self::Cancelled,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Blocked => "blocked",
            Self::Ready => "ready",
            Self::Setup => "setup",
            Self::Working => "working",
            Self::NeedsInput => "needs_input",
            Self::Submitted => "submitted",
            Self::Checking => "checking",
            Self::Reviewing => "reviewing",
            Self::Rework => "rework",
            Self::Queued => "queued",
            Self::Integrating => "integrating",
            Self::Merged => "merged",
            Self::NoChange => "no_change",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// True if a dependency on a ticket in this state is met.
    pub const fn is_met(self) -> bool {
        matches!(self, Self::Merged | Self::NoChange)
    }

    /// True if the ticket is at an end, which only a person's retry undoes.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Merged | Self::NoChange | Self::Failed | Self::Cancelled)
    }

    /// True if a step works on the ticket, or is about to. Merging waits in a queue of its own.
    pub(crate) const fn is_worked(self) -> bool {
        matches!(
            self,
            Self::Setup | Self::Working | Self::Submitted | Self::Checking | Self::Reviewing | Self::Rework
        )
    }

    pub const fn short(self) -> ShortState {
        match self {
            Self::Draft | Self::AwaitingApproval | Self::Ready => ShortState::Todo,
            Self::Blocked => ShortState::Blocked,
            Self::Setup
            | Self::Working
            | Self::NeedsInput
            | Self::Submitted
            | Self::Checking
            | Self::Reviewing
            | Self::Rework
            | Self::Queued
            | Self::Integrating => ShortState::InProgress,
            Self::Merged | Self::NoChange => ShortState::Completed,
            Self::Failed | Self::Cancelled => ShortState::Failed,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The state of a ticket in short, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ShortState {
    Todo,
    InProgress,
    Blocked,
    Completed,
    Failed,
}

impl ShortState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for ShortState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
