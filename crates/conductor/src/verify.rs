//! Verification: facts from git and from the conductor's own check, against what the worker claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod claims;

mod facts;
pub use facts::{Facts, GitFacts, RanCommand, TestFacts};

mod judge;
pub use judge::judge;

/// One run of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRun {
    pub command: String,
    /// Absent if the command did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default)]
    pub timed_out: bool,
    /// The end of what it printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    #[serde(default)]
    pub seconds: u64,
}

impl CheckRun {
    pub fn is_green(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }
}

/// What verification says about a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    pub ruling: Ruling,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Ruling {
    Accepted,
    Rejected,
    /// No check is configured, so a person has to approve.
    Unverified,
}

/// One thing that is wrong with a submission, or that a reviewer should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "objection", rename_all = "snake_case")]
pub enum Objection {
    /// The head does not descend from the base.
    NotDescended {
        base: String,
        head: String,
    },
    /// Files that are not committed.
    DirtyTree {
        paths: Vec<String>,
    },
    /// The worker says that it is done, and nothing changed.
    NothingChanged,
    /// The worker says that nothing had to be changed, and something did.
    ChangedAnyway {
        paths: Vec<String>,
    },
    OutOfScope {
        paths: Vec<String>,
        scope: Vec<String>,
    },
    RedCheck {
        run: CheckRun,
    },
    /// The check passes only with the worker's changes to the tests.
    RedWithBaseTests {
        run: CheckRun,
        /// The test files that differ from the base.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tests: Vec<String>,
        #[serde(default)]
        declared: bool,
    },
    /// Tests that are gone.
    TestsDeleted {
        tests: Vec<String>,
        declared: bool,
    },
    /// Tests that no longer run.
    TestsSkipped {
        tests: Vec<String>,
        declared: bool,
    },
    FewerTests {
        base: u64,
        head: u64,
        declared: bool,
    },
    /// A command that the report names and the transcript does not have, or one that failed.
    ClaimNotRun {
        command: String,
    },
    /// The report says that tests pass, and none was run.
    PassClaimedWithoutRun {
        claim: String,
    },
    CriterionNotMet {
        criterion: String,
    },
    /// The report says nothing about a criterion.
    CriterionMissing {
        criterion: String,
    },
    /// A criterion is said to be met without a proof.
    NoProof {
        criterion: String,
    },
    /// A place in the report that the code does not have.
    NoSuchPlace {
        place: String,
    },
}

impl Objection {
    /// True if a submission with it is rejected. The others are for the reviewer to look at.
    pub fn rejects(&self) -> bool {
        !matches!(
            self,
            Self::RedWithBaseTests { declared: true, .. }
                | Self::TestsDeleted { declared: true, .. }
                | Self::TestsSkipped { declared: true, .. }
                | Self::FewerTests { declared: true, .. }
        )
    }

    /// True if the report says something that did not happen. Such a worker gets no second chance.
    pub fn is_false_claim(&self) -> bool {
        matches!(self, Self::PassClaimedWithoutRun { .. } | Self::ClaimNotRun { .. })
    }
}
