//! The data of a test run: cells, what they cost, and their summary.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::{Cap, Estimate};
use crate::compare::{Comparison, ComparisonVerdict};
use crate::score::{CellScore, Count};
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
    /// A cell that has not begun.
    pub fn waiting(input: impl Into<String>, column: impl Into<String>, sample: u32) -> Self {
        Self {
            input: input.into(),
            column: column.into(),
            sample,
            state: CellState::Waiting,
            reply: None,
            expectations: Vec::new(),
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
        self.state = crate::cell_state(&expectations, pass);
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
    /// True if the model judged a reply of its own: advisory.
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
fn is_false(value: &bool) -> bool {
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

/// Calls and tokens of models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Spent {
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Absent if a model has no known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Spent {
    pub const fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cost = match (self.cost, other.cost) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
    }
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RunState {
    Running,
    Finished,
    /// The budget ended before every cell had its verdicts.
    Unfinished,
    Cancelled,
}

/// A test of a persona, or a comparison of two of its versions: cells and their summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestReport {
    pub id: String,
    pub persona: String,
    pub state: RunState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Cap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The score from which a cell passes.
    pub pass: f64,
    pub estimate: Estimate,
    pub spent: Spent,
    /// The versions of the persona: one, or A and B.
    pub columns: Vec<Column>,
    pub cells: Vec<Cell>,
    /// B against A. Absent for a test of one version, and until all cells have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    pub started_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// One version of the persona.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Column {
    /// `now`, a revision or a tag.
    pub column: String,
    pub revision: i64,
    /// The hash of everything that the replies depend on.
    pub subject: String,
    /// Hashes of the persona and its pieces: `part:calm-tone` → 9f86d081.
    pub pieces: BTreeMap<String, String>,
    /// The pieces that changed since, or the persona itself: the results are stale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    pub model: String,
    pub summary: Tally,
}

/// How a run ended, for fronts that have an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    Passed,
    /// A cell failed or has no verdict, or B regressed.
    Failed,
    /// Cells have not been run to their end.
    Unfinished,
}

impl TestReport {
    /// Counts the cells again.
    pub fn tally(&mut self) {
        for column in &mut self.columns {
            column.summary = Tally::of(self.cells.iter().filter(|cell| cell.column == column.column));
        }
    }

    pub fn outcome(&self) -> RunOutcome {
        let is_open = |cell: &Cell| {
            matches!(cell.state, CellState::Waiting | CellState::Running | CellState::Unfinished)
        };
        let is_bad =
            |cell: &Cell| matches!(cell.state, CellState::Failed | CellState::Unjudged | CellState::Error);
        let has_failed = match &self.comparison {
            Some(compared) => compared.verdict == ComparisonVerdict::Regressed,
            // A comparison that has not come to its end says nothing.
            None => self.columns.len() == 1 && self.cells.iter().any(is_bad),
        };
        if self.cells.iter().any(is_open) {
            RunOutcome::Unfinished
        } else if has_failed {
            RunOutcome::Failed
        } else {
            RunOutcome::Passed
        }
    }
}

/// Cells by their states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Counts {
    pub waiting: usize,
    pub running: usize,
    pub passed: usize,
    pub failed: usize,
    pub unjudged: usize,
    pub error: usize,
    pub unfinished: usize,
}

impl Counts {
    fn add(&mut self, state: CellState) {
        *match state {
            CellState::Waiting => &mut self.waiting,
            CellState::Running => &mut self.running,
            CellState::Passed => &mut self.passed,
            CellState::Failed => &mut self.failed,
            CellState::Unjudged => &mut self.unjudged,
            CellState::Error => &mut self.error,
            CellState::Unfinished => &mut self.unfinished,
        } += 1;
    }
}

/// The summary of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Tally {
    pub cells: Counts,
    /// The mean over inputs of the mean over samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The mean coverage of the cells.
    pub coverage: f64,
    pub inputs: Vec<InputReport>,
    /// Questions to the judge whose votes differ, of all with several votes.
    pub split_votes: Count,
    /// True if the judge is the model that it judges: advisory.
    #[serde(default)]
    pub self_judged: bool,
}

/// The samples of one input together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InputReport {
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub cells: Counts,
    pub expectations: Vec<ExpectationCount>,
}

/// One expectation over the samples of its input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExpectationCount {
    pub name: String,
    pub check: String,
    /// Samples in which it held, of those in which it was decided.
    pub held: Count,
    pub unjudged: usize,
    pub untested: usize,
    #[serde(default, skip_serializing_if = "is_false")]
    pub must: bool,
}

impl Tally {
    pub fn of<'c>(cells: impl Iterator<Item = &'c Cell>) -> Self {
        let cells: Vec<&Cell> = cells.collect();
        let mut tally = Self::default();
        let mut order: Vec<&str> = Vec::new();
        for cell in &cells {
            tally.cells.add(cell.state);
            if !order.contains(&cell.input.as_str()) {
                order.push(&cell.input);
            }
            for result in &cell.expectations {
                tally.self_judged |= result.self_judged;
                if let Some(votes) = result.votes
                    && votes.held + votes.broken + votes.not_shown + votes.unjudged > 1
                {
                    tally.split_votes.add(votes.is_split());
                }
            }
        }
        let of_input =
            |input: &str| InputReport::of(input, cells.iter().copied().filter(|cell| cell.input == input));
        tally.inputs = order.into_iter().map(of_input).collect();
        tally.score = mean(tally.inputs.iter().filter_map(|input| input.score));
        let begun = cells.iter().filter(|cell| !cell.expectations.is_empty());
        tally.coverage = mean(begun.map(|cell| cell.coverage)).unwrap_or(0.0);
        tally
    }
}

impl InputReport {
    fn of<'c>(input: &str, cells: impl Iterator<Item = &'c Cell> + Clone) -> Self {
        let mut report = Self { input: input.to_owned(), ..Self::default() };
        report.score = mean(cells.clone().filter_map(|cell| cell.score));
        for cell in cells {
            report.cells.add(cell.state);
            for result in &cell.expectations {
                report.count(result);
            }
        }
        report
    }

    fn count(&mut self, result: &ExpectationResult) {
        let known = self.expectations.iter().position(|known| known.name == result.name);
        let at = known.unwrap_or_else(|| {
            self.expectations.push(ExpectationCount {
                name: result.name.clone(),
                check: result.check.clone(),
                must: result.must,
                ..ExpectationCount::default()
            });
            self.expectations.len() - 1
        });
        let count = &mut self.expectations[at];
        match result.holds() {
            Some(holds) => count.held.add(holds),
            None if result.untested => count.untested += 1,
            None => count.unjudged += 1,
        }
    }
}

pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
