//! Scores of cells, and rates with their uncertainty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellState, ExpectationResult, Verdict};

/// A cell's score over the decided expectations, beside its coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellScore {
    /// From 0 to 1. `None` if nothing is decided.
    pub score: Option<f64>,
    /// The weight of the decided expectations among those that count.
    pub coverage: f64,
}

/// The weighted share of expectations that hold.
pub fn score(results: &[ExpectationResult]) -> CellScore {
    let (held, decided, counting) = weights(results);
    CellScore {
        score: (decided > 0.0).then(|| held / decided),
        coverage: if counting > 0.0 { decided / counting } else { 0.0 },
    }
}

/// The weights of held, of decided, and of all expectations that count.
fn weights(results: &[ExpectationResult]) -> (f64, f64, f64) {
    let mut sums = (0.0, 0.0, 0.0);
    for result in results.iter().filter(|result| !result.untested) {
        sums.2 += result.weight;
        if let Some(holds) = result.holds() {
            sums.1 += result.weight;
            sums.0 += if holds { result.weight } else { 0.0 };
        }
    }
    sums
}

/// The state of a cell with these results. One without a verdict never passes, and fails only if the
/// missing verdicts could not save it.
pub fn cell_state(results: &[ExpectationResult], pass: f64) -> CellState {
    if results.iter().any(|result| result.must && result.holds() == Some(false)) {
        return CellState::Failed;
    }
    let (held, decided, counting) = weights(results);
    let missing = counting - decided;
    let is_missing = results.iter().any(|result| result.verdict == Verdict::Unjudged);
    if counting <= 0.0 {
        return CellState::Unjudged;
    }
    // Sums of weights are not exact.
    let reaches = |held: f64, of: f64| of > 0.0 && held / of >= pass - 1e-9;
    if !reaches(held + missing, counting) {
        CellState::Failed
    } else if is_missing {
        CellState::Unjudged
    } else {
        CellState::Passed
    }
}

/// The state of a cell, and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    pub state: CellState,
    /// True if the state rests on advisory verdicts alone.
    pub advisory: bool,
}

/// The state of a cell with these results. Verdicts of a judge about its own model are advisory: they
/// neither fail a cell that passes without them nor save one that fails.
pub fn rule(results: &[ExpectationResult], pass: f64) -> Ruling {
    let state = cell_state(results, pass);
    let firm: Vec<ExpectationResult> = results.iter().filter(|result| !result.self_judged).cloned().collect();
    if firm.len() == results.len() {
        return Ruling { state, advisory: false };
    }
    if firm.iter().all(|result| result.untested) {
        return Ruling { state, advisory: true };
    }
    match cell_state(&firm, pass) {
        CellState::Passed => Ruling { state, advisory: state != CellState::Passed },
        firm => Ruling { state: firm, advisory: false },
    }
}

/// Successes among attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Count {
    pub of: u64,
    pub yes: u64,
}

impl Count {
    pub const fn new(yes: u64, of: u64) -> Self {
        Self { of, yes }
    }

    pub fn add(&mut self, yes: bool) {
        self.of += 1;
        self.yes += u64::from(yes);
    }

    pub fn rate(&self) -> Option<f64> {
        (self.of > 0).then(|| self.yes as f64 / self.of as f64)
    }
}

/// Wilson's interval of 95 % for a rate.
pub fn wilson(count: Count) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let Some(rate) = count.rate() else { return (0.0, 1.0) };
    let of = count.of as f64;
    let z2 = Z * Z;
    let middle = (rate + z2 / (2.0 * of)) / (1.0 + z2 / of);
    let half = Z / (1.0 + z2 / of) * (rate * (1.0 - rate) / of + z2 / (4.0 * of * of)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests;
