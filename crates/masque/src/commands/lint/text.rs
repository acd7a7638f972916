//! Prints findings by file or scope.

use std::path::Path;

use app::outputs::{LintFinding, LintReport};
use persona::lint::Level;

use super::LintRun;
use crate::failure::Result;
use crate::output::{Output, Stream, Style, width_of};

pub(super) fn print(report: &LintRun, output: &mut Output) -> Result<()> {
    let together = |a: &LintFinding, b: &LintFinding| a.scope == b.scope && a.path == b.path;
    for group in report.found.findings.chunk_by(together) {
        output.heading(&heading(&group[0], report))?;
        print_group(group, Stream::Output, output)?;
        output.blank()?;
    }
    let style = if report.found.count(Level::Error) > 0 { Style::Bad } else { Style::Good };
    let line = output.styled(style, verdict(report));
    output.styled_line(&line)
}

/// Prints findings after an edit. Names files other than the scope's own.
pub(super) fn print_below(findings: &[LintFinding], own: Option<&Path>, output: &mut Output) -> Result<()> {
    for group in findings.chunk_by(|a, b| a.path == b.path) {
        if let Some(other) = group[0].path.as_deref().filter(|path| Some(*path) != own) {
            let below = own.and_then(Path::parent).and_then(|root| other.strip_prefix(root).ok());
            let shown = below.unwrap_or(other).display().to_string();
            output.pieces(Stream::Error, &[(Style::Plain, "  "), (Style::Plain, &shown)])?;
        }
        print_group(group, Stream::Error, output)?;
    }
    Ok(())
}

/// Prints the findings of one file or scope, a line each.
fn print_group(group: &[LintFinding], to: Stream, output: &mut Output) -> Result<()> {
    // All places are padded to the longest.
    let width = group.iter().filter_map(place).map(|place| width_of(&place)).max();
    group.iter().try_for_each(|found| print_finding(found, width, to, output))
}

fn place(found: &LintFinding) -> Option<String> {
    Some(format!("{}:{}", found.line?, found.column?))
}

fn heading(found: &LintFinding, report: &LintRun) -> String {
    let scope = found.scope.map(|scope| scope.to_string());
    match (&found.path, scope) {
        (Some(path), scope) => {
            let path = report.relative(path).unwrap_or(path).display();
            scope.map_or_else(|| path.to_string(), |scope| format!("{path} ({scope})"))
        }
        (None, scope) => scope.unwrap_or_default(),
    }
}

fn print_finding(found: &LintFinding, width: Option<usize>, to: Stream, output: &mut Output) -> Result<()> {
    let LintFinding { level, rule, .. } = found;
    let place = width.map(|width| format!("{:<width$}  ", place(found).unwrap_or_default()));
    let style = match level {
        Level::Error => Style::Bad,
        Level::Warning => Style::Title,
        Level::Note => Style::Faint,
    };
    let pieces = [
        (Style::Plain, "  ".to_owned()),
        (Style::Faint, place.unwrap_or_default()),
        (style, format!("{level:<7}")),
        (Style::Plain, format!("  {} ", found.sentence())),
        (Style::Faint, format!("[{rule}]")),
    ];
    let pieces: Vec<(Style, &str)> = pieces
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(style, text)| (*style, text.as_str()))
        .collect();
    output.pieces(to, &pieces)
}

fn verdict(report: &LintRun) -> String {
    let levels = [Level::Error, Level::Warning, Level::Note];
    count_text(levels.map(|level| (level, report.found.count(level))))
        .unwrap_or_else(|| nothing_wrong(report))
}

/// The verdict without findings: names what was checked.
fn nothing_wrong(report: &LintRun) -> String {
    let LintReport { scopes, entries, .. } = &report.found;
    let scopes = scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" and ");
    let without_files = if report.implied_shared { " (there is no personas.toml)" } else { "" };
    match entries {
        0 => format!("Nothing to check in {scopes}{without_files}."),
        1 => format!("No problems in 1 entry in {scopes}{without_files}."),
        entries => format!("No problems in {entries} entries in {scopes}{without_files}."),
    }
}

/// The number of findings of each level, such as "1 error, 2 warnings". None without findings.
pub(super) fn count_text(counts: impl IntoIterator<Item = (Level, usize)>) -> Option<String> {
    let count_text = counts.into_iter().filter_map(|(level, count)| match count {
        0 => None,
        1 => Some(format!("1 {level}")),
        count => Some(format!("{count} {level}s")),
    });
    Some(count_text.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use persona::lint::Level;

    use super::count_text;

    #[test]
    fn counts_have_plurals() {
        let text = |errors, warnings| count_text([(Level::Error, errors), (Level::Warning, warnings)]);
        assert_eq!(text(1, 2).as_deref(), Some("1 error, 2 warnings"));
        assert_eq!(text(0, 1).as_deref(), Some("1 warning"));
        assert_eq!(text(0, 0), None);
    }
}
