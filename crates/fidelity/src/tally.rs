//! Summaries of cells: by state, by input, by expectation, by aspect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::is_false;
use crate::score::Count;
use crate::{Cell, CellState, ExpectationResult};

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
    /// The mean coverage of the cells. One that could not be run, or not to its end, covers nothing.
    pub coverage: f64,
    pub inputs: Vec<InputReport>,
    /// Expectations by their `aspect`, in the order in which they come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aspects: Vec<AspectCount>,
    /// Questions to the judge whose votes differ, of all with several votes.
    pub split_votes: Count,
    /// True if the judge is the model that it judges: its verdicts are advisory.
    #[serde(default)]
    pub self_judged: bool,
    /// Cells that failed or have no verdict by advisory verdicts alone: they do not gate.
    #[serde(default)]
    pub advisory: usize,
}

/// The expectations of one aspect, over all inputs and samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AspectCount {
    pub aspect: String,
    /// Expectations that held, of those that were decided.
    pub held: Count,
    pub unjudged: usize,
    pub untested: usize,
}

/// The samples of one input together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InputReport {
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The mean coverage of its cells.
    #[serde(default)]
    pub coverage: f64,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aspect: Option<String>,
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
            let is_bad = matches!(cell.state, CellState::Failed | CellState::Unjudged);
            tally.advisory += usize::from(is_bad && cell.advisory);
            if !order.contains(&cell.input.as_str()) {
                order.push(&cell.input);
            }
            for result in &cell.expectations {
                tally.self_judged |= result.self_judged;
                tally.count_aspect(result);
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
        tally.coverage = coverage(cells.iter().copied());
        tally
    }

    fn count_aspect(&mut self, result: &ExpectationResult) {
        let Some(aspect) = &result.aspect else { return };
        let known = self.aspects.iter().position(|known| known.aspect == *aspect);
        let at = known.unwrap_or_else(|| {
            self.aspects.push(AspectCount { aspect: aspect.clone(), ..AspectCount::default() });
            self.aspects.len() - 1
        });
        let count = &mut self.aspects[at];
        match result.holds() {
            Some(holds) => count.held.add(holds),
            None if result.untested => count.untested += 1,
            None => count.unjudged += 1,
        }
    }
}

impl InputReport {
    fn of<'c>(input: &str, cells: impl Iterator<Item = &'c Cell> + Clone) -> Self {
        let mut report = Self { input: input.to_owned(), ..Self::default() };
        report.score = mean(cells.clone().filter_map(|cell| cell.score));
        report.coverage = coverage(cells.clone());
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
                aspect: result.aspect.clone(),
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

/// The mean coverage of the cells that are over.
pub(crate) fn coverage<'c>(cells: impl Iterator<Item = &'c Cell>) -> f64 {
    let over = cells.filter(|cell| !matches!(cell.state, CellState::Waiting | CellState::Running));
    mean(over.map(|cell| cell.coverage)).unwrap_or(0.0)
}

pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
