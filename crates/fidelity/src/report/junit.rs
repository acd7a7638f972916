//! JUnit's XML, as CI systems read it.

use std::fmt::Write as _;

use super::{because, sides, unmet};
use crate::{Cell, CellState, Column, Comparison, ComparisonVerdict, TestReport};

/// A run: one test case for each cell. A failure has the reason, the evidence and the reply; a cell
/// without a verdict is an error; an unfinished one is skipped. A comparison is one more case: a
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

fn suite(xml: &mut String, report: &TestReport, column: &Column) {
    let counts = column.summary.cells;
    let cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.column == column.column).collect();
    let (errors, skipped) =
        (counts.error + counts.unjudged, counts.unfinished + counts.waiting + counts.running);
    let name = escaped(&format!("{} {}", report.persona, column.column));
    let (tests, failures) = (cells.len(), counts.failed);
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">"
    );
    for cell in cells {
        case(xml, report, cell);
    }
    xml.push_str("  </testsuite>\n");
}

fn case(xml: &mut String, report: &TestReport, cell: &Cell) {
    let name = escaped(&format!("{} #{}", cell.input, cell.sample + 1));
    let seconds = cell.ms as f64 / 1000.0;
    let open = format!(
        "    <testcase classname=\"{}\" name=\"{name}\" time=\"{seconds:.3}\"",
        escaped(&report.persona)
    );
    let unmet: Vec<String> =
        unmet(cell).map(|result| format!("{}: {}", result.name, because(result))).collect();
    let first = unmet.first().cloned().or_else(|| cell.error.clone()).unwrap_or_default();
    let mut body = unmet.join("\n");
    if let Some(error) = &cell.error {
        body.push_str(error);
    }
    if let Some(reply) = &cell.reply {
        body.push_str(&format!("\n\nReply:\n{reply}"));
    }
    let (element, kind) = match cell.state {
        CellState::Passed => {
            let _ = writeln!(xml, "{open}/>");
            return;
        }
        CellState::Failed => ("failure", "expectation"),
        CellState::Unjudged => ("error", "unjudged"),
        CellState::Error => ("error", "error"),
        CellState::Waiting | CellState::Running | CellState::Unfinished => {
            let message = escaped(cell.error.as_deref().unwrap_or("unfinished"));
            let _ = writeln!(xml, "{open}><skipped message=\"{message}\"/></testcase>");
            return;
        }
    };
    let message = escaped(&first);
    let _ = writeln!(
        xml,
        "{open}>\n      <{element} type=\"{kind}\" message=\"{message}\">{}</{element}>\n    </testcase>",
        escaped(body.trim())
    );
}

fn comparison(xml: &mut String, report: &TestReport, compared: &Comparison) {
    let (a, b) = sides(report);
    let is_regressed = compared.verdict == ComparisonVerdict::Regressed;
    let is_open = compared.verdict == ComparisonVerdict::CannotTell;
    let reason = escaped(&compared.reason);
    let inner = match (is_regressed, is_open) {
        (true, _) => format!("<failure type=\"regressed\" message=\"{reason}\"/>"),
        (_, true) => format!("<skipped message=\"cannot tell: {reason}\"/>"),
        _ => format!("<system-out>{}: {reason}</system-out>", compared.verdict.spoken()),
    };
    let (persona, name) = (escaped(&report.persona), escaped(&format!("{b} against {a}")));
    let (failures, skipped) = (u8::from(is_regressed), u8::from(is_open));
    let _ = write!(
        xml,
        "  <testsuite name=\"{persona}\" tests=\"1\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n    \
         <testcase classname=\"{persona}\" name=\"{name}\">{inner}</testcase>\n  </testsuite>\n"
    );
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
