//! Authors' texts, made to fit into one markdown document without breaking out of their place.

/// Line ends are made uniform; blanks behind lines, and blank lines around the text or beyond one
/// in a row, go, except inside code fences, where they may matter. A fence that was left open is
/// closed, because it would swallow whatever follows the text.
pub(super) fn clean(text: &str) -> String {
    clean_all(&[text]).concat()
}

/// Cleans texts that follow each other, a blank line apart, as if they were one: a fence may be open
/// from one to the next. None of them may be blank if there are several.
pub(super) fn clean_all(texts: &[&str]) -> Vec<String> {
    let texts: Vec<String> =
        texts.iter().map(|text| text.replace("\r\n", "\n").replace('\r', "\n")).collect();
    let mut fence = Fence::default();
    let mut cleaned: Vec<String> = Vec::with_capacity(texts.len());
    for text in &texts {
        let mut lines: Vec<&str> = Vec::new();
        for line in text.trim_end().lines() {
            if fence.inside(line) {
                lines.push(line);
            } else if !(line.trim().is_empty() && lines.last().is_none_or(|last| last.is_empty())) {
                lines.push(line.trim_end());
            }
        }
        cleaned.push(lines.join("\n"));
    }
    if let (Some(opening), Some(last)) = (fence.opening, cleaned.last_mut()) {
        last.push('\n');
        last.push_str(opening);
    }
    cleaned
}

/// Shifts a text's own headings so that the highest is at `top`: an author's "# Steps" must not
/// break out of the section that the text is put into.
pub(super) fn lower_headings(text: &str, top: usize) -> String {
    let mut fence = Fence::default();
    let headings: Vec<Option<Heading<'_>>> =
        text.lines().map(|line| if fence.inside(line) { None } else { Heading::read(line) }).collect();
    let Some(highest) = headings.iter().flatten().map(|heading| heading.level).min() else {
        return text.to_owned();
    };
    let shift = top.saturating_sub(highest);
    let lines = text.lines().zip(headings).map(|(line, heading)| match heading {
        Some(Heading { level, title }) => format!("{}{title}", "#".repeat((level + shift).min(6))),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// An item of a list: its label, and its text behind it.
pub(super) fn item(label: &str, text: &str) -> String {
    let mut item = format!("- {label}");
    if text.is_empty() {
        return item;
    }
    item.push(':');
    for (number, line) in lower_headings(text, 3).lines().enumerate() {
        // A list or a fence that began behind the label would be none.
        let (before, line) = match number {
            0 if !opens_block(line) => (" ", line.trim_start()),
            _ if line.is_empty() => ("\n", ""),
            _ => ("\n  ", line),
        };
        item.push_str(before);
        item.push_str(line);
    }
    item
}

/// True if a line opens a block: a heading, a list, a quotation, a table or a fence.
fn opens_block(line: &str) -> bool {
    let line = line.trim_start();
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_digits.len() < line.len() && after_digits.starts_with([')', '.']);
    let bullet = line.starts_with(['-', '*', '+']) && line[1..].starts_with([' ', '\t']);
    let ordered = numbered && after_digits[1..].starts_with([' ', '\t']);
    bullet || ordered || line.starts_with(['>', '|', '#']) || fence_marks(line).is_some()
}

/// A line that is a heading: up to three blanks, its hashes, and what follows them.
struct Heading<'a> {
    level: usize,
    title: &'a str,
}

impl<'a> Heading<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let hashes = line.trim_start_matches(' ');
        let title = hashes.trim_start_matches('#');
        let level = hashes.len() - title.len();
        let is_placed =
            line.len() - hashes.len() <= 3 && (title.is_empty() || title.starts_with([' ', '\t']));
        ((1..=6).contains(&level) && is_placed).then_some(Self { level, title })
    }
}

/// Follows code fences from line to line.
#[derive(Default)]
struct Fence<'a> {
    /// The indentation and marks of the fence that is open.
    opening: Option<&'a str>,
}

impl<'a> Fence<'a> {
    /// True if the line belongs to a fenced block, its fences included.
    fn inside(&mut self, line: &'a str) -> bool {
        match (self.opening, fence_marks(line)) {
            // A line with further backticks is code within a sentence.
            (None, Some((marks, rest))) if !(marks.ends_with('`') && rest.contains('`')) => {
                self.opening = Some(marks);
                true
            }
            (None, _) => false,
            (Some(opening), Some((marks, rest))) => {
                if rest.trim().is_empty() && marks.trim_start().starts_with(opening.trim_start()) {
                    self.opening = None;
                }
                true
            }
            (Some(_), None) => true,
        }
    }
}

/// The indentation and marks of a line that could open or close a fence, and what follows them.
fn fence_marks(line: &str) -> Option<(&str, &str)> {
    let body = line.trim_start();
    let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = body.trim_start_matches(mark);
    (body.len() - rest.len() >= 3).then(|| line.split_at(line.len() - rest.len()))
}

#[cfg(test)]
mod tests;
