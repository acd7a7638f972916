//! Steps: what can be done now.

use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Evidence, Finding, Model, TicketId};

/// The kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StepKind {
    Prepare,
    Work,
    Verify,
    Review,
    Split,
    Integrate,
    Finish,
}

impl StepKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Work => "work",
            Self::Verify => "verify",
            Self::Review => "review",
            Self::Split => "split",
            Self::Integrate => "integrate",
            Self::Finish => "finish",
        }
    }
}

/// The identity of a step: the key of its claim, and of its side effects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct StepKey {
    /// Absent for `finish`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<TicketId>,
    pub kind: StepKind,
    /// The attempt, the round or the try, from 1.
    pub number: u32,
}

/// `T1/work/2`.
impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticket = self.ticket.as_ref().map_or("", TicketId::as_str);
        write!(f, "{ticket}/{}/{}", self.kind.as_str(), self.number)
    }
}

/// A step that can be taken now. Taking it twice does no harm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub key: StepKey,
    pub task: Task,
    /// True if it was started before: its worker may still be alive, or dead.
    pub begun: bool,
    /// The step waits until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<DateTime<Utc>>,
    /// Why this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// The task of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// Make the worktree, run the setup command and the baseline check.
    Prepare,
    Work(WorkTask),
    /// Gather the facts in a fresh checkout and judge the submission.
    Verify {
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    Review(ReviewTask),
    /// Let tier 2 break the ticket down.
    Split {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<Uuid>,
        /// A person's answer that the session waits for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// Rebase, check that tree, move the reference.
    Integrate {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    /// Write the report.
    Finish,
}

/// One attempt of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkTask {
    pub attempt: u32,
    /// The index of the model among those of the casting.
    pub rung: u32,
    /// The session to go on with. Absent: a fresh one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
    /// A person's answer that the session waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// True if the tree must be brought onto the target's head first.
    pub onto_target: bool,
}

/// One round of review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewTask {
    pub round: u32,
    /// The index of the model among those of the casting.
    pub rung: u32,
    /// The session of this round, if it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The head that the round before saw: this round covers what came after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Findings of the rounds before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Finding>,
    /// The model that did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Model>,
}

/// What one process takes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most steps in the answer.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: crate::limits::CONCURRENCY }
    }
}
