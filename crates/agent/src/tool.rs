//! What is known of a tool besides how it runs.

use llm::Schema;
use serde::{Deserialize, Serialize};

/// The tool that hands a plan to the user. A run whose reply did so ends with that reply's calls.
pub const PLAN_EXIT: &str = "plan_exit";

/// A tool: what the model is told of it, and what decides whether it may run.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    /// The set that it comes from: `files`, `shell`, `fetch`, `skills`, `delegate`, `plan`, or
    /// `mcp` for all tools of MCP servers.
    pub set: &'static str,
    pub description: String,
    pub input_schema: Schema,
    pub annotations: Annotations,
}

/// MCP's hints. What a tool of our own says of itself is true; a server's are taken at their word
/// for filtering, and never allow more than a preset does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    pub read_only_hint: bool,
    pub destructive_hint: bool,
    pub idempotent_hint: bool,
    pub open_world_hint: bool,
}

impl Annotations {
    pub const READ_ONLY: Self =
        Self { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
}
