//! What a reviewer hands in with the tool `submit_review`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::WORD_BYTES;
use crate::scope::leaves_root;
use crate::submission::{count, long, present, shown};

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

impl Review {
    /// The first rule that it breaks and that its schema does not express, as a sentence for the reviewer.
    pub fn problem(&self) -> Option<String> {
        let bad = long("summary", &self.summary).or_else(|| count("findings", self.findings.len()));
        bad.or_else(|| self.findings.iter().find_map(malformed)).or_else(|| self.contradiction())
    }

    fn contradiction(&self) -> Option<String> {
        let worst = self.findings.iter().map(|it| it.severity).max();
        match (self.verdict, worst) {
            (ReviewVerdict::Pass, Some(FindingSeverity::Major | FindingSeverity::Critical)) => Some(
                "The verdict is \"pass\", but a finding is major or critical: use \"rework\", or lower its \
                 severity."
                    .to_owned(),
            ),
            (ReviewVerdict::Pass, _) => None,
            (ReviewVerdict::Rework | ReviewVerdict::Block, None) => {
                Some("Name at least one finding, or use the verdict \"pass\".".to_owned())
            }
            (ReviewVerdict::Rework, Some(FindingSeverity::Minor)) => Some(
                "Every finding is minor, and minor findings keep nothing from being merged: use the verdict \
                 \"pass\", or raise a severity."
                    .to_owned(),
            ),
            (ReviewVerdict::Rework | ReviewVerdict::Block, Some(_)) => None,
        }
    }
}

/// Says what is wrong with a finding.
fn malformed(finding: &Finding) -> Option<String> {
    let path = &finding.path;
    if path.trim().is_empty() || path.len() > WORD_BYTES || leaves_root(path) {
        return Some(format!(
            "{:?} is not the path of a finding: write it relative to the project's root.",
            shown(path)
        ));
    }
    if finding.line == 0 {
        return Some(format!("The finding in {:?} has the line 0; lines count from 1.", shown(path)));
    }
    present("findings", &finding.scenario)
}

#[cfg(test)]
mod tests;
