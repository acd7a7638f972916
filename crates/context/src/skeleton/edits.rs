//! Replacing parts of a source, and the white space around them.

use std::ops::Range;

/// A part of a source and the text in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) bytes: Range<usize>,
    pub(super) text: String,
    /// True if the text, unless empty, is a comment: it fills no block.
    pub(super) is_comment: bool,
}

impl Edit {
    pub(super) fn delete(bytes: Range<usize>) -> Self {
        Self { bytes, text: String::new(), is_comment: true }
    }
}

/// Sorts edits and drops those inside others.
pub(super) fn nest(edits: &mut Vec<Edit>) {
    edits.sort_by_key(|edit| (edit.bytes.start, std::cmp::Reverse(edit.bytes.end)));
    let mut end = 0;
    edits.retain(|edit| {
        let is_outside = edit.bytes.start >= end && !edit.bytes.is_empty();
        if is_outside {
            end = edit.bytes.end;
        }
        is_outside
    });
}

/// The edits inside a range, as a range of the list.
fn inside(edits: &[Edit], bytes: &Range<usize>) -> Range<usize> {
    let start = edits.partition_point(|edit| edit.bytes.start < bytes.start);
    let end = edits.partition_point(|edit| edit.bytes.start < bytes.end);
    start..end.max(start)
}

/// True if nothing but white space and comments of edits is left of a block.
pub(super) fn blank(source: &str, block: &Range<usize>, edits: &[Edit]) -> bool {
    let is_white = |bytes: Range<usize>| source.get(bytes).is_none_or(|text| text.trim().is_empty());
    let mut at = block.start;
    for edit in edits.get(inside(edits, block)).unwrap_or_default() {
        let is_comment = edit.is_comment || edit.text.is_empty();
        if !is_comment || !is_white(at..edit.bytes.start) {
            return false;
        }
        at = edit.bytes.end;
    }
    at >= block.end || is_white(at..block.end)
}

/// Puts one deletion in the place of all edits inside a range. Returns their comments on one line.
pub(super) fn replace(edits: &mut Vec<Edit>, bytes: Range<usize>) -> String {
    let inside = inside(edits, &bytes);
    let removed: Vec<Edit> = edits.splice(inside, [Edit::delete(bytes)]).collect();
    let comments: Vec<&str> =
        removed.iter().map(|edit| edit.text.as_str()).filter(|text| !text.is_empty()).collect();
    comments.join(" ")
}

/// Sets the text of the edit of a range, if there is one.
pub(super) fn set_text(edits: &mut [Edit], bytes: &Range<usize>, text: String) {
    let index = edits.partition_point(|edit| edit.bytes.start < bytes.start);
    if let Some(edit) = edits.get_mut(index).filter(|edit| edit.bytes == *bytes) {
        edit.text = text;
    }
}

/// The source after its edits. A line that an edit empties goes, and so do blank lines that then are too many.
pub(super) fn apply(source: &str, edits: &[Edit]) -> String {
    if edits.is_empty() {
        return source.to_owned();
    }
    let mut result = Lines::default();
    let mut at = 0;
    for edit in edits {
        result.keep(source.get(at..edit.bytes.start).unwrap_or_default());
        result.cut(&edit.text);
        at = edit.bytes.end;
    }
    result.keep(source.get(at..).unwrap_or_default());
    result.finish()
}

/// The text so far, whose last line is not at its end.
#[derive(Default)]
struct Lines {
    text: String,
    /// The start of the last line.
    line: usize,
    /// The end of the last edit, if it is on the last line.
    cut: Option<usize>,
    /// True if a line went since the last one with text.
    has_gap: bool,
}

impl Lines {
    fn keep(&mut self, source: &str) {
        if source.starts_with([';', ',', ')']) && self.cut == Some(self.text.len()) {
            self.trim_line();
        }
        for part in source.split_inclusive('\n') {
            let content = part.trim_end_matches(['\n', '\r']);
            self.text.push_str(content);
            if part.ends_with('\n') {
                self.end_line(part.get(content.len()..).unwrap_or("\n"));
            }
        }
    }

    fn cut(&mut self, text: &str) {
        self.text.push_str(text);
        self.cut = Some(self.text.len());
    }

    /// Removes white space at the end of the last line.
    fn trim_line(&mut self) {
        let length = self.last_line().trim_end().len();
        self.text.truncate(self.line + length);
    }

    fn last_line(&self) -> &str {
        self.text.get(self.line..).unwrap_or_default()
    }

