//! Why a step is taken: the facts behind each decision of the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Account, CapUnit, CheckRun, Finding, Model, Objection, Signal, TicketId};

/// The way in which a step failed, as `app` reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The call of a model failed on its way: network, rate limit, overload, a crash of the worker.
    Transport { message: String },
    /// The worktree could not be made, or its setup command failed.
    Setup {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<CheckRun>,
    },
    /// The check fails before anything was changed.
    RedBaseline { run: CheckRun },
    /// The model cannot do it: it refuses, or its context is too small.
    Model { message: String },
    /// The observer found the worker stuck.
    Stuck { signal: Signal },
    /// The turn ended, and nothing was handed in.
    NoSubmission,
    /// A cap does not allow the next call. The work is checkpointed.
    Cap { account: Account, unit: CapUnit },
    /// The model has no known price, and a cap in money is set.
    Unpriced { model: Model },
    /// A tool of the machine failed: git, the disk, the database.
    Machine { message: String },
}

impl Fault {
    /// True if the worker or its model failed. All else holds it up, and is none of its doing.
    pub fn is_of_worker(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Stuck { .. } | Self::NoSubmission)
    }
}

/// One reason for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "evidence", rename_all = "snake_case")]
pub enum Evidence {
    Fault {
        attempt: u32,
        fault: Fault,
    },
    /// So many failures of the same kind in a row.
    Repeated {
        times: u32,
    },
    RedCheck {
        attempt: u32,
        run: CheckRun,
    },
    Rejected {
        attempt: u32,
        objections: Vec<Objection>,
    },
    /// The worker says that a part is left.
    Partial {
        attempt: u32,
        open: Vec<String>,
    },
    ReportedBlocked {
        attempt: u32,
        reason: String,
    },
    Unverified {
        attempt: u32,
    },
    /// Nothing had to be changed, says the worker, and no reviewer confirms it.
    NoChangeClaimed {
        attempt: u32,
    },
    ReviewFindings {
        round: u32,
        findings: Vec<Finding>,
    },
    /// A reviewer says that the approach is wrong.
    ReviewBlocked {
        round: u32,
        summary: String,
        findings: Vec<Finding>,
    },
    ReviewRoundsUsed {
        rounds: u32,
    },
    /// All models have failed.
    ModelsUsed {
        models: Vec<Model>,
    },
    SplitUsed {
        depth: u32,
    },
    SplitFailed {
        fault: Fault,
    },
    /// Merging with what others merged meanwhile conflicts.
    Conflict {
        paths: Vec<String>,
        with: Vec<TicketId>,
    },
    /// The check is green on the branch, and red on the tree that merging makes.
    RedTogether {
        run: CheckRun,
        with: Vec<TicketId>,
    },
    ResolverFailed {
        resolver: TicketId,
    },
    PartsMerged {
        parts: Vec<TicketId>,
    },
    Person {
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    FailedInARow {
        tickets: Vec<TicketId>,
    },
}
