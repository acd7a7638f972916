//! JUnit's XML, as CI systems read it.

use std::fmt::Write as _;

use super::{because, errors, idle, lift_line, percent, score, sides, standing, state, unmet};
use crate::{Cell, CellState, Column, Comparison, ComparisonVerdict, TestReport};

/// A run: one test case for each cell. A failure has the reason, the evidence and the reply; a cell
/// without a verdict is an error; an unfinished one is skipped, and so is one that failed by advisory
/// verdicts alone. A comparison is one case, with one more for each cell that could not be run: a
/// regression fails, and what cannot be told is skipped.
pub fn junit(report: &TestReport) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    match &report.comparison {
        Some(compared) => comparison(&mut xml, report, compared),
        None => report.columns.iter().for_each(|column| suite(&mut xml, report, column)),
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// How JUnit sees a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Passed,
    Failure,
    /// With the type of the error.
    Error(&'static str),
    Skipped,
}

impl Case {
    fn of(cell: &Cell) -> Self {
        match cell.state {
            CellState::Passed => Self::Passed,
            CellState::Failed | CellState::Unjudged if cell.advisory => Self::Skipped,
            CellState::Failed => Self::Failure,
            CellState::Unjudged => Self::Error("unjudged"),
            CellState::Error => Self::Error("error"),
            CellState::Waiting | CellState::Running | CellState::Unfinished => Self::Skipped,
        }
    }
}

fn suite(xml: &mut String, report: &TestReport, column: &Column) {
    let cells: Vec<&Cell> = report.of_column(&column.column).collect();
    let count = |wanted: fn(Case) -> bool| cells.iter().filter(|cell| wanted(Case::of(cell))).count();
    let failures = count(|case| case == Case::Failure);
    let mut errors_count = count(|case| matches!(case, Case::Error(_)));
    let skipped = count(|case| case == Case::Skipped);
    let mut tests = cells.len();
    let baseline = report.baseline.as_ref().map(|baseline| baseline.column.as_str());
    let lost: Vec<_> = baseline.into_iter().flat_map(|baseline| errors(report, baseline)).collect();
    (tests, errors_count) = (tests + lost.len(), errors_count + lost.len());
    let name = escaped(&format!("{} {}", report.persona, column.column));
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors_count}\" skipped=\"{skipped}\">"
    );
    properties(xml, report, column);
    for cell in cells {
        case(xml, report, cell);
    }
    lost.into_iter().for_each(|(cell, error)| error_case(xml, report, cell, error));
    xml.push_str("  </testsuite>\n");
}

/// The score and its coverage, aspects, and the lift.
fn properties(xml: &mut String, report: &TestReport, column: &Column) {
    let summary = &column.summary;
    let mut all =
        vec![("score".to_owned(), score(summary.score)), ("coverage".to_owned(), percent(summary.coverage))];
    let aspects = summary.aspects.iter();
    all.extend(
        aspects.map(|it| (format!("aspect {}", it.aspect), format!("{}/{}", it.held.yes, it.held.of))),
    );
    if let Some(baseline) = &report.baseline {
        all.push((baseline.column.clone(), standing(&baseline.summary)));
    }
    if let Some(lift) = &report.lift {
        all.push(("lift".to_owned(), lift_line(lift)));
        all.extend(
            idle(lift).map(|it| ("does not discriminate".to_owned(), format!("{}: {}", it.input, it.name))),
        );
    }
    xml.push_str("    <properties>\n");
    for (name, value) in all {
        let _ = writeln!(xml, "      <property name=\"{}\" value=\"{}\"/>", escaped(&name), escaped(&value));
    }
    xml.push_str("    </properties>\n");
}

fn case(xml: &mut String, report: &TestReport, cell: &Cell) {
    let name = escaped(&format!("{} #{}", cell.input, cell.sample + 1));
    let seconds = cell.ms as f64 / 1000.0;
    let open = format!(
        "    <testcase classname=\"{}\" name=\"{name}\" time=\"{seconds:.3}\"",
        escaped(&report.persona)
    );
    let unmet: Vec<String> = unmet(cell)
        .into_iter()
        .map(|result| {
            let aspect = result.aspect.as_ref().map(|aspect| format!("[{aspect}] ")).unwrap_or_default();
            format!("{aspect}{}: {}", result.name, because(result))
        })
        .collect();
    let first = unmet.first().cloned().or_else(|| cell.error.clone()).unwrap_or_default();
    let (element, kind) = match Case::of(cell) {
        Case::Passed => {
            let _ = writeln!(xml, "{open}/>");
            return;
        }
        Case::Failure => ("failure", "expectation"),
        Case::Error(kind) => ("error", kind),
        Case::Skipped => {
            let reason =
                if cell.advisory { format!("{}: {first}", state(cell)) } else { "unfinished".to_owned() };
            let message = escaped(cell.error.as_deref().unwrap_or(&reason));
            let _ = writeln!(xml, "{open}><skipped message=\"{message}\"/></testcase>");
            return;
        }
    };
    let mut body = unmet.join("\n");
    if let Some(error) = &cell.error {
        body.push_str(error);
    }
    if let Some(reply) = &cell.reply {
        body.push_str(&format!("\n\nReply:\n{reply}"));
    }
    let message = escaped(&first);
    let _ = writeln!(
        xml,
        "{open}>\n      <{element} type=\"{kind}\" message=\"{message}\">{}</{element}>\n    </testcase>",
        escaped(body.trim())
    );
}

/// A cell that could not be run, in a report that has no case for each cell.
fn error_case(xml: &mut String, report: &TestReport, cell: &Cell, error: &str) {
    let persona = escaped(&report.persona);
    let name = escaped(&format!("{} #{} ({})", cell.input, cell.sample + 1, cell.column));
    let error = escaped(error);
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{persona}\" name=\"{name}\">\n      <error type=\"error\" \
         message=\"{error}\"/>\n    </testcase>"
    );
}

fn comparison(xml: &mut String, report: &TestReport, compared: &Comparison) {
    let (a, b) = sides(report);
    let is_failure = compared.is_failure();
    let is_open = compared.verdict == ComparisonVerdict::CannotTell || compared.advisory;
    let (verdict, reason) = (compared.verdict.spoken(), escaped(&compared.reason));
    let advisory = if compared.advisory { ", advisory" } else { "" };
    let inner = match (is_failure, is_open) {
        (true, _) => format!("<failure type=\"regressed\" message=\"{reason}\"/>"),
        (_, true) => format!("<skipped message=\"{verdict}{advisory}: {reason}\"/>"),
        _ => format!("<system-out>{verdict}: {reason}</system-out>"),
    };
    let (persona, name) = (escaped(&report.persona), escaped(&format!("{b} against {a}")));
    let (failures, skipped) = (u8::from(is_failure), u8::from(is_open));
    let lost: Vec<_> = report.columns.iter().flat_map(|column| errors(report, &column.column)).collect();
    let (tests, count) = (1 + lost.len(), lost.len());
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{persona}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{count}\" skipped=\"{skipped}\">\n    \
         <properties>"
    );
    for column in &report.columns {
        let (name, value) = (escaped(&column.column), escaped(&standing(&column.summary)));
        let _ = writeln!(xml, "      <property name=\"{name}\" value=\"{value}\"/>");
    }
    let _ = writeln!(
        xml,
        "    </properties>\n    <testcase classname=\"{persona}\" name=\"{name}\">{inner}</testcase>"
    );
    lost.into_iter().for_each(|(cell, error)| error_case(xml, report, cell, error));
    xml.push_str("  </testsuite>\n");
}

/// Text for an attribute or an element. Characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
