//! What a worker hands in with the tool `submit_work`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of an attempt, as the worker tells it. Verification distrusts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Submission {
    pub outcome: Outcome,
    /// What was done, in a few sentences.
    pub summary: String,
    /// One entry for each acceptance criterion of the ticket, in its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionReport>,
    /// Commands that you ran as proof, exactly as you ran them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Decisions that were not obvious, each with what was rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Every test that was changed, deleted or skipped, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_changes: Vec<TestChange>,
    /// Work that is needed but not part of this ticket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_scope: Vec<DraftTicket>,
    /// What nobody has answered yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
}

/// How an attempt ended, as the worker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Outcome {
    /// Every criterion is met.
    Done,
    /// Nothing has to be changed: the criteria are met already.
    NoChange,
    /// The work cannot go on without a person.
    Blocked,
    /// Some criteria are met, the rest is left.
    Partial,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct CriterionReport {
    /// The criterion, in the ticket's words.
    pub criterion: String,
    pub status: CriterionStatus,
    /// What proves it. Required if the criterion is met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Proof>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CriterionStatus {
    Met,
    NotMet,
    Unknown,
}

/// What proves a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// A command that was run, and succeeded.
    Check { command: String },
    /// The name of a test that passes.
    Test { name: String },
    /// A place in the code, as `path:line`.
    Place { place: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Decision {
    pub decision: String,
    /// What was considered and rejected, and why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rejected: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct TestChange {
    /// The test's name, or the path of its file.
    pub test: String,
    pub why: String,
}

/// Work that a worker found and did not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct DraftTicket {
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}
