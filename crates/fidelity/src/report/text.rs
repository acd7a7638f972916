//! The table for terminals.

use super::{
    because, counted, errors, idle, lift_line, notes, percent, range, score, sides, spent, standing, state,
    unmet,
};
use crate::{CellState, Column, Comparison, Count, Estimate, InputReport, TestReport, wilson};

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
    lift_text(&mut out, report);
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
    if !summary.aspects.is_empty() {
        out.push_str("\naspects\n");
    }
    for it in &summary.aspects {
        expectation_text(out, " ", (&it.aspect, width), it.held, (it.unjudged, it.untested));
    }
    for cell in report.of_column(&column.column).filter(|cell| cell.state != CellState::Passed) {
        out.push_str(&format!("\n{} #{} {}", cell.input, cell.sample + 1, state(cell)));
        out.push_str(&cell.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default());
        out.push('\n');
        for result in unmet(cell) {
            out.push_str(&format!("  {}: {}\n", result.name, because(result)));
        }
    }
    out.push_str(&format!("\n{}\n", standing(summary)));
}

fn input_text(out: &mut String, input: &InputReport, width: usize) {
    let counts = input.cells;
    let done = counts.passed + counts.failed + counts.unjudged + counts.error;
    let all = done + counts.unfinished + counts.waiting + counts.running;
    let (score, coverage) = (score(input.score), percent(input.coverage));
    out.push_str(&format!(
        "\n{}  {score}  coverage {coverage}  {} of {all} passed\n",
        input.input, counts.passed
    ));
    for it in &input.expectations {
        let must = if it.must { "!" } else { " " };
        expectation_text(out, must, (&it.name, width), it.held, (it.unjudged, it.untested));
    }
}

/// A rate with its bar, and what has none.
fn expectation_text(
    out: &mut String,
    mark: &str,
    (name, width): (&str, usize),
    rate: Count,
    (unjudged, untested): (usize, usize),
) {
    let name: String = name.chars().take(width).collect();
    let mut line = format!(" {mark}{name:<width$}  {}  {}", held(rate), bar(rate));
    if unjudged > 0 {
        line.push_str(&format!("  {unjudged} unjudged"));
    }
    if untested > 0 {
        line.push_str(&format!("  {untested} untested"));
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// What a run spends without its cache, if each question is answered at once. Tools and repeated questions
/// take more: the caps bound those.
pub fn estimate(estimate: &Estimate) -> String {
    let Estimate { cells, calls, subject_calls, judge_calls, tokens } = estimate;
    let (cells, calls) = (counted(*cells as u64, "cell"), counted(*calls, "call"));
    format!("{cells}, about {calls} (replies {subject_calls}, verdicts {judge_calls}), about {tokens} tokens")
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
    out.push('\n');
    let width = report.columns.iter().map(|column| column.column.chars().count()).max().unwrap_or(0);
    for column in &report.columns {
        out.push_str(&format!("{:<width$}  {}\n", column.column, standing(&column.summary)));
    }
    let rows = compared.inputs.iter().map(|it| {
        let delta = it.b.zip(it.a).map(|(b, a)| b - a);
        (it.input.as_str(), [(it.a, it.a_coverage), (it.b, it.b_coverage)], delta)
    });
    pairs_text(out, ["a", "b", "b - a"], &rows.collect::<Vec<_>>());
    let changed: Vec<_> = compared.expectations.iter().filter(|it| it.a.rate() != it.b.rate()).collect();
    if !changed.is_empty() {
        out.push('\n');
    }
    for it in changed {
        let must = if it.must { "!" } else { "" };
        out.push_str(&format!(
            "{}: {must}{}  {}/{} ({}) → {}/{} ({})  {} (p {:.3})\n",
            it.input,
            it.name,
            it.a.yes,
            it.a.of,
            range(it.a_interval),
            it.b.yes,
            it.b.of,
            range(it.b_interval),
            it.verdict.spoken(),
            it.p
        ));
    }
    for column in &report.columns {
        errors_text(out, report, &column.column);
    }
    out.push('\n');
}

fn errors_text(out: &mut String, report: &TestReport, column: &str) {
    for (cell, error) in errors(report, column) {
        out.push_str(&format!("\n{} #{} ({column}) error: {error}\n", cell.input, cell.sample + 1));
    }
}

/// Scores of inputs on two sides, each beside its coverage, and their difference.
fn pairs_text(out: &mut String, [a, b, delta]: [&str; 3], rows: &[PairedRow<'_>]) {
    let width = rows.iter().map(|(input, ..)| input.chars().count()).max().unwrap_or(0).max(5);
    out.push_str(&format!(
        "\n{:<width$}  {a:>7}  {:>8}  {b:>7}  {:>8}  {delta:>6}\n",
        "input", "coverage", "coverage"
    ));
    for (input, [(a, a_coverage), (b, b_coverage)], delta) in rows {
        let delta = delta.map(|delta| format!("{delta:+.2}")).unwrap_or_default();
        let (a_coverage, b_coverage) = (percent(*a_coverage), percent(*b_coverage));
        let (a, b) = (score(*a), score(*b));
        let line = format!("{input:<width$}  {a:>7}  {a_coverage:>8}  {b:>7}  {b_coverage:>8}  {delta:>6}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// An input, its score and coverage on both sides, and the difference.
type PairedRow<'a> = (&'a str, [(Option<f64>, f64); 2], Option<f64>);

fn lift_text(out: &mut String, report: &TestReport) {
    if let Some(baseline) = &report.baseline {
        out.push_str(&format!("\n{}: {}\n", baseline.column, standing(&baseline.summary)));
        errors_text(out, report, &baseline.column);
    }
    let Some(lift) = &report.lift else { return };
    out.push_str(&format!("{}\n", lift_line(lift)));
    let rows = lift.inputs.iter().map(|it| {
        (it.input.as_str(), [(it.with, it.with_coverage), (it.without, it.without_coverage)], it.delta)
    });
    pairs_text(out, ["with", "without", "lift"], &rows.collect::<Vec<_>>());
    out.push('\n');
    let mut has_idle = false;
    for it in idle(lift) {
        let (yes, of) = (it.with.yes, it.with.of);
        out.push_str(&format!(
            "{}: {} does not discriminate: {yes}/{of} with the persona, ",
            it.input, it.name
        ));
        out.push_str(&format!("{}/{} without\n", it.without.yes, it.without.of));
        has_idle = true;
    }
    if has_idle {
        out.push('\n');
    }
}
