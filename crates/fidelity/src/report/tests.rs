use serde_json::json;

use super::{estimate, junit, markdown, text};
use crate::{Cell, CellState, Estimate, NO_PERSONA, RunOutcome, TestReport, compare, lift};

fn column(name: &str) -> serde_json::Value {
    json!({
        "column": name, "revision": 3, "subject": "abc", "pieces": { "persona:mentor": { "revision": 3, "hash": "9f86d081" } },
        "model": "stage/actor",
        "summary": { "cells": {
            "waiting": 0, "running": 0, "passed": 0, "failed": 0, "unjudged": 0, "error": 0, "unfinished": 0 },
            "coverage": 0.0, "inputs": [], "split_votes": { "of": 0, "yes": 0 } },
    })
}

fn report() -> TestReport {
    let held =
        json!({ "name": "words at most 80", "check": "words", "verdict": "held", "reason": "12 words" });
    let broken = json!({
        "name": "lacks \"As an AI\"", "check": "lacks", "verdict": "broken", "must": true, "aspect": "voice",
        "evidence": "As an AI", "reason": "\"As an AI\" is there",
    });
    let unjudged = json!({
        "name": "Asks what is slow.", "check": "holds", "verdict": "unjudged",
        "reason": "the judge gave no evidence", "votes": { "held": 1, "broken": 1, "not_shown": 0, "unjudged": 1 },
        "self_judged": true,
    });
    let cell = |sample: u32, state: &str, expectations: serde_json::Value, reply: Option<&str>| {
        json!({
            "input": "vague", "column": "now", "sample": sample, "state": state, "reply": reply,
            "expectations": expectations, "score": 0.5, "coverage": 0.5, "tokens": 10, "ms": 1500, "cached": sample == 0,
        })
    };
    let mut report: TestReport = serde_json::from_value(json!({
        "id": "1", "persona": "mentor", "state": "unfinished", "reached": "max_calls", "judge": "stage/actor",
        "pass": 0.8, "estimate": { "cells": 4, "calls": 8, "subject_calls": 4, "judge_calls": 4, "tokens": 900 },
        "spent": { "calls": 6, "input_tokens": 100, "output_tokens": 50, "cost": 0.0125 },
        "columns": [column("now")],
        "cells": [
            cell(0, "passed", json!([held]), Some("Fine.")),
            cell(1, "failed", json!([held, broken]), Some("As an AI, I <b>can't</b> & won't | \u{7}stop.\nOK @all")),
            cell(2, "unjudged", json!([unjudged]), Some("Hm.")),
            cell(3, "unfinished", json!([]), None),
        ],
        "started_at": "2026-01-01T00:00:00Z",
    }))
    .expect("valid");
    report.tally();
    report
}

#[test]
fn a_run_as_text() {
    insta::assert_snapshot!(text(&report()));
}

#[test]
fn a_run_as_junit() {
    insta::assert_snapshot!(junit(&report()));
}

#[test]
fn a_run_as_markdown() {
    insta::assert_snapshot!(markdown(&report()));
}

#[test]
fn an_estimate() {
    let all = Estimate { cells: 4, calls: 8, subject_calls: 4, judge_calls: 4, tokens: 900 };
    insta::assert_snapshot!(estimate(&all));
}

/// A comparison of versions with these scores, one for each input.
fn compared(a: &[f64], b: &[f64]) -> TestReport {
    let side = |column: &str, scores: &[f64]| -> Vec<Cell> {
        let cell = |(at, score): (usize, &f64)| Cell {
            score: Some(*score),
            coverage: 1.0,
            state: CellState::Passed,
            ..Cell::waiting(format!("i{at}"), column, 0)
        };
        scores.iter().enumerate().map(cell).collect()
    };
    let (a, b) = (side("production", a), side("now", b));
    let columns = ["production", "now"].map(|name| serde_json::from_value(column(name)).expect("valid"));
    let comparison = Some(compare(&a, &b));
    let cells = a.into_iter().chain(b).collect();
    let mut report = TestReport { columns: columns.to_vec(), cells, comparison, reached: None, ..report() };
    report.tally();
    report
}

