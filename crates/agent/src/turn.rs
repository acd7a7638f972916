//! A conversation is a flat list of turns.

use chrono::{DateTime, Utc};
use llm::ProviderState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// One turn. Its JSON is what fronts show; the provider's state is kept beside it and never shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    #[serde(flatten)]
    pub body: TurnBody,
    #[serde(skip)]
    pub provider_state: Option<ProviderState>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TurnBody {
    User {
        content: String,
    },
    AssistantText {
        content: String,
    },
    ToolCall {
        /// The provider's name for the call, which the result repeats.
        tool_use_id: String,
        tool_name: String,
        input: Map<String, Value>,
        /// What was wrong with the arguments, where they could not be read; `input` is empty then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        malformed: Option<String>,
    },
    ToolResult {
        tool_use_id: String,
        output: String,
        #[serde(default, skip_serializing_if = "is_false")]
        is_error: bool,
    },
    /// Stands for all turns up to and including `through`, which stay readable.
    Summary {
        content: String,
        through: Uuid,
    },
}

/// The ids of calls that have no result, in the order of the calls. A result answers the first call of
/// its id that is still open: some providers use an id again.
pub fn open_calls(turns: &[Turn]) -> Vec<&str> {
    let mut open: Vec<&str> = Vec::new();
    for turn in turns {
        match &turn.body {
            TurnBody::ToolCall { tool_use_id, .. } => open.push(tool_use_id),
            TurnBody::ToolResult { tool_use_id, .. } => {
                if let Some(at) = open.iter().position(|id| id == tool_use_id) {
                    open.remove(at);
                }
            }
            TurnBody::User { .. } | TurnBody::AssistantText { .. } | TurnBody::Summary { .. } => {}
        }
    }
    open
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
pub(crate) mod tests;
