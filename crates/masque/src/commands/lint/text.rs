//! Findings as text for people, by file or scope.

use persona::lint::Level;

use super::{Entry, Report};
use crate::failure::Result;
use crate::output::{Output, Style, clean, width_of};

pub(super) fn print(report: &Report, output: &mut Output) -> Result<()> {
    let together = |a: &Entry, b: &Entry| a.scope == b.scope && a.path == b.path;
    for group in report.entries.chunk_by(together) {
        output.heading(&heading(&group[0], report))?;
        // The places of a file stand in one column; the longest settles its width.
        let width = group.iter().filter_map(place).map(|place| width_of(&place)).max();
        group.iter().try_for_each(|entry| print_entry(entry, width, output))?;
        output.blank()?;
    }
    let style = if report.count(Level::Error) > 0 { Style::Bad } else { Style::Good };
    let line = output.styled(style, verdict(report));
    output.styled_line(&line)
}

fn place(entry: &Entry) -> Option<String> {
    Some(format!("{}:{}", entry.line?, entry.column?))
}

fn heading(entry: &Entry, report: &Report) -> String {
    let scope = entry.scope.map(|scope| scope.to_string());
    match (&entry.path, scope) {
        (Some(path), scope) => {
            let path = report.relative(path).unwrap_or(path).display();
            scope.map_or_else(|| path.to_string(), |scope| format!("{path} ({scope})"))
        }
        (None, scope) => scope.unwrap_or_default(),
    }
}

fn print_entry(entry: &Entry, width: Option<usize>, output: &mut Output) -> Result<()> {
    let Entry { level, rule, .. } = entry;
    let place = match width {
        Some(width) => {
            let place = place(entry).unwrap_or_default();
            output.styled(Style::Faint, format!("{place:<width$}  "))
        }
        None => String::new(),
    };
    let style = match level {
        Level::Error => Style::Bad,
        Level::Warning => Style::Title,
        Level::Note => Style::Faint,
    };
    let level = output.styled(style, format!("{level:<7}"));
    let sentence = entry.sentence();
    let rule = output.styled(Style::Faint, format!("[{rule}]"));
    output.styled_line(&format!("  {place}{level}  {} {rule}", clean(&sentence)))
}

fn verdict(report: &Report) -> String {
    let counted = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let counted = counted.into_iter().filter_map(|(level, word)| match report.count(level) {
        0 => None,
        1 => Some(format!("1 {word}")),
        count => Some(format!("{count} {word}s")),
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() { "Nothing is wrong.".to_owned() } else { counted.join(", ") }
}
