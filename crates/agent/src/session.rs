//! A session: a persona, a mode, a root directory and what was said.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use llm::{ModelRef, ToolCall, Usage};
use persona::{Name, PartType, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{Mode, content_hash};

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
    /// The persona that the session edits. Its tools are then those of the editor, and no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Name>,
    /// The part of a ticket's work that the session does. It has the tools to hand its result in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duty: Option<Duty>,
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
    /// The cost of its calls of models that had a price, in the currency of the prices.
    #[serde(default)]
    pub cost: f64,
    /// Its calls of models that had no price. Their cost is unknown.
    #[serde(default)]
    pub unpriced_calls: u64,
    /// The place of the last entry of its log.
    #[serde(default)]
    pub last_seq: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A part of the work on a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Duty {
    pub track: Uuid,
    /// Absent: the track as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    pub role: DutyRole,
    /// Files that the session sees in full, besides those of its context preset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// In place of the persona's own context preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_preset: Option<Name>,
    /// The command that proves the ticket. The session may run it with a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

impl Duty {
    /// A part of the work on a track as a whole.
    pub fn of_track(track: Uuid, role: DutyRole) -> Self {
        Self { track, ticket: None, role, files: Vec::new(), context_preset: None, check: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DutyRole {
    /// Does the ticket.
    Work,
    /// Judges a change.
    Review,
    /// Breaks a ticket down.
    Split,
    /// Writes a track.
    Draft,
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
#[serde(into = "ShownPlan")]
pub struct Plan {
    pub content: String,
    pub status: PlanStatus,
    pub created_at: DateTime<Utc>,
}

/// A plan as fronts show it, with the hash by which it is approved.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Plan")]
struct ShownPlan {
    content: String,
    /// Names this text of the plan. An approval repeats it.
    hash: String,
    status: PlanStatus,
    created_at: DateTime<Utc>,
}

impl From<Plan> for ShownPlan {
    fn from(plan: Plan) -> Self {
        let hash = plan.hash();
        let Plan { content, status, created_at } = plan;
        Self { content, hash, status, created_at }
    }
}

/// The reason why a plan is not approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanRefusal {
    /// The user decided about it before.
    Decided(PlanStatus),
    /// It is not the plan that the user saw.
    Changed,
}

impl Plan {
    /// Characters of a hash that are enough to name a plan.
    const LEAST_HASH: usize = 8;

    /// The hash of its text.
    pub fn hash(&self) -> String {
        content_hash(&self.content)
    }

    /// Checks an approval of the plan with this hash, or the beginning of one. Only a plan that is proposed,
    /// and that is the one the user saw, can be approved.
    pub fn check_approval(&self, seen: &str) -> Result<(), PlanRefusal> {
        if self.status != PlanStatus::Proposed {
            return Err(PlanRefusal::Decided(self.status));
        }
        let digits = |hash: &str| hash.trim().trim_start_matches("sha256:").to_ascii_lowercase();
        let seen = digits(seen);
        match seen.len() >= Self::LEAST_HASH && digits(&self.hash()).starts_with(&seen) {
            true => Ok(()),
            false => Err(PlanRefusal::Changed),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(content: &str, status: PlanStatus) -> Plan {
        Plan { content: content.to_owned(), status, created_at: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn an_approval_names_the_plan() {
        let proposed = plan("1. Look.", PlanStatus::Proposed);
        let (hash, other) = (proposed.hash(), plan("1. Leap.", PlanStatus::Proposed).hash());
        assert_eq!(proposed.check_approval(&hash), Ok(()));
        assert_eq!(proposed.check_approval(&hash[..7 + 8]), Ok(()), "the beginning is enough");
        assert_eq!(proposed.check_approval(&hash["sha256:".len()..]), Ok(()));
        for wrong in [other.as_str(), "", "sha256:", &hash[..7 + 7]] {
            assert_eq!(proposed.check_approval(wrong), Err(PlanRefusal::Changed), "{wrong:?}");
        }
        for status in [PlanStatus::Approved, PlanStatus::SentBack] {
            assert_eq!(plan("1. Look.", status).check_approval(&hash), Err(PlanRefusal::Decided(status)));
        }
    }

    #[test]
    fn a_plan_is_shown_with_its_hash_and_read_without_it() {
        let proposed = plan("1. Look.", PlanStatus::Proposed);
        let mut shown = serde_json::to_value(&proposed).expect("JSON");
        assert_eq!(shown["hash"], proposed.hash());
        shown.as_object_mut().expect("an object").remove("hash");
        assert_eq!(serde_json::from_value::<Plan>(shown).expect("a plan"), proposed);
    }
}
