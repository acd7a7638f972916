//! Reports of tests and comparisons: text for terminals, markdown for pull requests, JUnit for CI.
//!
//! JSON is the data itself.

mod junit;
mod markdown;
mod text;

pub use junit::junit;
pub use markdown::markdown;
pub use text::{estimate, text};

use crate::{
    Cell, CellState, Count, Counts, ExpectationLift, ExpectationResult, Lift, Tally, TestReport, Verdict,
};

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

/// The expectations of a cell that do not hold, or have no verdict: the reasons of its state first.
/// Advisory ones come last, those without a verdict after those that are broken.
fn unmet(cell: &Cell) -> Vec<&ExpectationResult> {
    let is_unmet = |result: &&ExpectationResult| result.holds() != Some(true) && !result.untested;
    let mut unmet: Vec<&ExpectationResult> = cell.expectations.iter().filter(is_unmet).collect();
    unmet.sort_by_key(|result| (result.self_judged, result.verdict == Verdict::Unjudged, !result.must));
    unmet
}

/// Why an expectation is unmet, in a line.
fn because(result: &ExpectationResult) -> String {
    let mut line = match result.verdict {
        Verdict::NotShown => "not shown".to_owned(),
        verdict => verdict.as_str().to_owned(),
    };
    if result.self_judged {
        line.push_str(" (advisory)");
    }
    if let Some(reason) = &result.reason {
        line.push_str(&format!(": {reason}"));
    }
    if let Some(evidence) = &result.evidence {
        line.push_str(&format!(" ({evidence:?})"));
    }
    line
}

/// The state of a cell in words.
fn state(cell: &Cell) -> String {
    let advisory = if cell.advisory { ", advisory" } else { "" };
    format!("{}{advisory}", cell.state.as_str())
}

/// Score, coverage and cells of a column, in a line.
fn standing(summary: &Tally) -> String {
    let Counts { waiting, running, passed, failed, unjudged, error, unfinished } = summary.cells;
    let errors = counted(error as u64, "error");
    let open = unfinished + waiting + running;
    format!(
        "score {} · coverage {} · {passed} passed, {failed} failed, {unjudged} unjudged, {errors}, {open} unfinished",
        score(summary.score),
        percent(summary.coverage),
    )
}

/// `0 % to 56 %`.
fn range((low, high): (f64, f64)) -> String {
    format!("{} to {}", percent(low), percent(high))
}

/// Cells that could not be run or judged, and why.
fn errors<'a>(report: &'a TestReport, column: &'a str) -> impl Iterator<Item = (&'a Cell, &'a str)> {
    let is_error = |cell: &&Cell| cell.state == CellState::Error;
    let errors = report.of_column(column).filter(is_error);
    errors.map(|cell| (cell, cell.error.as_deref().unwrap_or("error")))
}

/// The lift in words: `lift +0.400: improved (…)`.
fn lift_line(lift: &Lift) -> String {
    let delta = lift.delta.map_or_else(|| "–".to_owned(), |delta| format!("{delta:+.3}"));
    let needed = lift.inputs_needed.map(|needed| format!("; about {needed} inputs would tell"));
    format!("lift {delta}: {} ({}{})", lift.verdict.spoken(), lift.reason, needed.unwrap_or_default())
}

/// Expectations that hold as often without the persona.
fn idle(lift: &Lift) -> impl Iterator<Item = &ExpectationLift> {
    lift.expectations.iter().filter(|it| it.discriminates == Some(false))
}

/// The names of A and B.
fn sides(report: &TestReport) -> (&str, &str) {
    let name = |at: usize| report.columns.get(at).map_or("?", |column| column.column.as_str());
    (name(0), name(1))
}

/// Facts about a run that qualify its score.
fn notes(report: &TestReport) -> Vec<String> {
    let mut notes = Vec::new();
    let unfinished = report.cells.iter().filter(|cell| cell.state.is_open()).count();
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
        notes.push(
            "the judge is the model that it judges: its verdicts are advisory and do not gate; name another \
             judge with --judge or fidelity.judge"
                .to_owned(),
        );
    }
    let advisory: usize = report.columns.iter().map(|column| column.summary.advisory).sum();
    if advisory > 0 {
        let cells = counted(advisory as u64, "cell");
        notes.push(format!("{cells} failed or without a verdict by advisory verdicts alone: not counted"));
    }
    if report.comparison.as_ref().is_some_and(|compared| compared.advisory) {
        notes.push("the regression rests on advisory verdicts alone: not counted".to_owned());
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
