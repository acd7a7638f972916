//! Tables that fit the terminal: optional columns are dropped first, then one column is cut.

use super::{Output, Style, truncate, width_of};
use crate::failure::Result;

/// The gap between two columns.
const GAP: usize = 2;
/// If the stretched column has less room than this, optional columns are dropped.
const LEAST_STRETCH: usize = 56;
/// A kept column is cut to this, if the stretched column has less room than it wants.
const MOST_KEPT: usize = 24;

/// The behavior of a column on a narrow terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Always shown in full.
    Fixed(&'static str),
    /// Dropped if there is no room, the rightmost first.
    Optional(&'static str),
    /// Cut if there is no room, but never dropped.
    Kept(&'static str),
    /// Takes the remaining room, and is cut to it.
    Stretched(&'static str),
}

impl Column {
    fn header(self) -> &'static str {
        match self {
            Self::Fixed(header) | Self::Optional(header) | Self::Kept(header) | Self::Stretched(header) => {
                header
            }
        }
    }
}

/// A table. The first page sets the widths, so that later pages line up.
#[derive(Debug)]
pub(crate) struct Table {
    /// Number and width of each shown column.
    shown: Vec<(usize, usize)>,
    columns: Vec<Column>,
    total: Option<usize>,
}

impl Table {
    pub(crate) fn fitted(columns: &[Column], rows: &[Vec<String>], total: Option<usize>) -> Self {
        let widest = |at: usize| rows.iter().map(|row| width_of(&row[at])).max().unwrap_or(0);
        let mut shown: Vec<(usize, usize)> = columns
            .iter()
            .enumerate()
            // A column without values is left out.
            .filter(|(at, column)| {
                !matches!(column, Column::Optional(_) | Column::Kept(_)) || widest(*at) > 0
            })
            .map(|(at, column)| (at, widest(at).max(width_of(column.header()))))
            .collect();
        if let Some(total) = total {
            while let Some(at) = to_drop(columns, &shown, total) {
                shown.remove(at);
            }
            if is_tight(columns, &shown, total) {
                for (at, width) in &mut shown {
                    if matches!(columns[*at], Column::Kept(_)) {
                        *width = MOST_KEPT.min(*width);
                    }
                }
            }
            let rest = room_left(columns, &shown, total);
            for (at, width) in &mut shown {
                if matches!(columns[*at], Column::Stretched(_)) {
                    *width = rest.min(*width);
                }
            }
        }
        Self { shown, columns: columns.to_vec(), total }
    }

    pub(crate) fn header(&self, output: &mut Output) -> Result<()> {
        let headers: Vec<String> = self.columns.iter().map(|column| column.header().to_owned()).collect();
        let line = output.styled(Style::Faint, self.line(&headers, |_, cell| cell));
        output.styled_line(&line)
    }

    pub(crate) fn row(&self, output: &mut Output, cells: &[String]) -> Result<()> {
        self.styled_row(output, cells, &[(0, Style::Name)])
    }

    /// Writes a row with a style for some of its columns.
    pub(crate) fn styled_row(
        &self,
        output: &mut Output,
        cells: &[String],
        styles: &[(usize, Style)],
    ) -> Result<()> {
        let style_of = |at: usize| styles.iter().find(|(column, _)| *column == at).map(|(_, style)| *style);
        let line = self.line(cells, |at, cell| match style_of(at) {
            Some(style) => output.styled(style, cell),
            None => cell,
        });
        output.styled_line(&line)
    }

    fn line(&self, cells: &[String], style: impl Fn(usize, String) -> String) -> String {
        let mut line = String::new();
        let mut used = 0;
        for (position, (at, width)) in self.shown.iter().enumerate() {
            let last = position + 1 == self.shown.len();
            if self.total.is_some_and(|total| used >= total) {
                break;
            }
            // The first column is cut last.
            let room = self.total.map_or(usize::MAX, |total| total - used);
            let width = if self.total.is_none() && last { usize::MAX } else { (*width).min(room) };
            let cell = truncate(&cells[*at], width);
            let padding = if last { 0 } else { width.saturating_sub(width_of(&cell)) + GAP };
            used += width_of(&cell) + padding;
            line.push_str(&style(*at, cell));
            line.push_str(&" ".repeat(padding));
        }
        line.trim_end().to_owned()
    }
}

/// Room for the stretched column.
fn room_left(columns: &[Column], shown: &[(usize, usize)], total: usize) -> usize {
    let gaps = GAP * shown.len().saturating_sub(1);
    let others = shown.iter().filter(|(at, _)| !matches!(columns[*at], Column::Stretched(_)));
    total.saturating_sub(gaps + others.map(|(_, width)| width).sum::<usize>())
}

/// True if the stretched column has less room than it wants.
fn is_tight(columns: &[Column], shown: &[(usize, usize)], total: usize) -> bool {
    let stretched = shown.iter().find(|(at, _)| matches!(columns[*at], Column::Stretched(_)));
    let wanted = stretched.map_or(0, |(_, width)| (*width).min(LEAST_STRETCH));
    room_left(columns, shown, total) < wanted
}

/// The position of the next column to drop. None if the stretched column has enough room.
fn to_drop(columns: &[Column], shown: &[(usize, usize)], total: usize) -> Option<usize> {
    if !is_tight(columns, shown, total) {
        return None;
    }
    shown.iter().rposition(|(at, _)| matches!(columns[*at], Column::Optional(_)))
}

#[cfg(test)]
mod tests {
    use super::{Column, Table};

    const COLUMNS: [Column; 4] = [
        Column::Fixed("NAME"),
        Column::Optional("TYPE"),
        Column::Stretched("SUMMARY"),
        Column::Optional("TAGS"),
    ];

    fn lines(total: Option<usize>) -> Vec<String> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["calm-tone", "tone", "You speak slowly and leave room.", "people, work"]),
            row(["x", "soul", "Short.", ""]),
        ];
        let table = Table::fitted(&COLUMNS, &rows, total);
        rows.iter().map(|row| table.line(row, |_, cell| cell)).collect()
    }

    #[test]
    fn a_kept_column_is_cut_and_never_dropped() {
        let columns = [Column::Fixed("REVISION"), Column::Stretched("WHY"), Column::Kept("TAGS")];
        let row = |tags: &str| {
            vec![
                "3".to_owned(),
                "The words of the house are shorter now, and fewer.".to_owned(),
                tags.to_owned(),
            ]
        };
        let line = |tags: &str, total| {
            let table = Table::fitted(&columns, &[row(tags)], Some(total));
            table.line(&row(tags), |_, cell| cell)
        };
        assert!(line("production", 60).ends_with("shorter no…  production"), "{}", line("production", 60));
        let long = line("production (tester: the one that passed every check)", 100);
        assert!(long.ends_with("and fewer.  production (tester: the…"), "{long}");
        assert!(!line("", 60).contains("TAGS"));
        for total in 5..120 {
            assert!(super::width_of(&line("production (tester)", total)) <= total);
        }
    }

    #[test]
    fn fits_every_width() {
        assert_eq!(
            lines(None),
            ["calm-tone  tone  You speak slowly and leave room.  people, work", "x          soul  Short.",]
        );
        assert_eq!(lines(Some(56))[0], "calm-tone  tone  You speak slowly and leave room.");
        assert_eq!(lines(Some(45))[0], "calm-tone  You speak slowly and leave room.");
        assert_eq!(lines(Some(36))[0], "calm-tone  You speak slowly and lea…");
        for total in 5..80 {
            for line in lines(Some(total)) {
                assert!(super::width_of(&line) <= total, "{total}: {line:?}");
            }
        }
    }
}
