//! Changes single items between brackets, in a list or an inline table, and keeps all others with their
//! comments, line breaks and blanks.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// The text between an opening and a closing bracket, cut into items.
#[derive(Debug)]
pub(crate) struct Bracketed {
    /// The bracket and, if the first item has a line of its own, the rest of the bracket's line.
    open: String,
    items: Vec<Item>,
    /// The text after the last item, and the bracket.
    close: String,
    /// True if a comma follows the last item.
    trailing_comma: bool,
    several_lines: bool,
    newline: &'static str,
}

#[derive(Debug, Clone, Default)]
struct Item {
    /// Blanks, line breaks and comments in front.
    lead: String,
    body: String,
    /// The text between the item and its comma.
    gap: String,
    /// The rest of the line after the comma.
    tail: String,
}

impl Bracketed {
    /// Splits `text[span]` at its `items`.
    pub(crate) fn new(
        text: &str,
        span: &Range<usize>,
        items: &[Range<usize>],
        newline: &'static str,
    ) -> Self {
        let inner = span.start + 1..span.end - 1;
        let mut at = inner.start;
        let mut open = text[span.start..inner.start].to_owned();
        let mut cut: Vec<Item> = Vec::with_capacity(items.len());
        let mut trailing_comma = false;
        let mut lead = String::new();
        for (index, item) in items.iter().enumerate() {
            if index == 0 {
                let (line, rest) = after_line(&text[at..item.start]);
                open.push_str(line);
                rest.clone_into(&mut lead);
            }
            at = items.get(index + 1).map_or(inner.end, |next| next.start);
            let between = between(&text[item.end..at]);
            let body = text[item.clone()].to_owned();
            let (gap, tail) = (between.gap.to_owned(), between.tail.to_owned());
            cut.push(Item { lead: std::mem::take(&mut lead), body, gap, tail });
            between.rest.clone_into(&mut lead);
            trailing_comma = between.comma;
        }
        if items.is_empty() {
            text[inner.clone()].clone_into(&mut lead);
        }
        let close = format!("{lead}{}", &text[inner.end..span.end]);
        let several_lines = text[span.clone()].contains('\n')
            && (open.contains('\n')
                || close.contains('\n')
                || cut
                    .iter()
                    .any(|item| [&item.lead, &item.gap, &item.tail].iter().any(|part| part.contains('\n'))));
        Self { open, items: cut, close, trailing_comma, several_lines, newline }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn replace(&mut self, index: usize, body: String) {
        self.items[index].body = body;
    }

    /// Removes an item with the comment on its line. Comment lines above it stay.
    pub(crate) fn delete(&mut self, index: usize) {
        let gone = self.items.remove(index);
        if !self.several_lines {
            if index == 0
                && let Some(first) = self.items.first_mut()
            {
                first.lead = gone.lead;
            }
            return;
        }
        let kept = if gone.lead.contains('#') {
            gone.lead.rfind('\n').map_or("", |at| &gone.lead[..=at])
        } else {
            ""
        };
        match self.items.get_mut(index) {
            Some(next) => next.lead.insert_str(0, kept),
            None => self.close.insert_str(0, kept),
        }
        // Items that shared its line keep the end of the line.
        let line_goes_on = |text: &str| !text.ends_with('\n');
        if gone.tail.ends_with('\n') {
            match index.checked_sub(1) {
                Some(before) if line_goes_on(&self.items[before].tail) => {
                    self.items[before].tail.push_str(&gone.tail);
                }
                None if line_goes_on(&self.open) => self.open.push_str(&gone.tail),
                _ => {}
            }
        }
    }

    /// Inserts an item before the one at `index`, or at the end, formatted like its neighbours.
    pub(crate) fn insert(&mut self, index: usize, body: String) {
        let mut item = Item { body, ..Item::default() };
        if !self.several_lines {
            if index == 0 {
                if let Some(first) = self.items.first_mut() {
                    item.lead = std::mem::replace(&mut first.lead, " ".to_owned());
                }
            } else {
                " ".clone_into(&mut item.lead);
            }
        } else if let Some(before) = index.checked_sub(1) {
            if self.items[before].tail.ends_with('\n') {
                let indent = (0..index).rev().find_map(|index| self.indent(index));
                item.lead = indent.unwrap_or_default();
                self.newline.clone_into(&mut item.tail);
            } else {
                " ".clone_into(&mut item.lead);
            }
        } else if self.open.ends_with('\n') {
            item.lead = self.indent(0).unwrap_or_default();
            self.newline.clone_into(&mut item.tail);
        } else if let Some(first) = self.items.first_mut() {
            first.lead.insert(0, ' ');
        }
        self.items.insert(index, item);
    }

    /// The blanks that an item's line begins with, if the item begins a line.
    fn indent(&self, index: usize) -> Option<String> {
        let item = self.items.get(index)?;
        let before = index.checked_sub(1).map_or(&self.open, |before| &self.items[before].tail);
        match item.lead.rfind('\n') {
            Some(at) => Some(item.lead[at + 1..].to_owned()),
            None if before.ends_with('\n') => Some(item.lead.clone()),
            None => None,
        }
    }

    pub(crate) fn render(&self) -> String {
        let mut text = self.open.clone();
        for (index, item) in self.items.iter().enumerate() {
            let comma = index + 1 < self.items.len() || self.trailing_comma;
            let comma = if comma { "," } else { "" };
            for part in [&item.lead, &item.body, &item.gap, comma, &item.tail] {
                text.push_str(part);
            }
        }
        text.push_str(&self.close);
        text
    }
}

struct Between<'t> {
    gap: &'t str,
    comma: bool,
    tail: &'t str,
    rest: &'t str,
}

