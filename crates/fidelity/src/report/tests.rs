use serde_json::json;

use super::{estimate, junit, markdown, text};
use crate::{Cell, CellState, Estimate, RunOutcome, TestReport, compare};

fn column(name: &str) -> serde_json::Value {
    json!({
        "column": name, "revision": 3, "subject": "abc", "pieces": { "persona:mentor": "9f86d081" },
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
        "name": "lacks \"As an AI\"", "check": "lacks", "verdict": "broken", "must": true,
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
            state: CellState::Passed,
            ..Cell::waiting(format!("i{at}"), column, 0)
        };
        scores.iter().enumerate().map(cell).collect()
    };
    let (a, b) = (side("production", a), side("now", b));
    let columns = ["production", "now"].map(|name| serde_json::from_value(column(name)).expect("valid"));
    let comparison = Some(compare(&a, &b));
    let cells = a.into_iter().chain(b).collect();
    TestReport { columns: columns.to_vec(), cells, comparison, reached: None, ..report() }
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