#[test]
fn comparisons() {
    let regressed = compared(&[1.0; 6], &[0.5, 0.4, 0.5, 0.6, 0.5, 0.5]);
    let open = compared(&[1.0; 2], &[0.5; 2]);
    insta::assert_snapshot!(text(&regressed));
    insta::assert_snapshot!(junit(&regressed));
    insta::assert_snapshot!(junit(&open));
    insta::assert_snapshot!(markdown(&open));
}

/// A test of a persona that asks and of its model, which does not. Both say no "As an AI".
fn with_lift() -> TestReport {
    let side = |column: &str, asks: &str| -> Vec<Cell> {
        let cell = |input: usize| {
            let results = json!([
                { "name": "Asks what is slow.", "check": "holds", "verdict": asks, "aspect": "method" },
                { "name": "lacks \"As an AI\"", "check": "lacks", "verdict": "held" },
            ]);
            let mut cell = Cell::waiting(format!("i{input}"), column, 0);
            cell.decide(serde_json::from_value(results).expect("valid"), 0.8);
            cell
        };
        (0..6).map(cell).collect()
    };
    let (with, without) = (side("now", "held"), side(NO_PERSONA, "broken"));
    let lift = Some(lift(&with, &without));
    let baseline = json!({
        "column": NO_PERSONA, "subject": "def", "model": "stage/actor", "summary": column("now")["summary"],
    });
    let baseline = Some(serde_json::from_value(baseline).expect("valid"));
    let cells = with.into_iter().chain(without).collect();
    let mut report = TestReport { cells, baseline, lift, reached: None, ..report() };
    report.tally();
    report
}

#[test]
fn a_lift() {
    let report = with_lift();
    insta::assert_snapshot!(text(&report));
    insta::assert_snapshot!(junit(&report));
    insta::assert_snapshot!(markdown(&report));
    // The baseline's failures are the point.
    assert_eq!(report.outcome(), RunOutcome::Passed);
    let mut lost = report;
    let last = lost.cells.last_mut().expect("valid");
    (last.state, last.error) = (CellState::Error, Some("no answer".to_owned()));
    assert_eq!(lost.outcome(), RunOutcome::Failed);
    assert!(junit(&lost).contains("<error type=\"error\" message=\"no answer\"/>"));
    for shown in [text(&lost), markdown(&lost)] {
        assert!(shown.contains("i5 #1 (no persona) error: no answer"), "{shown}");
    }
}

#[test]
fn changed_expectations_are_shown_with_their_intervals() {
    let side = |column: &str, verdict: &str| -> Vec<Cell> {
        let cell = |sample: u32| {
            let results = json!([{ "name": "Asks.", "check": "holds", "verdict": verdict, "must": true }]);
            let mut cell = Cell::waiting("vague", column, sample);
            cell.decide(serde_json::from_value(results).expect("valid"), 0.8);
            cell
        };
        (0..3).map(cell).collect()
    };
    let (a, b) = (side("production", "held"), side("now", "broken"));
    let comparison = Some(compare(&a, &b));
    let cells = a.into_iter().chain(b).collect();
    let report = TestReport { cells, comparison, ..compared(&[1.0], &[1.0]) };
    let text = text(&report);
    assert!(text.contains("!Asks.  3/3 (44 % to 100 %) → 0/3 (0 % to 56 %)"), "{text}");
    let markdown = markdown(&report);
    assert!(markdown.contains("| **Asks.** | 3/3 | 44 % to 100 % | 0/3 | 0 % to 56 % |"), "{markdown}");
}

/// A comparison with a model that did not answer once on the side of B.
fn with_errors() -> TestReport {
    let mut report = compared(&[1.0; 6], &[1.0; 6]);
    for cell in report.cells.iter_mut().filter(|cell| cell.column == "now") {
        (cell.state, cell.score, cell.coverage) = (CellState::Error, None, 0.0);
        cell.error = Some("the model <x> does not exist".to_owned());
    }
    let of = |column: &str| report.of_column(column).cloned().collect::<Vec<_>>();
    let comparison = Some(compare(&of("production"), &of("now")));
    let mut report = TestReport { comparison, ..report };
    report.tally();
    report
}

