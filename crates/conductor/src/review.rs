//! What a reviewer hands in with the tool `submit_review`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of one round of review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Review {
    pub verdict: ReviewVerdict,
    /// One or two sentences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Required unless the result passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ReviewVerdict {
    /// The result may be merged.
    Pass,
    /// The worker has to mend the findings.
    Rework,
    /// The approach is wrong: another worker has to start afresh.
    Block,
}

/// One mistake that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Finding {
    /// The file, relative to the repository's root.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// What happens, with which input or in which order.
    pub scenario: String,
    pub severity: FindingSeverity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum FindingSeverity {
    /// Nice to have. Keeps nothing from being merged.
    Minor,
    /// Wrong in a case that will occur.
    Major,
    /// Loses data, opens a hole, or breaks what worked.
    Critical,
}
