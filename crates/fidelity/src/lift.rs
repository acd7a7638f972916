//! Lift: the persona's score minus that of its model without the persona, on the same inputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cell;
use crate::compare::{
    ComparisonVerdict, ExpectationChange, expectation_changes, input_changes, inputs_needed, weigh,
};
use crate::score::Count;
use crate::statistics::{moments, t_interval};

/// The column of the model without the persona. No tag has a blank, so no version has this name.
pub const NO_PERSONA: &str = "no persona";

/// The effect of a persona, paired by input. An input counts once, however many samples it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Lift {
    /// `improved` if the persona does more of what is expected than the model alone.
    pub verdict: ComparisonVerdict,
    /// The reason for the verdict, in a sentence.
    pub reason: String,
    /// The mean of the inputs' differences, with the persona minus without it.
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
    pub inputs: Vec<InputLift>,
    pub expectations: Vec<ExpectationLift>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InputLift {
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<f64>,
    /// With the persona minus without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// The coverage of both.
    pub with_coverage: f64,
    pub without_coverage: f64,
}

/// An expectation with the persona and without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExpectationLift {
    pub input: String,
    pub name: String,
    pub must: bool,
    pub with: Count,
    pub without: Count,
    /// Wilson's intervals of the rates.
    pub with_interval: (f64, f64),
    pub without_interval: (f64, f64),
    /// The difference of the rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Fisher's exact test of the rates, corrected for the number of expectations (Holm).
    pub p: f64,
    /// False if both rates are the same: the expectation says nothing about the persona. Absent if a side
    /// has no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discriminates: Option<bool>,
}

/// Measures the lift of a persona over cells of the same inputs without it.
pub fn lift(with: &[Cell], without: &[Cell]) -> Lift {
    let inputs = input_changes(without, with).into_iter().map(|input| InputLift {
        delta: input.b.zip(input.a).map(|(with, without)| with - without),
        with: input.b,
        without: input.a,
        with_coverage: input.b_coverage,
        without_coverage: input.a_coverage,
        input: input.input,
    });
    let inputs: Vec<InputLift> = inputs.collect();
    let differences: Vec<f64> = inputs.iter().filter_map(|input| input.delta).collect();
    let (verdict, reason) = weigh(&differences);
    Lift {
        verdict,
        reason,
        delta: (!differences.is_empty()).then(|| moments(&differences).0),
        interval: (differences.len() > 1).then(|| t_interval(&differences)),
        compared: differences.len(),
        inputs_needed: inputs_needed(verdict, &differences),
        inputs,
        expectations: expectation_changes(without, with).into_iter().map(ExpectationLift::from).collect(),
    }
}

impl From<ExpectationChange> for ExpectationLift {
    fn from(change: ExpectationChange) -> Self {
        let ExpectationChange { input, name, must, a, b, a_interval, b_interval, p, verdict: _ } = change;
        let delta = b.rate().zip(a.rate()).map(|(with, without)| with - without);
        Self {
            input,
            name,
            must,
            with: b,
            without: a,
            with_interval: b_interval,
            without_interval: a_interval,
            delta,
            p,
            discriminates: delta.map(|delta| delta.abs() > 1e-9),
        }
    }
}

#[cfg(test)]
mod tests;