#[test]
fn a_comparison_shows_its_errors_and_fails() {
    let report = with_errors();
    insta::assert_snapshot!(text(&report));
    insta::assert_snapshot!(junit(&report));
    insta::assert_snapshot!(markdown(&report));
    assert_eq!(report.outcome(), RunOutcome::Failed);
    assert_eq!(report.comparison.expect("compared").inputs_needed, None);
}

/// A cell of which nothing but the judge's own model says that it failed.
fn advisory() -> TestReport {
    let mut report = report();
    report.cells.truncate(1);
    let broken = json!([{
        "name": "Asks.", "check": "holds", "verdict": "broken", "reason": "It does not.", "self_judged": true,
    }]);
    report.cells[0].decide(serde_json::from_value(broken).expect("valid"), 0.8);
    report.reached = None;
    report.tally();
    report
}

#[test]
fn advisory_verdicts_are_shown_and_do_not_gate() {
    let report = advisory();
    assert_eq!(report.outcome(), RunOutcome::Passed);
    let text = text(&report);
    assert!(text.contains("vague #1 failed, advisory") && text.contains("do not gate"), "{text}");
    assert!(text.contains("1 cell failed or without a verdict by advisory verdicts alone"), "{text}");
    let junit = junit(&report);
    assert!(junit.contains("failures=\"0\" errors=\"0\" skipped=\"1\""), "{junit}");
    assert!(junit.contains("<skipped message=\"failed, advisory: Asks.: broken (advisory)"), "{junit}");
}

#[test]
fn the_reason_of_a_failed_cell_comes_before_a_missing_verdict() {
    let mut report = report();
    let results = json!([
        { "name": "Asks.", "check": "holds", "verdict": "unjudged", "reason": "out of form" },
        { "name": "Says so.", "check": "holds", "verdict": "broken", "self_judged": true },
        { "name": "words at most 1", "check": "words", "verdict": "broken", "reason": "2 words" },
    ]);
    report.cells[1].decide(serde_json::from_value(results).expect("valid"), 0.8);
    let junit = junit(&report);
    assert!(junit.contains("message=\"words at most 1: broken: 2 words\""), "{junit}");
    let order = ["words at most 1: ", "Asks.: ", "Says so.: "].map(|name| junit.rfind(name));
    assert!(order.is_sorted(), "{junit}");
}

#[test]
fn a_cell_that_could_not_be_run_lowers_the_coverage() {
    let mut report = with_errors();
    let now = &report.columns[1].summary;
    assert_eq!((now.coverage, now.score, now.cells.error), (0.0, None, 6));
    report.cells.iter_mut().filter(|cell| cell.column == "production").for_each(|cell| cell.coverage = 1.0);
    let first = report.cells.first_mut().expect("valid");
    (first.state, first.coverage) = (CellState::Unfinished, 0.0);
    report.tally();
    let production = &report.columns[0].summary;
    assert_eq!(production.coverage, 5.0 / 6.0);
    assert_eq!((production.inputs[0].coverage, production.inputs[1].coverage), (0.0, 1.0));
}

#[test]
fn outcomes() {
    assert_eq!(report().outcome(), RunOutcome::Unfinished);
    let finished = |change: fn(&mut TestReport)| {
        let mut report = report();
        report.cells.pop();
        change(&mut report);
        report.outcome()
    };
    assert_eq!(finished(|_| ()), RunOutcome::Failed);
    assert_eq!(finished(|report| report.cells.truncate(1)), RunOutcome::Passed);
    assert_eq!(compared(&[1.0; 6], &[0.5; 6]).outcome(), RunOutcome::Failed);
    assert_eq!(compared(&[1.0; 6], &[1.0; 6]).outcome(), RunOutcome::Passed);
    assert_eq!(compared(&[1.0; 2], &[0.5; 2]).outcome(), RunOutcome::Passed);
}
