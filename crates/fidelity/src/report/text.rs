//! The table for terminals.

use super::{because, counted, notes, percent, score, sides, spent, unmet};
use crate::{Cell, CellState, Column, Comparison, Count, Estimate, InputReport, TestReport, wilson};

/// Places of the bar of a rate.
const BAR: usize = 10;

/// A run as text: one line for each expectation, then the replies that failed. A comparison shows what
/// differs.
pub fn text(report: &TestReport) -> String {
    let mut out = String::new();
    match &report.comparison {
        Some(compared) => compared_text(&mut out, report, compared),
        None => report.columns.iter().for_each(|column| column_text(&mut out, report, column)),
    }
    out.push_str(&format!("{}\n", spent(report)));
    notes(report).iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
    out
}

fn column_text(out: &mut String, report: &TestReport, column: &Column) {
    let judge = report.judge.as_deref().map(|judge| format!(", judged by {judge}")).unwrap_or_default();
    out.push_str(&format!("{} ({}) on {}{judge}\n", report.persona, column.column, column.model));
    let summary = &column.summary;
    let names = summary.inputs.iter().flat_map(|input| &input.expectations);
    let width = names.map(|it| it.name.chars().count()).max().unwrap_or(0).clamp(12, 60);
    for input in &summary.inputs {
        input_text(out, input, width);
    }
    let is_shown = |cell: &&Cell| cell.column == column.column && cell.state != CellState::Passed;
    for cell in report.cells.iter().filter(is_shown) {
        out.push_str(&format!("\n{} #{} {}", cell.input, cell.sample + 1, cell.state.as_str()));
        out.push_str(&cell.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default());
        out.push('\n');
        for result in unmet(cell) {
            out.push_str(&format!("  {}: {}\n", result.name, because(result)));
        }
    }
    let cells = summary.cells;
    out.push_str(&format!(
        "\nscore {} · coverage {} · {} passed, {} failed, {} unjudged, {} errors, {} unfinished\n",
        score(summary.score),
        percent(summary.coverage),
        cells.passed,
        cells.failed,
        cells.unjudged,
        cells.error,
        cells.unfinished + cells.waiting,
    ));
}

fn input_text(out: &mut String, input: &InputReport, width: usize) {
    let counts = input.cells;
    let done = counts.passed + counts.failed + counts.unjudged + counts.error;
    let all = done + counts.unfinished + counts.waiting + counts.running;
    out.push_str(&format!("\n{}  {}  {} of {all} passed\n", input.input, score(input.score), counts.passed));
    for it in &input.expectations {
        let must = if it.must { "!" } else { " " };
        let name: String = it.name.chars().take(width).collect();
        let mut line = format!(" {must}{name:<width$}  {}  {}", held(it.held), bar(it.held));
        if it.unjudged > 0 {
            line.push_str(&format!("  {} unjudged", it.unjudged));
        }
        if it.untested > 0 {
            line.push_str(&format!("  {} untested", it.untested));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// What a run will spend at most, apart from tools and answers that are asked for again.
pub fn estimate(estimate: &Estimate) -> String {
    let Estimate { cells, calls, subject_calls, judge_calls, tokens } = estimate;
    let (cells, calls) = (counted(*cells as u64, "cell"), counted(*calls, "call"));
    format!(
        "{cells}, at most {calls} (replies {subject_calls}, verdicts {judge_calls}), about {tokens} tokens"
    )
}

fn held(count: Count) -> String {
    format!("{:>3}/{}", count.yes, count.of)
}

/// Wilson's interval as a bar: filled where the rate is at least, dotted where it may be.
fn bar(count: Count) -> String {
    if count.of == 0 {
        return String::new();
    }
    let (low, high) = wilson(count);
    let place = |share: f64| (share * BAR as f64).round() as usize;
    let (low, high) = (place(low), place(high));
    (0..BAR)
        .map(|at| {
            if at < low {
                '█'
            } else if at < high {
                '▒'
            } else {
                '·'
            }
        })
        .collect()
}

fn compared_text(out: &mut String, report: &TestReport, compared: &Comparison) {
    let (a, b) = sides(report);
    let verdict = compared.verdict.spoken();
    out.push_str(&format!("{}: {b} against {a}: {verdict}\n{}\n", report.persona, compared.reason));
    if let Some(needed) = compared.inputs_needed {
        out.push_str(&format!("about {needed} inputs would tell\n"));
    }
    let width = compared.inputs.iter().map(|it| it.input.chars().count()).max().unwrap_or(0).max(5);
    out.push_str(&format!("\n{:<width$}  {:>5}  {:>5}  {:>6}\n", "input", "a", "b", "b - a"));
    for input in &compared.inputs {
        let delta = input.b.zip(input.a).map(|(b, a)| format!("{:+.2}", b - a)).unwrap_or_default();
        let line =
            format!("{:<width$}  {:>5}  {:>5}  {delta:>6}", input.input, score(input.a), score(input.b));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let changed: Vec<_> = compared.expectations.iter().filter(|it| it.a.rate() != it.b.rate()).collect();
    if !changed.is_empty() {
        out.push('\n');
    }
    for it in changed {
        let must = if it.must { "!" } else { "" };
        let line =
            format!("{}: {must}{}  {}/{} → {}/{}", it.input, it.name, it.a.yes, it.a.of, it.b.yes, it.b.of);
        out.push_str(&format!("{line}  {} (p {:.3})\n", it.verdict.spoken(), it.p));
    }
    out.push('\n');
}
