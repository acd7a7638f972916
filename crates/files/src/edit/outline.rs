//! Maps a text to sections in one cheap pass.

use std::borrow::Cow;
use std::ops::Range;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{EventReceiver, RecursionGuard, parse_document};
use toml_parser::{ErrorSink, Source, Span};

use super::syntax::{DEPTH, Failed, decode_key};

/// A header and the lines below it, up to the next header.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// The offset of the header's opening bracket.
    pub(crate) open: usize,
    /// The end of the last value, or of the header itself. Only blanks and comments follow.
    pub(crate) content_end: usize,
    pub(crate) array: bool,
    /// The number of keys in the header. The first two name the entry of the section.
    pub(crate) keys: usize,
    first: Option<(Span, Option<Encoding>)>,
    second: Option<(Span, Option<Encoding>)>,
}

/// All headers of a text, in order.
#[derive(Debug)]
pub(crate) struct Outline<'t> {
    pub(crate) text: &'t str,
    pub(crate) sections: Vec<Section>,
    /// The end of the last value before the first header.
    root_end: usize,
}

impl<'t> Outline<'t> {
    /// `None` if the text is not well formed.
    pub(crate) fn new(text: &'t str) -> Option<Self> {
        let tokens = Source::new(text).lex().into_vec();
        let mut headers = Headers::default();
        let mut failed = Failed(false);
        parse_document(&tokens, &mut RecursionGuard::new(&mut headers, DEPTH), &mut failed);
        (!failed.0).then_some(Self { text, sections: headers.sections, root_end: headers.root_end })
    }

    /// The first key of a section's header, or the second.
    pub(crate) fn key(&self, section: &Section, index: usize) -> Option<Cow<'t, str>> {
        let (span, encoding) = (if index == 0 { section.first } else { section.second })?;
        decode_key(Source::new(self.text), span, encoding)
    }

    /// From the header to the next one.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let end = self.sections.get(index + 1).map_or(self.text.len(), |next| next.open);
        self.sections[index].open..end
    }

    /// The lines before the first header.
    pub(crate) fn root(&self) -> Range<usize> {
        0..self.sections.first().map_or(self.text.len(), |first| first.open)
    }

    /// The end of the content above a section: of the previous section, or of the root.
    fn content_end_above(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(self.root_end, |above| self.sections[above].content_end)
    }

    /// The start of a section, with the comment lines directly above its header.
    pub(crate) fn attached_start(&self, index: usize) -> usize {
        let floor = self.floor(index);
        comments_above(self.text, floor, line_start(self.text, self.sections[index].open))
    }

    /// The first line that does not belong to the content above a section.
    pub(crate) fn floor(&self, index: usize) -> usize {
        match self.content_end_above(index) {
            0 => {
                if self.text.starts_with('\u{feff}') {
                    3
                } else {
                    0
                }
            }
            end => line_end(self.text, end),
        }
    }

    /// The start of the next section with its comments, or the end of the text.
    pub(crate) fn next_start(&self, index: usize) -> usize {
        if index + 1 < self.sections.len() { self.attached_start(index + 1) } else { self.text.len() }
    }

    /// The end of a section, with the comment lines directly below its content.
    pub(crate) fn attached_end(&self, index: usize) -> usize {
        let ceiling = self.next_start(index);
        let mut end = line_end(self.text, self.sections[index].content_end).min(ceiling);
        while end < ceiling && is_comment(&self.text[end..line_end(self.text, end)]) {
            end = line_end(self.text, end);
        }
        end
    }
}

/// The comment lines directly above a line, no further up than `floor`.
pub(crate) fn comments_above(text: &str, floor: usize, line: usize) -> usize {
    let mut start = line;
    while start > floor {
        let above = line_start(text, start - 1).max(floor);
        let line = &text[above..start];
        if !is_comment(line) || is_directive(line) {
            break;
        }
        start = above;
    }
    start
}

/// The start of an offset's line. A byte order mark comes before the first line.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    match text[..offset].rfind('\n') {
        Some(at) => at + 1,
        None if offset >= 3 && text.starts_with('\u{feff}') => 3,
        None => 0,
    }
}

/// The start of the line after an offset's.
pub(crate) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |at| offset + at + 1)
}

fn is_comment(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('#')
}

/// True for a comment that tools read, such as `#:schema`, which is about the whole file.
fn is_directive(line: &str) -> bool {
    line.starts_with("#:")
}

pub(crate) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Collects headers only.
#[derive(Debug, Default)]
struct Headers {
    sections: Vec<Section>,
    in_header: bool,
    root_end: usize,
}

impl Headers {
    fn open(&mut self, span: Span, array: bool) {
        let (open, content_end) = (span.start(), span.end());
        self.sections.push(Section { open, content_end, array, keys: 0, first: None, second: None });
        self.in_header = true;
    }

    fn content(&mut self, span: Span) {
        match self.sections.last_mut() {
            Some(section) => section.content_end = span.end(),
            None => self.root_end = span.end(),
        }
    }
}

impl EventReceiver for Headers {
    fn std_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.open(span, false);
    }

    fn array_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.open(span, true);
    }

    fn std_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.in_header = false;
        self.content(span);
    }

    fn array_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.in_header = false;
        self.content(span);
    }

    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        let Some(section) = self.sections.last_mut().filter(|_| self.in_header) else { return };
        match section.keys {
            0 => section.first = Some((span, encoding)),
            1 => section.second = Some((span, encoding)),
            _ => {}
        }
        section.keys += 1;
    }

    fn scalar(&mut self, span: Span, _: Option<Encoding>, _: &mut dyn ErrorSink) {
        self.content(span);
    }

    fn array_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.content(span);
    }

    fn inline_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.content(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_belong_to_what_they_touch() {
        let text = "\u{feff}# head\n\n# on a\n[personas.a]\nx = \"\"\"\n# not a comment\n\"\"\" # tail\n# end of a\n\n# alone\n\n  # on b\n[ personas . \"b\" ]\n";
        let outline = Outline::new(text).expect("well formed");
        let starts: Vec<&str> =
            (0..2).map(|index| &text[outline.attached_start(index)..outline.sections[index].open]).collect();
        assert_eq!(starts, ["# on a\n", "  # on b\n"]);
        let end = &text[outline.sections[0].content_end..outline.attached_end(0)];
        assert_eq!(end, " # tail\n# end of a\n");
        assert_eq!(outline.key(&outline.sections[1], 1).as_deref(), Some("b"));
        assert_eq!(outline.attached_end(1), text.len());
    }
}
