//! Streaming Markdown: styles text word by word and never rewrites it.
//!
//! Styles headings, lists, quotes, code, bold and italic. Without color, the Markdown marks stay and
//! lines are only wrapped.

use unicode_width::UnicodeWidthChar as _;

use crate::output::clean;

/// On a narrower terminal, lines are not wrapped.
const NARROWEST: usize = 20;
/// The maximum width of a line.
const WIDEST: usize = 100;
/// Maximum characters that are buffered to recognize the start of a line.
const LEAD: usize = 16;

const BOLD: u8 = 1;
const ITALIC: u8 = 2;
const CODE: u8 = 4;
const FAINT: u8 = 8;

/// The kind of the current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Not known yet; the start is buffered.
    Undecided,
    /// Text, wrapped at words.
    Words,
    /// A line of a code block or a table, unchanged.
    Exact,
}

#[derive(Debug)]
pub(crate) struct Markdown {
    color: bool,
    width: Option<usize>,
    line: Line,
    /// The buffered start of an undecided line, or a whole fence.
    lead: String,
    /// The fence that closes the current code block.
    fence: Option<(char, usize)>,
    /// The current word, with the style of each character.
    word: Vec<(char, u8)>,
    /// Spaces before the word.
    spaces: usize,
    column: usize,
    indent: usize,
    style: u8,
    /// The style of the whole line, such as a heading.
    line_style: u8,
    /// Number of backticks that opened inline code.
    ticks: usize,
    /// A run of stars or backticks that may continue.
    marks: Option<(char, usize)>,
    /// The character before the run, within the line.
    before: char,
    written: u8,
    out: String,
}

impl Markdown {
    /// Wraps to a width. Without one, lines are not wrapped.
    pub(crate) fn new(color: bool, width: Option<usize>) -> Self {
        Self {
            color,
            width: width.filter(|width| *width >= NARROWEST).map(|width| (width - 1).min(WIDEST)),
            line: Line::Undecided,
            lead: String::new(),
            fence: None,
            word: Vec::new(),
            spaces: 0,
            column: 0,
            indent: 0,
            style: 0,
            line_style: 0,
            ticks: 0,
            marks: None,
            before: ' ',
            written: 0,
            out: String::new(),
        }
    }

    /// Adds text. Returns the output that is ready.
    pub(crate) fn push(&mut self, text: &str) -> String {
        for c in clean(text).chars() {
            self.character(c);
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the text. Returns the buffered output and a line break.
    pub(crate) fn finish(&mut self) -> String {
        if self.column > 0 || !self.lead.is_empty() || !self.word.is_empty() || self.marks.is_some() {
            self.character('\n');
        }
        self.fence = None;
        std::mem::take(&mut self.out)
    }

    /// True if the last line is not ended.
    pub(crate) fn is_in_line(&self) -> bool {
        self.column > 0
    }

    /// Renders a complete text.
    pub(crate) fn render(color: bool, width: Option<usize>, text: &str) -> String {
        let mut markdown = Self::new(color, width);
        let mut shown = markdown.push(text);
        shown.push_str(&markdown.finish());
        shown
    }

    fn character(&mut self, c: char) {
        match (self.line, c) {
            (Line::Undecided, '\n') => {
                self.decide(true);
                self.end_line();
            }
            (Line::Undecided, c) => {
                self.lead.push(c);
                self.decide(false);
            }
            (Line::Words | Line::Exact, '\n') => self.end_line(),
            (Line::Exact, c) => self.exact(c),
            (Line::Words, c) => self.inline(c),
        }
    }

    /// Decides the kind of a line from its start. `whole` means that the line is complete.
    fn decide(&mut self, whole: bool) {
        let lead = std::mem::take(&mut self.lead);
        let trimmed = lead.trim_start();
        let indent = lead.len() - trimmed.len();
        if let Some(fence) = self.fence {
            let (mark, count) = fence;
            let ends = run_of(trimmed) == Some((mark, trimmed.trim_end().len()))
                && trimmed.trim_end().len() >= count;
            // Only a line of marks closes the block.
            if whole && ends {
                self.fence = None;
                return self.line_as(FAINT, &lead);
            }
            if !whole && trimmed.chars().all(|c| c == mark) && lead.len() < LEAD {
                self.lead = lead;
                return;
            }
            return self.begin(Line::Exact, CODE, "", &lead);
        }
        if !whole && is_open(trimmed) && lead.chars().count() < LEAD {
            self.lead = lead;
            return;
        }
        match run_of(trimmed) {
            Some((mark @ ('`' | '~'), count)) if count >= 3 => {
                if !whole {
                    self.lead = lead;
                    return;
                }
                self.fence = Some((mark, count));
                return self.line_as(FAINT, &lead);
            }
            Some((_, count)) if whole && count >= 3 && count == trimmed.trim_end().len() => {
                let rule = if self.color { "─".repeat(self.width.unwrap_or(WIDEST).min(40)) } else { lead };
                return self.line_as(FAINT, &rule);
            }
            _ => {}
        }
        if trimmed.starts_with('|') || indent >= 8 {
            return self.begin(Line::Exact, 0, "", &lead);
        }
        self.words(&lead, trimmed, indent);
    }

    fn words(&mut self, lead: &str, trimmed: &str, indent: usize) {
        let space = " ".repeat(indent);
        let level = trimmed.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
            let shown = if self.color { String::new() } else { format!("{} ", "#".repeat(level)) };
            return self.begin(Line::Words, BOLD, &shown, trimmed[level..].trim_start());
        }
        if let Some(rest) = trimmed.strip_prefix("> ") {
            let mark = if self.color { "│ " } else { "> " };
            return self.begin(Line::Words, FAINT, &format!("{space}{mark}"), rest);
        }
        if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|mark| trimmed.strip_prefix(mark)) {
            let mark = if self.color { "•" } else { &trimmed[..1] };
            return self.begin(Line::Words, 0, &format!("{space}{mark} "), rest);
        }
        let digits = trimmed.chars().take_while(char::is_ascii_digit).count();
        if digits > 0 && (trimmed[digits..].starts_with(". ") || trimmed[digits..].starts_with(") ")) {
            let (mark, rest) = trimmed.split_at(digits + 2);
            return self.begin(Line::Words, 0, &format!("{space}{mark}"), rest);
        }
        self.begin(Line::Words, 0, &space, lead.trim_start());
    }

