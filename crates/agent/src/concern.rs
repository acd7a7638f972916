//! Reasons to ask about a call whatever else was decided.

use schemars::JsonSchema;
use serde::Serialize;

/// A reason to ask the user about one call: no preset, no remembered answer and no policy allows it. Each
/// has the path that it is about, relative to the session's root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    /// The call writes a file that decides what Masque or git does later.
    Protected(String),
    /// The call reads a file that usually holds secrets.
    Secret(String),
}
