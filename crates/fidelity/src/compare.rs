//! Comparing two versions of a persona, input by input.
//!
//! Samples of one input are alike, so an input counts once: its difference is the mean of B minus the mean
//! of A. A simulation in the tests shows why: 8 inputs with 3 samples each, and nothing changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::is_false;
use crate::limits::LEAST_INPUTS;
use crate::score::Count;
use crate::statistics::{fisher, holm, moments, sign_test, t_interval, t_lower_bound};
use crate::tally::{coverage, mean};
use crate::{Cell, wilson};

/// A difference that matters.
pub const MARGIN: f64 = 0.05;
const SIGNIFICANT: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ComparisonVerdict {
    Regressed,
    Improved,
    NoWorse,
    CannotTell,
}

impl ComparisonVerdict {
    pub const fn spoken(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::NoWorse => "no worse",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// The difference between two versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Comparison {
    pub verdict: ComparisonVerdict,
    /// The reason for the verdict, in a sentence.
    pub reason: String,
    /// True if B regressed by advisory verdicts alone, of a judge about its own model: it does not gate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub advisory: bool,
    /// The mean of the inputs' differences, B minus A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// The interval of 95 % for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The number of inputs with a score on both sides.
    pub compared: usize,
    /// Inputs that it would take to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_needed: Option<usize>,
    pub inputs: Vec<InputChange>,
    pub expectations: Vec<ExpectationChange>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InputChange {
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<f64>,
    /// The coverage of both.
    #[serde(default)]
    pub a_coverage: f64,
    #[serde(default)]
    pub b_coverage: f64,
}

/// An expectation on both sides, with Wilson's intervals of its rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExpectationChange {
    pub input: String,
    pub name: String,
    pub must: bool,
    pub a: Count,
    pub b: Count,
    pub a_interval: (f64, f64),
    pub b_interval: (f64, f64),
    /// Corrected for the number of expectations (Holm).
    pub p: f64,
    pub verdict: ComparisonVerdict,
}

impl Comparison {
    /// True if B regressed, and not by advisory verdicts alone.
    pub fn is_failure(&self) -> bool {
        self.verdict == ComparisonVerdict::Regressed && !self.advisory
    }
}

/// Compares the cells of two versions. Verdicts of a judge about its own model count in the scores, but
/// neither make a regression that gates nor hide one.
pub fn compare(a: &[Cell], b: &[Cell]) -> Comparison {
    let all = compare_all(a, b);
    let is_self_judged = |cell: &Cell| cell.expectations.iter().any(|result| result.self_judged);
    if !a.iter().chain(b).any(is_self_judged) {
        return all;
    }
    let firm = compare_all(&without_advisory(a), &without_advisory(b));
    let is_firm = firm.verdict == ComparisonVerdict::Regressed;
    let (verdict, reason, advisory) = match all.verdict {
        ComparisonVerdict::Regressed => (all.verdict, all.reason, !is_firm),
        _ if is_firm => (firm.verdict, format!("{}; without advisory verdicts", firm.reason), false),
        verdict => (verdict, all.reason, false),
    };
    let inputs_needed = all.inputs_needed.filter(|_| verdict == ComparisonVerdict::CannotTell);
    Comparison { verdict, reason, advisory, inputs_needed, ..all }
}

/// The cells, scored without the verdicts of a judge about its own model.
fn without_advisory(cells: &[Cell]) -> Vec<Cell> {
    let firm = |cell: &Cell| {
        let mut cell = cell.clone();
        cell.expectations.retain(|result| !result.self_judged);
        cell.score = crate::score(&cell.expectations).score;
        cell
    };
    cells.iter().map(firm).collect()
}

fn compare_all(a: &[Cell], b: &[Cell]) -> Comparison {
    let inputs = input_changes(a, b);
    let differences: Vec<f64> = inputs.iter().filter_map(|input| Some(input.b? - input.a?)).collect();
    let expectations = expectation_changes(a, b);
    let (verdict, reason) = decide(&differences, &expectations);
    let enough = differences.len() > 1;
    Comparison {
        verdict,
        reason,
        advisory: false,
        delta: (!differences.is_empty()).then(|| moments(&differences).0),
        interval: enough.then(|| t_interval(&differences)),
        compared: differences.len(),
        inputs_needed: inputs_needed(verdict, &differences),
        inputs,
        expectations,
    }
}

/// The inputs with a `must` that always held in A and broke in B. They are sampled again before the flip
/// counts.
pub fn flipped_musts(a: &[Cell], b: &[Cell]) -> Vec<String> {
    let changes = expectation_changes(a, b);
    let mut inputs: Vec<String> =
        changes.into_iter().filter(|it| is_flipped(it) && it.b.yes < it.b.of).map(|it| it.input).collect();
    inputs.dedup();
    inputs
}

fn is_flipped(change: &ExpectationChange) -> bool {
    change.must && change.a.of > 0 && change.a.yes == change.a.of && change.b.of > change.b.yes
}

/// A flip counts if it is seen twice: one sample may be an accident.
fn is_confirmed(change: &ExpectationChange) -> bool {
    is_flipped(change) && change.b.of - change.b.yes >= 2
}

fn decide(differences: &[f64], expectations: &[ExpectationChange]) -> (ComparisonVerdict, String) {
    if let Some(flipped) = expectations.iter().find(|change| is_confirmed(change)) {
        let ExpectationChange { input, name, b, .. } = flipped;
        let broken = b.of - b.yes;
        let reason =
            format!("{input}: {name:?} must hold, always held in A, and broke in {broken} of {} in B", b.of);
        return (ComparisonVerdict::Regressed, reason);
    }
    weigh(differences)
}

/// The verdict of the inputs' differences.
pub(crate) fn weigh(differences: &[f64]) -> (ComparisonVerdict, String) {
    let count = differences.len();
    if count == 0 {
        return (ComparisonVerdict::CannotTell, "no input has a score on both sides".to_owned());
    }
    if count < LEAST_INPUTS {
        let reason =
            format!("{count} inputs have a score on both sides; a verdict takes at least {LEAST_INPUTS}");
        return (ComparisonVerdict::CannotTell, reason);
    }
    let (delta, deviation) = moments(differences);
    let (low, high) = t_interval(differences);
    let is_sure = deviation > 0.0 || sign_test(differences) < SIGNIFICANT;
    let verdict = if high < 0.0 && delta <= -MARGIN && is_sure {
        ComparisonVerdict::Regressed
    } else if low > 0.0 && delta >= MARGIN && is_sure {
        ComparisonVerdict::Improved
    } else if t_lower_bound(differences) > -MARGIN {
        ComparisonVerdict::NoWorse
    } else {
        ComparisonVerdict::CannotTell
    };
    let how = if deviation > 0.0 { "paired t" } else { "sign test" };
    let reason =
        format!("{delta:+.3} over {count} inputs, 95 % {low:+.3} to {high:+.3} ({how}, margin {MARGIN})");
    (verdict, reason)
}

/// The inputs for which the interval would be as wide as the margin. `None` if there is a verdict, or
/// nothing to go by.
pub(crate) fn inputs_needed(verdict: ComparisonVerdict, differences: &[f64]) -> Option<usize> {
    if verdict != ComparisonVerdict::CannotTell || differences.is_empty() {
        return None;
    }
    let deviation = if differences.len() > 1 { moments(differences).1 } else { 0.0 };
    let inputs = (1.96 * deviation / MARGIN).powi(2).ceil() as usize;
    Some(inputs.max(LEAST_INPUTS).max(differences.len() + 1))
}

pub(crate) fn input_changes(a: &[Cell], b: &[Cell]) -> Vec<InputChange> {
    let mut names: Vec<&str> = Vec::new();
    for cell in a.iter().chain(b) {
        if !names.contains(&cell.input.as_str()) {
            names.push(&cell.input);
        }
    }
    fn of<'c>(cells: &'c [Cell], input: &'c str) -> impl Iterator<Item = &'c Cell> {
        cells.iter().filter(move |cell| cell.input == input)
    }
    let score = |cells: &[Cell], input: &str| mean(of(cells, input).filter_map(|cell| cell.score));
    let change = |input: &str| InputChange {
        input: input.to_owned(),
        a: score(a, input),
        b: score(b, input),
        a_coverage: coverage(of(a, input)),
        b_coverage: coverage(of(b, input)),
    };
    names.into_iter().map(change).collect()
}

/// The rates of every expectation that both sides have.
pub(crate) fn expectation_changes(a: &[Cell], b: &[Cell]) -> Vec<ExpectationChange> {
    let mut changes: Vec<ExpectationChange> = Vec::new();
    for (cells, is_b) in [(a, false), (b, true)] {
        for cell in cells {
            for result in &cell.expectations {
                let at = changes.iter().position(|it| it.input == cell.input && it.name == result.name);
                let at = at.unwrap_or_else(|| {
                    changes.push(ExpectationChange {
                        input: cell.input.clone(),
                        name: result.name.clone(),
                        must: result.must,
                        a: Count::default(),
                        b: Count::default(),
                        a_interval: (0.0, 1.0),
                        b_interval: (0.0, 1.0),
                        p: 1.0,
                        verdict: ComparisonVerdict::CannotTell,
                    });
                    changes.len() - 1
                });
                if let Some(holds) = result.holds() {
                    let change = &mut changes[at];
                    if is_b { change.b.add(holds) } else { change.a.add(holds) }
                }
            }
        }
    }
    let p_values: Vec<f64> = changes.iter().map(|change| fisher(change.a, change.b)).collect();
    for (change, p) in changes.iter_mut().zip(holm(&p_values)) {
        (change.a_interval, change.b_interval, change.p) = (wilson(change.a), wilson(change.b), p);
        let delta = change.b.rate().zip(change.a.rate()).map(|(b, a)| b - a);
        change.verdict = match delta {
            Some(delta) if p < SIGNIFICANT && delta <= -MARGIN => ComparisonVerdict::Regressed,
            Some(delta) if p < SIGNIFICANT && delta >= MARGIN => ComparisonVerdict::Improved,
            _ => ComparisonVerdict::CannotTell,
        };
    }
    changes
}

#[cfg(test)]
mod tests;
