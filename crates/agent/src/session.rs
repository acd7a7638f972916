//! A session: a persona, a mode, a root directory and what was said.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use llm::{ModelRef, ToolCall, Usage};
use persona::{Name, PartType, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::Mode;

/// A session without its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    pub id: Uuid,
    pub persona: Name,
    /// The scope in which the persona is looked up; absent: the strongest that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    pub mode: Mode,
    pub status: SessionStatus,
    /// Replaces the persona's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<PartType, Name>,
    /// The directory that file tools are confined to. Without one, the session has no file tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The session that delegated to this one, and the call by which it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call: Option<String>,
    /// The number of sessions above this one.
    #[serde(default)]
    pub depth: u32,
    /// The beginning of the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The model that answered last, and when it was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<ModelRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_since: Option<DateTime<Utc>>,
    /// Read in either spelling; a session is snake_case, the usage of an event camelCase.
    #[serde(default, serialize_with = "snake_case")]
    #[schemars(with = "SessionUsage")]
    pub usage: Usage,
    /// The place of the last entry of its log.
    #[serde(default)]
    pub last_seq: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// The tokens of a session, as fronts show them.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
}

fn snake_case<S: Serializer>(usage: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
    let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = *usage;
    SessionUsage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }.serialize(serializer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    Idle,
    Running,
    /// Waiting for an answer to an approval request, its own or a delegate's.
    Waiting,
}

/// A plan that `plan_exit` handed to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub content: String,
    pub status: PlanStatus,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    Proposed,
    Approved,
    SentBack,
}

/// A request to approve a call, and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    pub session: Uuid,
    #[serde(flatten, with = "ApprovalCall")]
    pub call: ToolCall,
    pub asked_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ApprovalAnswer>,
}

/// A call as requests spell it, in the database and on `/api`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "ToolCall")]
struct ApprovalCall {
    #[serde(rename = "call_id")]
    id: String,
    #[serde(rename = "tool_name")]
    name: String,
    input: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswer {
    pub approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The answer counts for the tool until the session ends.
    #[serde(default)]
    pub remember: bool,
    pub answered_at: DateTime<Utc>,
}
