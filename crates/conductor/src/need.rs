//! What a person is needed for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Account, CapUnit, Model, StepKind};

/// What a ticket waits for, if it waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "need", rename_all = "snake_case")]
pub enum Need {
    /// An answer to the worker.
    Answer { question: String },
    /// The approval of a result.
    Approval { why: ApprovalReason },
    /// The approval of the ticket itself, which a model planned.
    Plan,
    /// The approval of the next step.
    Step { step: StepKind },
    /// More room under a cap, or an end.
    Cap { account: Account, unit: CapUnit },
    /// A price for a model, or no cap in money.
    Price { model: Model },
    /// The worker says that it cannot go on.
    Unblock { reason: String },
    /// A setup that works.
    Setup { message: String },
    /// A base on which the check is green.
    Baseline { command: String },
    /// All ways were tried: another model, another persona, another ticket, or an end.
    Decision,
}

/// Why nobody but a person can approve a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ApprovalReason {
    /// No check is configured.
    Unverified,
    /// The worker says that nothing had to be changed, and reviews are off.
    NoChange,
    /// No reviewer came to a verdict.
    NoReview,
}
