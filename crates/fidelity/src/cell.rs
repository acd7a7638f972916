//! Cells: one sample of one input in one version of the persona, with its verdicts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::score::{CellScore, Ruling};
use crate::{Expectation, Finding, Verdict};

/// The state of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CellState {
    Waiting,
    Running,
    Passed,
    Failed,
    /// An expectation that decides the matter has no verdict.
    Unjudged,
    /// The persona or the judge could not answer.
    Error,
    /// The budget ended, or the run was cancelled.
    Unfinished,
}

impl CellState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unjudged => "unjudged",
            Self::Error => "error",
            Self::Unfinished => "unfinished",
        }
    }

    /// True before the cell has run to its end.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Running | Self::Unfinished)
    }
}

/// One sample of one input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    pub input: String,
    /// The subject: `now`, a revision or a tag.
    pub column: String,
    /// From 0.
    pub sample: u32,
    pub state: CellState,
    /// The persona's last reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    pub expectations: Vec<ExpectationResult>,
    /// True if the state rests on verdicts about the judge's own model alone: it does not gate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub advisory: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The weight of the decided expectations, from 0 to 1.
    pub coverage: f64,
    /// Tokens of this run's own calls.
    pub tokens: u64,
    pub ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// True if the reply is of an earlier run.
    pub cached: bool,
    /// The reason for `error` and `unfinished`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Cell {
    /// True if the cell failed or has no verdict, and that counts: verdicts of a judge about itself do not.
    pub fn gates(&self) -> bool {
        let is_bad = matches!(self.state, CellState::Failed | CellState::Unjudged | CellState::Error);
        is_bad && !self.advisory
    }

    /// A cell that has not begun.
    pub fn waiting(input: impl Into<String>, column: impl Into<String>, sample: u32) -> Self {
        Self {
            input: input.into(),
            column: column.into(),
            sample,
            state: CellState::Waiting,
            reply: None,
            expectations: Vec::new(),
            advisory: false,
            score: None,
            coverage: 0.0,
            tokens: 0,
            ms: 0,
            cost: None,
            cached: false,
            error: None,
        }
    }

    /// Takes the score of the expectations.
    pub fn decide(&mut self, expectations: Vec<ExpectationResult>, pass: f64) {
        let CellScore { score, coverage } = crate::score(&expectations);
        let Ruling { state, advisory } = crate::rule(&expectations, pass);
        (self.state, self.advisory) = (state, advisory);
        (self.score, self.coverage) = (score, coverage);
        self.expectations = expectations;
    }
}

/// The outcome of one expectation in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectationResult {
    pub name: String,
    /// The key of the check: `holds`, `words`, …
    pub check: String,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub must: bool,
    /// True if the reply gave no occasion, and the expectation allows that: it does not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub untested: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aspect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<Votes>,
    /// True if the model judged a reply of its own: the verdict is advisory.
    #[serde(default, skip_serializing_if = "is_false")]
    pub self_judged: bool,
}

fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

impl ExpectationResult {
    pub fn new(expectation: &Expectation, finding: Finding, votes: Option<Votes>) -> Self {
        let Finding { verdict, evidence, reason } = finding;
        Self {
            name: expectation.name.clone(),
            check: expectation.check.key().to_owned(),
            verdict,
            evidence,
            reason,
            weight: expectation.weight,
            must: expectation.must,
            untested: verdict == Verdict::NotShown && !expectation.must_show,
            aspect: expectation.aspect.clone(),
            piece: expectation.piece.clone(),
            votes,
            self_judged: false,
        }
    }

    /// True if it holds, false if it is broken, `None` if it does not count.
    pub fn holds(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Held => Some(true),
            Verdict::Broken => Some(false),
            Verdict::NotShown => (!self.untested).then_some(false),
            Verdict::Unjudged => None,
        }
    }
}

/// How the votes of a judge were cast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Votes {
    pub held: u32,
    pub broken: u32,
    pub not_shown: u32,
    pub unjudged: u32,
}

impl Votes {
    pub fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Held => &mut self.held,
            Verdict::Broken => &mut self.broken,
            Verdict::NotShown => &mut self.not_shown,
            Verdict::Unjudged => &mut self.unjudged,
        } += 1;
    }

    pub const fn of(&self, verdict: Verdict) -> u32 {
        match verdict {
            Verdict::Held => self.held,
            Verdict::Broken => self.broken,
            Verdict::NotShown => self.not_shown,
            Verdict::Unjudged => self.unjudged,
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.held += other.held;
        self.broken += other.broken;
        self.not_shown += other.not_shown;
        self.unjudged += other.unjudged;
    }

    /// True if the votes differ.
    pub fn is_split(&self) -> bool {
        [self.held, self.broken, self.not_shown, self.unjudged].iter().filter(|count| **count > 0).count() > 1
    }
}
