//! The data of a test run: its versions, its cells, and what they cost.

use std::collections::BTreeMap;

use persona::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::{Cap, Estimate};
use crate::compare::Comparison;
use crate::lift::Lift;
use crate::{Cell, CellState, NO_PERSONA, Tally};

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

    pub(crate) fn subtract(&mut self, other: Self) {
        self.calls = self.calls.saturating_sub(other.calls);
        self.input_tokens = self.input_tokens.saturating_sub(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_sub(other.output_tokens);
        // Sums of fractions are not exact: nothing under way costs nothing.
        self.cost = match (self.cost, other.cost) {
            _ if self.calls == 0 => None,
            (Some(one), Some(other)) => Some((one - other).max(0.0)),
            (one, _) => one,
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
    /// The scope that the caller named. Absent: the strongest one that has the persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
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
    /// The same inputs without the persona. Its cells are among the others, in the column `no persona`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// The persona against the baseline. Absent until all cells have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<Lift>,
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
    /// Versions of the persona, its pieces and the test inputs: `part:calm-tone` → revision 3, 9f86d081.
    pub pieces: BTreeMap<String, Piece>,
    /// What changed since, of these: the results are stale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    pub model: String,
    pub summary: Tally,
}

/// The version of a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Piece {
    /// Absent if no history has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    /// The beginning of the hash of its definition.
    pub hash: String,
}

/// The model without the persona: the same tools and settings, no system text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Baseline {
    /// The column of its cells: `no persona`.
    pub column: String,
    pub subject: String,
    pub model: String,
    pub summary: Tally,
}

/// How a run ended, for fronts that have an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    Passed,
    /// A cell failed or has no verdict, or B regressed. Advisory verdicts do not count.
    Failed,
    /// Cells have not been run to their end.
    Unfinished,
}

impl TestReport {
    /// The cells of a column.
    pub fn of_column<'a>(&'a self, column: &'a str) -> impl Iterator<Item = &'a Cell> + Clone {
        self.cells.iter().filter(move |cell| cell.column == column)
    }

    /// Counts the cells again.
    pub fn tally(&mut self) {
        for column in &mut self.columns {
            column.summary = Tally::of(self.cells.iter().filter(|cell| cell.column == column.column));
        }
        if let Some(baseline) = &mut self.baseline {
            baseline.summary = Tally::of(self.cells.iter().filter(|cell| cell.column == baseline.column));
        }
    }

    pub fn outcome(&self) -> RunOutcome {
        if self.cells.iter().any(|cell| cell.state.is_open()) {
            RunOutcome::Unfinished
        } else if self.has_failed() {
            RunOutcome::Failed
        } else {
            RunOutcome::Passed
        }
    }

    fn has_failed(&self) -> bool {
        // Without a reply there is nothing to compare, with the baseline neither.
        if self.cells.iter().any(|cell| cell.state == CellState::Error) {
            return true;
        }
        let mut versions = self.cells.iter().filter(|cell| cell.column != NO_PERSONA && cell.gates());
        match &self.comparison {
            Some(compared) => compared.is_failure() || versions.any(|cell| cell.score.is_none()),
            // A comparison that has not come to its end says nothing.
            None => self.columns.len() == 1 && versions.next().is_some(),
        }
    }
}
