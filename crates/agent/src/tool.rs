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

/// MCP's hints. Those of our own tools are true. Those of a server narrow: a tool without
/// `readOnlyHint` is hidden in plan mode, and one with it still asks, unless the user trusts the
/// server's hints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    pub read_only_hint: bool,
    pub destructive_hint: bool,
    pub idempotent_hint: bool,
    pub open_world_hint: bool,
    /// True if a server gives these hints and the user does not trust them.
    #[serde(skip)]
    pub is_claimed: bool,
}

impl Annotations {
    /// The protocol's defaults: an unknown tool may do anything.
    pub const WORST: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: false,
        open_world_hint: true,
        is_claimed: true,
    };

    pub const READ_ONLY: Self = Self {
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
        is_claimed: false,
    };

    /// True if the tool only reads, as far as we or the user know. A server's word is not enough.
    pub fn is_known_to_read(self) -> bool {
        self.read_only_hint && !self.is_claimed
    }
}
