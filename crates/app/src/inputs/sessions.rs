//! Inputs of the operations on sessions.

use agent::{Mode, limits};
use llm::ModelRef;
use persona::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use crate::running::{ApprovalPolicy, Decision, SendOptions};
use crate::{Result, ValueError};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BySession {
    pub id: Uuid,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListModels {}

/// A persona, as the editor's page names it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ByPersonaId {
    /// The persona's name
    pub persona_id: Name,
}

/// A message to the editing agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EditorMessage {
    /// The name of the persona to edit
    pub persona_id: Name,
    pub message: String,
    /// Only propose changes, for editor_proposal to show and apply_editor_proposal to apply
    #[serde(default)]
    pub plan: bool,
}

/// A proposal of the editing agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ApplyProposal {
    /// The persona's name
    pub persona_id: Name,
    /// The id of the proposal, or of the question, that the user saw; default: the current proposal
    #[serde(default)]
    pub proposal_id: Option<Uuid>,
}

/// A proposal or a question of the editing agent that the user does not want.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DismissProposal {
    /// The persona's name
    pub persona_id: Name,
    /// The id of the proposal or the question
    pub proposal_id: Uuid,
}

/// Changes the persona, the model or both; the session must be idle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateSession {
    pub id: Uuid,
    /// Continues the session; overrides are dropped
    #[serde(default)]
    pub persona: Option<Name>,
    /// `provider/model`; null leaves the choice to the persona
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<ModelRef>")]
    pub model: Option<Option<ModelRef>>,
}

/// Tells null from absent.
fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<ModelRef>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSessionMode {
    pub id: Uuid,
    /// plan or build
    pub mode: String,
}

impl SetSessionMode {
    pub fn mode(&self) -> Result<Mode> {
        Ok(self.mode.parse().map_err(ValueError::Mode)?)
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    pub id: Uuid,
    pub content: String,
    /// Continue when no viewer is left
    #[serde(default)]
    pub detached: bool,
    /// Replies of this run that may call tools, from 1 to 1,000; default: the persona's limit
    #[serde(default)]
    pub max_tool_rounds: Option<u32>,
    /// Decides calls that need permission; default: viewers are asked
    #[serde(default)]
    pub approve: Option<Approve>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Approve {
    /// Wait for an answer, even if no viewer is left.
    Ask,
    /// Allow calls that only read, refuse others.
    Read,
    /// Allow every call.
    All,
}

impl SendMessage {
    pub fn options(&self) -> Result<SendOptions> {
        if let Some(rounds) = self.max_tool_rounds
            && !(1..=limits::MOST_TOOL_ROUNDS).contains(&rounds)
        {
            let (low, high, value) = (1, limits::MOST_TOOL_ROUNDS as usize, rounds as usize);
            return Err(ValueError::OutOfRange { field: "max_tool_rounds", low, high, value }.into());
        }
        let policy = match self.approve {
            None => ApprovalPolicy::AskViewer,
            Some(Approve::Ask) => ApprovalPolicy::Ask,
            Some(Approve::Read) => ApprovalPolicy::Read,
            Some(Approve::All) => ApprovalPolicy::All,
        };
        Ok(SendOptions { policy, detached: self.detached, max_tool_rounds: self.max_tool_rounds })
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchSession {
    pub id: Uuid,
    /// The id of the last event seen, such as 12 or 12.3; default: only new events
    #[serde(default)]
    pub after: Option<String>,
}

/// Answers a call that needs permission. `"approve": true` and `"reject": true` are other spellings
/// of `decision`; exactly one of the three is given.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideCall {
    pub id: Uuid,
    pub call_id: String,
    #[serde(default)]
    pub decision: Option<DecisionWord>,
    #[serde(default)]
    pub approve: Option<bool>,
    #[serde(default)]
    pub reject: Option<bool>,
    /// Told to the model if the call is rejected
    #[serde(default)]
    pub reason: Option<String>,
    /// Applies to this tool until the session ends
    #[serde(default)]
    pub remember: bool,
}

/// A call of a session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByCall {
    pub id: Uuid,
    pub call_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum DecisionWord {
    Approve,
    Reject,
}

impl DecideCall {
    /// Fails unless exactly one spelling of the decision is given.
    pub fn decision(&self) -> Result<Decision> {
        let decision = self.decision.map(|verdict| verdict == DecisionWord::Approve);
        let given: Vec<bool> =
            [decision, self.approve, self.reject.map(|reject| !reject)].into_iter().flatten().collect();
        match given[..] {
            [approved] => Ok(Decision { approved, reason: self.reason.clone(), remember: self.remember }),
            [] => Err(ValueError::NoneGiven { fields: &["decision", "approve", "reject"] }.into()),
            _ => Err(ValueError::SeveralGiven { fields: &["decision", "approve", "reject"] }.into()),
        }
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecidePlan {
    pub id: Uuid,
    pub decision: PlanVerdict,
    /// The `hash` of the plan that is approved, or its first 8 or more digits
    #[serde(default)]
    pub hash: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PlanVerdict {
    Approve,
    SendBack,
}

#[cfg(test)]
mod tests;
