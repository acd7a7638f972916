//! Signs that a worker is stuck, found in its actions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sign that a worker is stuck, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum Signal {
    /// The same action had the same result so many times in a row.
    SameAction {
        tool: String,
        times: u32,
    },
    /// Two actions took turns, with the same results.
    BackAndForth {
        tools: [String; 2],
        times: u32,
    },
    ErrorsInARow {
        tool: String,
        times: u32,
    },
    /// So many tokens were spent since the tree last changed.
    NoProgress {
        tokens: u64,
    },
    /// The same check failed in the same way so many times.
    SameCheckFails {
        command: String,
        times: u32,
    },
    /// No event for so long, and no child process lives.
    Silent {
        seconds: u64,
    },
}