    fn end_line(&mut self, ending: &str) {
        let cut = self.cut.take();
        if cut.and_then(|cut| self.text.get(cut..)).is_some_and(|after| after.trim().is_empty()) {
            self.trim_line();
        }
        let is_blank = self.last_line().trim().is_empty();
        let goes = is_blank && (cut.is_some() || self.has_gap && self.opens());
        if goes {
            self.text.truncate(self.line);
            self.has_gap = true;
            return;
        }
        if !is_blank {
            if self.has_gap && self.last_line().trim_start().starts_with(['}', ')', ']']) {
                self.drop_blank_lines();
            }
            self.has_gap = false;
        }
        self.text.push_str(ending);
        self.line = self.text.len();
    }

    /// True if a blank line here separates nothing.
    fn opens(&self) -> bool {
        let before = self.text.get(..self.line).unwrap_or_default();
        let last = before.lines().next_back().unwrap_or_default().trim_end();
        last.is_empty() || last.ends_with(['{', '(', '[', ':'])
    }

    /// Removes blank lines in front of the last line.
    fn drop_blank_lines(&mut self) {
        let before = self.text.get(..self.line).unwrap_or_default();
        let kept = before.trim_end().len();
        let end = before.get(kept..).and_then(|white| white.find('\n')).map_or(self.line, |at| kept + at + 1);
        self.text.replace_range(end..self.line, "");
        self.line = end;
    }

    fn finish(mut self) -> String {
        if self.cut.is_some() && self.last_line().trim().is_empty() {
            self.text.truncate(self.line);
            self.has_gap = true;
        }
        if self.has_gap && self.last_line().is_empty() {
            self.drop_blank_lines();
            if self.text.trim().is_empty() {
                self.text.clear();
            }
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deletes each stretch in angle brackets; one with `=TEXT` at its start becomes the text.
    #[track_caller]
    fn check(marked: &str, expected: &str) {
        let (mut source, mut edits) = (String::new(), Vec::new());
        for part in marked.split('<') {
            let Some((inside, after)) = part.split_once('>') else {
                source.push_str(part);
                continue;
            };
            let text = inside.strip_prefix('=').unwrap_or_default().to_owned();
            let start = source.len();
            source.push_str(inside);
            edits.push(Edit { bytes: start..source.len(), text, is_comment: false });
            source.push_str(after);
        }
        nest(&mut edits);
        assert_eq!(apply(&source, &edits), expected, "{marked}");
    }

    #[test]
    fn a_line_that_is_emptied_goes() {
        check("a\n<b>\nc\n", "a\nc\n");
        check("a\n  <b>  \nc\n", "a\nc\n");
        check("a\n  <b>, c\n", "a\n, c\n");
        check("a\n<b\nc>\nd", "a\nd");
        check("a <b>\nc\n", "a\nc\n");
        check("a <=x>\nc\n", "a =x\nc\n".replace('=', "").as_str());
        check("a <= 1>;\n", "a  1;\n");
        check("a <b>;\n", "a;\n");
        check("a\r\n<b>\r\nc\r\n", "a\r\nc\r\n");
        check("a\n<b>", "a\n");
        check("<a>\n\n<b>\n", "");
    }

    #[test]
    fn blank_lines_stay_where_they_separate() {
        check("a\n\n<b>\n\nc\n", "a\n\nc\n");
        check("a\n\n<b>\n\n<c>\n\nd\n", "a\n\nd\n");
        check("<a>\n\nb\n", "b\n");
        check("a {\n<b>\n\nc\n}\n", "a {\nc\n}\n");
        check("a {\nc\n\n<b>\n}\n", "a {\nc\n}\n");
        check("a\n\n<b>\n", "a\n");
        check("a\n\n\nb\n<c>\n", "a\n\n\nb\n");
    }

    #[test]
    fn an_edit_inside_another_is_dropped() {
        let edit = |bytes: Range<usize>, text: &str| Edit { bytes, text: text.to_owned(), is_comment: true };
        let mut edits = vec![edit(2..3, "x"), edit(1..4, ""), edit(5..6, "/* b */"), edit(7..8, "/* c */")];
        nest(&mut edits);
        assert_eq!(edits.len(), 3);
        assert!(blank("a123 b c d", &(5..8), &edits));
        assert!(!blank("a123 b c d", &(5..10), &edits));
        assert_eq!(replace(&mut edits, 5..8), "/* b */ /* c */");
        set_text(&mut edits, &(5..8), "e".to_owned());
        assert_eq!(apply("a123 b c d", &edits), "a e d");
    }
}
