//! Reasons why a call did not run to its end.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason that a tool result carries if the tool did not run to its end. Fronts look at this and
/// never at the result's text, which is for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The call needs approval, and there is no user to ask. On the successful result of a delegate:
    /// a call of its session was refused for this reason.
    NobodyToAsk,
    RejectedByUser,
    /// No tool of that name is offered.
    NotOffered,
    /// The tool can act, and the session plans.
    PlanMode,
    /// The arguments are not a JSON object.
    MalformedArguments,
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// The reply calls more tools than a reply may.
    TooManyCalls,
    /// The run ended with the reply that made the call: at a limit, in a loop, or refused.
    RunEnded,
    /// The run failed before the tool ran.
    RunFailed,
    /// The run was cancelled before the tool answered.
    Cancelled,
    /// The process stopped before the result was stored; the tool may have run in part.
    Interrupted,
}

impl Refusal {
    pub const ALL: &[Self] = &[
        Self::NobodyToAsk,
        Self::RejectedByUser,
        Self::NotOffered,
        Self::PlanMode,
        Self::MalformedArguments,
        Self::InvalidArguments,
        Self::TooManyCalls,
        Self::RunEnded,
        Self::RunFailed,
        Self::Cancelled,
        Self::Interrupted,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NobodyToAsk => "nobody to ask",
            Self::RejectedByUser => "rejected by the user",
            Self::NotOffered => "not offered",
            Self::PlanMode => "plan mode",
            Self::MalformedArguments => "malformed arguments",
            Self::InvalidArguments => "invalid arguments",
            Self::TooManyCalls => "too many calls",
            Self::RunEnded => "the run ended",
            Self::RunFailed => "the run failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        })
    }
}

/// A refusal and the text that tells the model about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub refusal: Refusal,
    pub message: String,
}

impl Refused {
    pub fn new(refusal: Refusal, message: impl Into<String>) -> Self {
        Self { refusal, message: message.into() }
    }
}