/// Splits the text after an item at its comma and at the end of its line.
fn between(text: &str) -> Between<'_> {
    let mut comma = Source::new(text).lex().filter(|token| token.kind() == TokenKind::Comma);
    match comma.next() {
        Some(token) => {
            let (tail, rest) = after_line(&text[token.span().end()..]);
            Between { gap: &text[..token.span().start()], comma: true, tail, rest }
        }
        None => {
            let (tail, rest) = after_line(text);
            Between { gap: "", comma: false, tail, rest }
        }
    }
}

/// The rest of a line with its end, and the text after it. Empty and everything if no line ends.
fn after_line(text: &str) -> (&str, &str) {
    text.find('\n').map_or(("", text), |at| text.split_at(at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a list of words, runs the changes and shows it again.
    fn changed(list: &str, change: impl FnOnce(&mut Bracketed)) -> String {
        let mut items = Vec::new();
        for token in Source::new(list).lex() {
            if matches!(token.kind(), TokenKind::BasicString) {
                items.push(token.span().start()..token.span().end());
            }
        }
        let mut bracketed = Bracketed::new(list, &(0..list.len()), &items, "\n");
        assert_eq!(bracketed.render(), list, "cutting changes nothing");
        change(&mut bracketed);
        bracketed.render()
    }

    #[test]
    fn one_line_stays_one_line() {
        let list = r#"[ "a", "b" ]"#;
        assert_eq!(changed(list, |list| list.delete(0)), r#"[ "b" ]"#);
        assert_eq!(changed(list, |list| list.delete(1)), r#"[ "a" ]"#);
        assert_eq!(changed(list, |list| list.insert(0, "\"x\"".into())), r#"[ "x", "a", "b" ]"#);
        assert_eq!(changed(list, |list| list.insert(2, "\"x\"".into())), r#"[ "a", "b", "x" ]"#);
        assert_eq!(changed("[\"a\",]", |list| list.insert(1, "\"x\"".into())), "[\"a\", \"x\",]");
    }

    #[test]
    fn lines_come_and_go_with_their_comments() {
        let list = "[ # models\n  # first\n  \"a\", # one, or so\n  \"b\" # two\n  # end\n]";
        assert_eq!(changed(list, |list| list.delete(0)), "[ # models\n  # first\n  \"b\" # two\n  # end\n]");
        assert_eq!(
            changed(list, |list| list.delete(1)),
            "[ # models\n  # first\n  \"a\" # one, or so\n  # end\n]"
        );
        assert_eq!(
            changed(list, |list| list.insert(2, "\"x\"".into())),
            "[ # models\n  # first\n  \"a\", # one, or so\n  \"b\", # two\n  \"x\"\n  # end\n]"
        );
        assert_eq!(
            changed(list, |list| list.insert(0, "\"x\"".into())),
            "[ # models\n  \"x\",\n  # first\n  \"a\", # one, or so\n  \"b\" # two\n  # end\n]"
        );
    }

    #[test]
    fn shared_lines_stay_whole() {
        let list = "[\"a\", \"b\",\n \"c\",\n]";
        assert_eq!(changed(list, |list| list.delete(1)), "[\"a\",\n \"c\",\n]");
        assert_eq!(changed(list, |list| list.delete(2)), "[\"a\", \"b\",\n]");
        assert_eq!(changed(list, |list| list.insert(1, "\"x\"".into())), "[\"a\", \"x\", \"b\",\n \"c\",\n]");
        assert_eq!(
            changed(list, |list| list.insert(3, "\"x\"".into())),
            "[\"a\", \"b\",\n \"c\",\n \"x\",\n]"
        );
    }
}
