//! Tests as the editing agent sees them: bounded, and summed up to what a change could mend.

use fidelity::{Cell, CellState, ExpectationResult, NO_PERSONA, TestReport, Verdict};
use serde_json::{Map, Value, json};

/// Calls of the persona's model and the judge in one test of the agent.
const MOST_CALLS: u64 = 100;
const MAX_CALLS: &str = "max_calls";
/// Cells in a summary. The others are counted.
const SHOWN_CELLS: usize = 8;
/// Expectations of one cell in a summary.
const SHOWN_EXPECTATIONS: usize = 4;
/// Characters of a reply or an error in a summary.
const REPLY_CHARS: usize = 400;
/// Characters of an expectation and of its reason. All of a summary stays below `TOOL_OUTPUT_BYTES`.
const REASON_CHARS: usize = 120;

/// The fields of a test, with at most [`MOST_CALLS`].
pub(super) fn bounded(mut fields: Map<String, Value>) -> Map<String, Value> {
    let wanted = fields.get(MAX_CALLS).and_then(Value::as_u64).unwrap_or(MOST_CALLS);
    fields.insert(MAX_CALLS.to_owned(), wanted.min(MOST_CALLS).into());
    fields
}

/// The scores of a report, and the cells that did not pass.
pub(super) fn of(report: &TestReport) -> Value {
    let versions = report.columns.iter().map(|column| {
        json!({
            "revision": column.revision,
            "model": column.model,
            "cells": column.summary.cells,
            "score": column.summary.score,
            "coverage": column.summary.coverage,
        })
    });
    let versions: Vec<Value> = versions.collect();
    let (shown, more) = not_passed(&report.cells);
    json!({
        "state": report.state,
        "reached": report.reached,
        "judge": report.judge,
        "calls": report.spent.calls,
        "tested": versions,
        "not_passed": shown,
        "and_more": more,
    })
}

/// The first cells of the persona that did not pass, and the number of the others.
fn not_passed(cells: &[Cell]) -> (Vec<Value>, usize) {
    let mut bad = cells.iter().filter(|cell| cell.state != CellState::Passed && cell.column != NO_PERSONA);
    let shown = bad.by_ref().take(SHOWN_CELLS).map(shown_cell).collect();
    (shown, bad.count())
}

fn shown_cell(cell: &Cell) -> Value {
    let decides = |result: &&ExpectationResult| result.verdict != Verdict::Held && !result.untested;
    let results = cell.expectations.iter().filter(decides).take(SHOWN_EXPECTATIONS);
    let results: Vec<Value> = results.map(shown_result).collect();
    json!({
        "input": cell.input,
        "sample": cell.sample + 1,
        "state": cell.state,
        "score": cell.score,
        "advisory": cell.advisory,
        "error": cell.error.as_deref().map(|text| shortened(text, REPLY_CHARS)),
        "expectations": results,
        "reply": cell.reply.as_deref().map(|text| shortened(text, REPLY_CHARS)),
    })
}

fn shown_result(result: &ExpectationResult) -> Value {
    json!({
        "name": shortened(&result.name, REASON_CHARS),
        "verdict": result.verdict,
        "must": result.must,
        "reason": result.reason.as_deref().map(|text| shortened(text, REASON_CHARS)),
    })
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use agent::limits::TOOL_OUTPUT_BYTES;

    use super::*;

    #[test]
    fn a_test_has_a_bound() {
        let calls = |fields: Value| {
            let Value::Object(fields) = fields else { panic!("no object") };
            bounded(fields)[MAX_CALLS].clone()
        };
        assert_eq!(calls(json!({})), MOST_CALLS);
        assert_eq!(calls(json!({ "max_calls": 7 })), 7);
        assert_eq!(calls(json!({ "max_calls": 1_000_000 })), MOST_CALLS);
    }

    /// A report of the largest test still reaches the agent whole.
    #[test]
    fn a_summary_fits_into_an_output() {
        let long = "語".repeat(10_000);
        let result = json!({ "name": long, "check": "holds", "verdict": "broken", "reason": long });
        let cell = json!({
            "input": "sum", "column": "now", "sample": 0, "state": "failed", "reply": long, "error": long,
            "expectations": vec![result; 64], "score": 0.25, "coverage": 1.0, "tokens": 9, "ms": 9,
            "cached": false,
        });
        let mut cells: Vec<Cell> = vec![serde_json::from_value(cell).expect("a cell"); 500];
        cells[0].state = CellState::Passed;
        let (shown, more) = not_passed(&cells);
        assert_eq!((shown.len(), more), (SHOWN_CELLS, 499 - SHOWN_CELLS));
        let length = Value::from(shown).to_string().len();
        assert!(length < TOOL_OUTPUT_BYTES - 4_096, "{length}");
    }
}
