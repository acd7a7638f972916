//! A tool without its handler.

use llm::Schema;
use serde::{Deserialize, Serialize};

/// The tool that hands a plan to the user. The run ends after the calls of the same reply.
pub const PLAN_EXIT: &str = "plan_exit";

/// A tool as models see it, and the hints that decide whether it may run.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    /// Its source: `files`, `shell`, `fetch`, `skills`, `delegate`, `plan`, `mcp` for all MCP servers, or
    /// the name of a further source.
    pub set: &'static str,
    pub description: String,
    pub input_schema: Schema,
    pub annotations: Annotations,
}

/// MCP's hints. Those of our own tools are true. A server's are believed for filtering, and never
/// allow more than a preset does.
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
