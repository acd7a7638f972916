//! Reports of tests and comparisons: text for terminals, markdown for pull requests, JUnit for CI.
//!
//! JSON is the data itself.

mod junit;
mod markdown;
mod text;

pub use junit::junit;
pub use markdown::markdown;
pub use text::{estimate, text};

use crate::{Cell, CellState, Count, ExpectationResult, TestReport, Verdict};

/// A number with its noun.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A share as percent.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"))
}

/// The expectations of a cell that do not hold, or have no verdict.
fn unmet(cell: &Cell) -> impl Iterator<Item = &ExpectationResult> {
    cell.expectations.iter().filter(|result| result.holds() != Some(true) && !result.untested)
}

/// Why an expectation is unmet, in a line.
fn because(result: &ExpectationResult) -> String {
    let mut line = match result.verdict {
        Verdict::NotShown => "not shown".to_owned(),
        verdict => verdict.as_str().to_owned(),
    };
    if let Some(reason) = &result.reason {
        line.push_str(&format!(": {reason}"));
    }
    if let Some(evidence) = &result.evidence {
        line.push_str(&format!(" ({evidence:?})"));
    }
    line
}

/// The names of A and B.
fn sides(report: &TestReport) -> (&str, &str) {
    let name = |at: usize| report.columns.get(at).map_or("?", |column| column.column.as_str());
    (name(0), name(1))
}

/// Facts about a run that qualify its score.
fn notes(report: &TestReport) -> Vec<String> {
    let mut notes = Vec::new();
    let is_open =
        |cell: &&Cell| matches!(cell.state, CellState::Waiting | CellState::Running | CellState::Unfinished);
    let unfinished = report.cells.iter().filter(is_open).count();
    if let Some(cap) = report.reached {
        let cap = cap.as_str();
        let cells = counted(unfinished as u64, "cell");
        notes.push(format!("{cap} is reached, {cells} unfinished; run the test again to go on"));
    } else if unfinished > 0 {
        let cells = counted(unfinished as u64, "cell");
        notes.push(format!("{cells} unfinished; run the test again to go on"));
    }
    let mut split = Count::default();
    for column in &report.columns {
        split.of += column.summary.split_votes.of;
        split.yes += column.summary.split_votes.yes;
    }
    if split.of > 0 {
        notes.push(format!("the judge's votes differ in {} of {}", split.yes, counted(split.of, "question")));
    }
    if report.columns.iter().any(|column| column.summary.self_judged) {
        notes.push("the judge is the model that it judges: its verdicts are advisory".to_owned());
    }
    for column in report.columns.iter().filter(|column| !column.changed.is_empty()) {
        notes.push(format!("stale: {} changed since", column.changed.join(", ")));
    }
    notes
}

/// Calls and tokens of a run in words.
fn spent(report: &TestReport) -> String {
    let spent = report.spent;
    let cost = spent.cost.map(|cost| format!(", {cost:.4}")).unwrap_or_default();
    let cached = report.cells.iter().filter(|cell| cell.cached).count();
    let cached = if cached > 0 {
        format!(", {} from the cache", counted(cached as u64, "cell"))
    } else {
        String::new()
    };
    format!("{}, {}{cost}{cached}", counted(spent.calls, "call"), counted(spent.tokens(), "token"))
}

#[cfg(test)]
mod tests;