    /// Starts a line of a known kind: writes its mark and the buffered text.
    fn begin(&mut self, line: Line, style: u8, mark: &str, rest: &str) {
        self.line = line;
        self.line_style = style;
        self.before = ' ';
        let mark_style = if style == BOLD { BOLD } else { style & FAINT };
        for c in mark.chars() {
            self.put(c, mark_style);
        }
        self.indent = self.column;
        for c in rest.chars() {
            match line {
                Line::Exact => self.exact(c),
                _ => self.inline(c),
            }
        }
    }

    /// Starts an exact line.
    fn line_as(&mut self, style: u8, text: &str) {
        self.begin(Line::Exact, style, "", text);
    }

    fn exact(&mut self, c: char) {
        self.put(c, self.line_style);
    }

    fn inline(&mut self, c: char) {
        if let Some((mark, count)) = self.marks {
            if c == mark {
                self.marks = Some((mark, count + 1));
                return;
            }
            self.marks = None;
            self.marked(mark, count, c);
        }
        match c {
            '`' => self.marks = Some((c, 1)),
            '*' if self.ticks == 0 => self.marks = Some((c, 1)),
            ' ' | '\t' => {
                self.end_word();
                self.spaces += 1;
                self.before = ' ';
            }
            c => {
                self.word.push((c, self.style | self.line_style));
                self.before = c;
            }
        }
    }

    /// Applies a complete run of marks, or writes it as text.
    fn marked(&mut self, mark: char, count: usize, next: char) {
        let bit = match (mark, count) {
            ('`', _) if self.ticks == 0 || self.ticks == count => CODE,
            ('*', 1) => ITALIC,
            ('*', 2) => BOLD,
            ('*', 3) => BOLD | ITALIC,
            _ => 0,
        };
        let is_on = bit != 0 && self.style & bit == bit;
        let fits = match mark {
            '`' => true,
            // An opening mark precedes a word, a closing mark follows one.
            _ if is_on => !self.before.is_whitespace(),
            _ => !next.is_whitespace() && !self.before.is_alphanumeric(),
        };
        if bit == 0 || !fits || !self.color {
            let style = self.style | self.line_style;
            self.word.extend(std::iter::repeat_n((mark, style), count));
            self.before = mark;
        }
        if bit != 0 && fits {
            self.style ^= bit;
            if bit == CODE {
                self.ticks = if self.ticks == 0 { count } else { 0 };
            }
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let columns: usize = word.iter().map(|(c, _)| c.width().unwrap_or(0)).sum();
        let fits = self.width.is_none_or(|width| self.column + self.spaces + columns <= width);
        if !fits && self.column > self.indent {
            self.style_as(0);
            self.out.push('\n');
            self.column = 0;
            // Continuation lines keep the indentation, unless it is too wide.
            let indent =
                if self.width.is_some_and(|width| self.indent * 2 > width) { 0 } else { self.indent };
            (0..indent).for_each(|_| self.put(' ', 0));
        } else {
            (0..self.spaces).for_each(|_| self.put(' ', 0));
        }
        self.spaces = 0;
        for (c, style) in word {
            self.put(c, style);
        }
    }

    fn end_line(&mut self) {
        if let Some((mark, count)) = self.marks.take() {
            self.marked(mark, count, '\n');
        }
        self.end_word();
        self.style_as(0);
        self.out.push('\n');
        self.line = Line::Undecided;
        (self.column, self.spaces, self.indent, self.style, self.line_style) = (0, 0, 0, 0, 0);
        (self.ticks, self.before) = (0, ' ');
    }

    fn put(&mut self, c: char, style: u8) {
        self.style_as(style);
        self.out.push(c);
        self.column += c.width().unwrap_or(0);
    }

    fn style_as(&mut self, style: u8) {
        if !self.color || style == self.written {
            return;
        }
        self.written = style;
        self.out.push_str("\x1b[0");
        for (bit, code) in [(BOLD, ";1"), (ITALIC, ";3"), (CODE, ";36"), (FAINT, ";2")] {
            if style & bit != 0 {
                self.out.push_str(code);
            }
        }
        self.out.push('m');
    }
}

/// True if more text can change the kind of the line.
fn is_open(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.is_empty()
        || text.chars().all(|c| matches!(c, '#' | '-' | '*' | '+' | '`' | '~' | '>' | '_'))
        || matches!(rest, "" | "." | ")")
}

/// The mark at the start of a line, and its count.
fn run_of(text: &str) -> Option<(char, usize)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~' | '-' | '*' | '_'))?;
    Some((mark, text.chars().take_while(|c| *c == mark).count()))
}

#[cfg(test)]
mod tests;
