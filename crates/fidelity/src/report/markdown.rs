//! Markdown for a pull request.

use std::fmt::Write as _;

use super::{because, notes, percent, score, sides, spent, unmet};
use crate::{Cell, CellState, Column, Comparison, TestReport, wilson};

/// Failed replies that are shown whole. The rest is in the JSON.
const SHOWN_REPLIES: usize = 20;

pub fn markdown(report: &TestReport) -> String {
    let mut out = String::new();
    match &report.comparison {
        Some(compared) => comparison(&mut out, report, compared),
        None => report.columns.iter().for_each(|column| section(&mut out, report, column)),
    }
    let _ = write!(out, "\n{}.\n", spent(report));
    notes(report).iter().for_each(|note| out.push_str(&format!("\n{}.\n", escaped(note))));
    out
}

fn section(out: &mut String, report: &TestReport, column: &Column) {
    let summary = &column.summary;
    let _ = write!(out, "### {} ({})\n\n", escaped(&report.persona), escaped(&column.column));
    let _ = writeln!(
        out,
        "Score **{}**, coverage {}: {} passed, {} failed, {} unjudged, {} errors, {} unfinished.\n",
        score(summary.score),
        percent(summary.coverage),
        summary.cells.passed,
        summary.cells.failed,
        summary.cells.unjudged,
        summary.cells.error,
        summary.cells.unfinished + summary.cells.waiting,
    );
    out.push_str("| input | expectation | held | 95 % |\n|---|---|---|---|\n");
    for input in &summary.inputs {
        for it in &input.expectations {
            let (low, high) = wilson(it.held);
            let name = if it.must { format!("**{}**", escaped(&it.name)) } else { escaped(&it.name) };
            let (input, held, low, high) = (escaped(&input.input), it.held, percent(low), percent(high));
            let _ = writeln!(out, "| {input} | {name} | {}/{} | {low} to {high} |", held.yes, held.of);
        }
    }
    let is_shown = |cell: &&Cell| {
        let is_bad = matches!(cell.state, CellState::Failed | CellState::Unjudged | CellState::Error);
        is_bad && cell.column == column.column
    };
    report.cells.iter().filter(is_shown).take(SHOWN_REPLIES).for_each(|cell| details(out, cell));
}

/// A cell that did not pass, folded.
fn details(out: &mut String, cell: &Cell) {
    let (input, sample, state) = (escaped(&cell.input), cell.sample + 1, cell.state.as_str());
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
    let _ = writeln!(out, "\n| input | {a} | {b} |\n|---|---|---|");
    for input in &compared.inputs {
        let _ = writeln!(out, "| {} | {} | {} |", escaped(&input.input), score(input.a), score(input.b));
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
