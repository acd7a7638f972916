//! A conversation is a flat list of turns.

use chrono::{DateTime, Utc};
use llm::{ProviderState, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Refusal, Refused};

/// One turn. Fronts show its JSON; the provider's state is stored beside it and never shown.
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
        #[serde(flatten)]
        call: ToolCall,
        /// The error in arguments that could not be read. The input is empty then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        malformed: Option<String>,
    },
    ToolResult {
        tool_use_id: String,
        output: String,
        #[serde(default, skip_serializing_if = "is_false")]
        is_error: bool,
        /// Why the tool did not run to its end. Absent in logs of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Refusal>,
    },
    /// Replaces all turns up to and including `through`, which stay readable.
    Summary {
        content: String,
        through: Uuid,
    },
}

impl TurnBody {
    /// The result of a call that was not run.
    pub fn refused(tool_use_id: impl Into<String>, Refused { refusal, message }: Refused) -> Self {
        let tool_use_id = tool_use_id.into();
        Self::ToolResult { tool_use_id, output: message, is_error: true, refusal: Some(refusal) }
    }
}

/// The ids of calls without a result, in the order of the calls. A result answers the first open call
/// of its id: some providers use an id again.
pub fn open_calls(turns: &[Turn]) -> Vec<&str> {
    let mut open: Vec<&str> = Vec::new();
    for turn in turns {
        match &turn.body {
            TurnBody::ToolCall { call, .. } => open.push(&call.id),
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
