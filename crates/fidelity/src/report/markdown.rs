//! Markdown for a pull request.

use std::fmt::Write as _;

use super::{
    because, errors, idle, lift_line, notes, percent, range, score, sides, spent, standing, state, unmet,
};
use crate::{Cell, CellState, Column, Comparison, TestReport, wilson};

/// Failed replies that are shown whole. The rest is in the JSON.
const SHOWN_REPLIES: usize = 20;

pub fn markdown(report: &TestReport) -> String {
    let mut out = String::new();
    match &report.comparison {
        Some(compared) => comparison(&mut out, report, compared),
        None => report.columns.iter().for_each(|column| section(&mut out, report, column)),
    }
    lift(&mut out, report);
    let _ = write!(out, "\n{}.\n", spent(report));
    notes(report).iter().for_each(|note| out.push_str(&format!("\n{}.\n", escaped(note))));
    out
}

fn section(out: &mut String, report: &TestReport, column: &Column) {
    let summary = &column.summary;
    let _ = write!(out, "### {} ({})\n\n", escaped(&report.persona), escaped(&column.column));
    let _ = writeln!(out, "**{}**.\n", standing(summary));
    out.push_str("| input | expectation | held | 95 % |\n|---|---|---|---|\n");
    for input in &summary.inputs {
        for it in &input.expectations {
            let name = if it.must { format!("**{}**", escaped(&it.name)) } else { escaped(&it.name) };
            let (input, held) = (escaped(&input.input), it.held);
            let _ =
                writeln!(out, "| {input} | {name} | {}/{} | {} |", held.yes, held.of, range(wilson(held)));
        }
    }
    if !summary.aspects.is_empty() {
        out.push_str("\n| aspect | held | 95 % |\n|---|---|---|\n");
    }
    for it in &summary.aspects {
        let (name, held) = (escaped(&it.aspect), it.held);
        let _ = writeln!(out, "| {name} | {}/{} | {} |", held.yes, held.of, range(wilson(held)));
    }
    let is_shown =
        |cell: &&Cell| matches!(cell.state, CellState::Failed | CellState::Unjudged | CellState::Error);
    report.of_column(&column.column).filter(is_shown).take(SHOWN_REPLIES).for_each(|cell| details(out, cell));
}

/// A cell that did not pass, folded.
fn details(out: &mut String, cell: &Cell) {
    let (input, sample, state) = (escaped(&cell.input), cell.sample + 1, state(cell));
    let _ = write!(out, "\n<details><summary>{input} #{sample} {state}</summary>\n\n");
    for result in unmet(cell) {
        let _ = writeln!(out, "- {}: {}", escaped(&result.name), escaped(&because(result)));
    }
    if let Some(error) = &cell.error {
        let _ = writeln!(out, "- {}", escaped(error));
    }
    if let Some(reply) = &cell.reply {
        let quoted: Vec<String> = reply.lines().map(|line| format!("> {}", escaped(line))).collect();
        let _ = write!(out, "\n{}\n", quoted.join("\n"));
    }
    out.push_str("\n</details>\n");
}

fn comparison(out: &mut String, report: &TestReport, compared: &Comparison) {
    let (a, b) = sides(report);
    let (persona, a, b) = (escaped(&report.persona), escaped(a), escaped(b));
    let _ = writeln!(
        out,
        "### {persona}: {b} against {a}: {}\n\n{}.",
        compared.verdict.spoken(),
        escaped(&compared.reason)
    );
    out.push_str("\n| version | |\n|---|---|\n");
    for column in &report.columns {
        let _ = writeln!(out, "| {} | {} |", escaped(&column.column), standing(&column.summary));
    }
    let rows = compared.inputs.iter().map(|it| {
        let delta = it.b.zip(it.a).map(|(b, a)| b - a);
        (it.input.as_str(), [(it.a, it.a_coverage), (it.b, it.b_coverage)], delta)
    });
    pairs(out, [&a, &b, "difference"], rows);
    let changed: Vec<_> = compared.expectations.iter().filter(|it| it.a.rate() != it.b.rate()).collect();
    if !changed.is_empty() {
        let _ = writeln!(
            out,
            "\n| input | expectation | {a} | 95 % | {b} | 95 % | |\n|---|---|---|---|---|---|---|"
        );
    }
    for it in changed {
        let name = if it.must { format!("**{}**", escaped(&it.name)) } else { escaped(&it.name) };
        let _ = writeln!(
            out,
            "| {} | {name} | {}/{} | {} | {}/{} | {} | {} (p {:.3}) |",
            escaped(&it.input),
            it.a.yes,
            it.a.of,
            range(it.a_interval),
            it.b.yes,
            it.b.of,
            range(it.b_interval),
            it.verdict.spoken(),
            it.p
        );
    }
    report.columns.iter().for_each(|column| failures(out, report, &column.column));
}

/// Scores of inputs on two sides, each beside its coverage, and their difference.
fn pairs<'a>(
    out: &mut String,
    [a, b, delta]: [&str; 3],
    rows: impl Iterator<Item = (&'a str, [(Option<f64>, f64); 2], Option<f64>)>,
) {
    let _ =
        writeln!(out, "\n| input | {a} | coverage | {b} | coverage | {delta} |\n|---|---|---|---|---|---|");
    for (input, [(a, a_coverage), (b, b_coverage)], delta) in rows {
        let delta = delta.map(|delta| format!("{delta:+.2}")).unwrap_or_default();
        let (input, a, b) = (escaped(input), score(a), score(b));
        let (a_coverage, b_coverage) = (percent(a_coverage), percent(b_coverage));
        let _ = writeln!(out, "| {input} | {a} | {a_coverage} | {b} | {b_coverage} | {delta} |");
    }
}

/// Cells that could not be run or judged.
fn failures(out: &mut String, report: &TestReport, column: &str) {
    for (at, (cell, error)) in errors(report, column).take(SHOWN_REPLIES).enumerate() {
        let (input, column) = (escaped(&cell.input), escaped(column));
        let before = if at == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{before}- {input} #{} ({column}) error: {}", cell.sample + 1, escaped(error));
    }
}

fn lift(out: &mut String, report: &TestReport) {
    if let Some(baseline) = &report.baseline {
        let _ = write!(out, "\n#### {}\n\n{}.\n", baseline.column, standing(&baseline.summary));
        failures(out, report, &baseline.column);
    }
    let Some(lift) = &report.lift else { return };
    let _ = write!(out, "\n**{}**.\n", escaped(&lift_line(lift)));
    let rows = lift.inputs.iter().map(|it| {
        (it.input.as_str(), [(it.with, it.with_coverage), (it.without, it.without_coverage)], it.delta)
    });
    pairs(out, ["with", "without", "lift"], rows);
    let names: Vec<String> =
        idle(lift).map(|it| format!("- {}: {}", escaped(&it.input), escaped(&it.name))).collect();
    if !names.is_empty() {
        let _ = write!(out, "\nExpectations that do not discriminate:\n\n{}\n", names.join("\n"));
    }
}

/// Text that stays text: no markup of a reply takes effect.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    out
}
