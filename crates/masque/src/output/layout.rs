//! Fitting text into columns.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The minimum width. Narrower text is unreadable.
const NARROWEST: usize = 20;
/// The maximum width of a paragraph.
const WIDEST_PARAGRAPH: usize = 100;

/// The width of the terminal. Without one, the value of COLUMNS, if set.
pub(super) fn terminal_width(terminal: bool) -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let measured = || {
        let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
        Some(usize::from(width.0))
    };
    let width = if terminal { measured().or(stated).or(Some(80)) } else { stated };
    width.filter(|width| *width > 0).map(|width| width.max(NARROWEST))
}

pub(crate) fn width_of(text: &str) -> usize {
    text.width()
}

/// Cuts a line to `width` columns, with an ellipsis.
pub(crate) fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut columns = 0;
    for c in text.chars() {
        columns += c.width().unwrap_or(0);
        if columns > width.saturating_sub(1) {
            break;
        }
        kept.push(c);
    }
    let mut kept = kept.trim_end().to_owned();
    kept.push('…');
    kept
}

/// Wraps the lines of a text at spaces. Continuation lines keep the indentation.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else {
        return text.lines().map(str::to_owned).collect();
    };
    let width = width.clamp(NARROWEST, WIDEST_PARAGRAPH);
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line.trim_end().to_owned()];
    }
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let indent = if indent.width() * 2 > width { String::new() } else { indent };
    let mut lines = Vec::new();
    let mut current = indent.clone();
    let mut empty = true;
    for word in line.split_whitespace() {
        if !empty && current.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut current, indent.clone()));
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        current.push_str(word);
        empty = false;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::{truncate, wrap};

    #[test]
    fn truncates_by_columns() {
        assert_eq!(truncate("short", 10), "short");
        assert_eq!(truncate("a longer text", 9), "a longer…");
        assert_eq!(truncate("日本語テキスト", 7), "日本語…");
    }

    #[test]
    fn wraps_at_spaces() {
        assert_eq!(wrap("one two\n\nthree", None), ["one two", "", "three"]);
        let text = "  - a list item that is rather long\nnext";
        assert_eq!(wrap(text, Some(24)), ["  - a list item that is", "  rather long", "next"]);
        let unbroken = "x".repeat(50);
        assert_eq!(wrap(&unbroken, Some(20)), [unbroken]);
    }
}
