//! Tables that fit the terminal: the least useful columns go first, then one column is cut.

use super::{Output, Style, truncate, width_of};
use crate::failure::Result;

/// The gap between two columns.
const GAP: usize = 2;
/// Below this the column that stretches is worth less than a neighbour that can be dropped.
const LEAST_STRETCH: usize = 56;

/// How a column gives way when the terminal is narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Always shown whole.
    Fixed(&'static str),
    /// Dropped where there is no room for it, the rightmost first.
    Optional(&'static str),
    /// Takes what is left, and is cut there.
    Stretched(&'static str),
}

impl Column {
    fn header(self) -> &'static str {
        match self {
            Self::Fixed(header) | Self::Optional(header) | Self::Stretched(header) => header,
        }
    }
}

/// Widths are settled by the rows that are known at first, so that later pages can follow below.
#[derive(Debug)]
pub(crate) struct Table {
    /// Column number and width of what is shown.
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
            // A column without a single value only takes room.
            .filter(|(at, column)| !matches!(column, Column::Optional(_)) || widest(*at) > 0)
            .map(|(at, column)| (at, widest(at).max(width_of(column.header()))))
            .collect();
        if let Some(total) = total {
            while let Some(at) = to_drop(columns, &shown, total) {
                shown.remove(at);
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
        let line = self.line(cells, |at, cell| if at == 0 { output.styled(Style::Name, cell) } else { cell });
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
            // The first column is cut only where nothing else is left to give way.
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

/// Columns that are left for the one that stretches.
fn room_left(columns: &[Column], shown: &[(usize, usize)], total: usize) -> usize {
    let gaps = GAP * shown.len().saturating_sub(1);
    let others = shown.iter().filter(|(at, _)| !matches!(columns[*at], Column::Stretched(_)));
    total.saturating_sub(gaps + others.map(|(_, width)| width).sum::<usize>())
}

/// The place of the next column to drop, while what stretches has too little room.
fn to_drop(columns: &[Column], shown: &[(usize, usize)], total: usize) -> Option<usize> {
    let stretched = shown.iter().find(|(at, _)| matches!(columns[*at], Column::Stretched(_)));
    let wanted = stretched.map_or(0, |(_, width)| (*width).min(LEAST_STRETCH));
    if room_left(columns, shown, total) >= wanted {
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
