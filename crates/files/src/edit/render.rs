//! Writes values and entries as TOML that reads back to exactly the same.

use std::fmt::Write as _;

use persona::{Kind, Name};

use super::field_value::{Field, FieldValue, Fields};

/// A list or table that is wider than this takes several lines.
const LINE_CHARS: usize = 100;

/// The line ending of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newline {
    Lf,
    CrLf,
}

impl Newline {
    /// The line ending of a text's first line.
    pub(crate) fn of(text: &str) -> Self {
        match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => Self::CrLf,
            _ => Self::Lf,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// A new entry: its table and, below it, the tables in it.
pub(crate) fn entry(kind: Kind, name: &Name, fields: &Fields, newline: Newline) -> String {
    let path = format!("{}.{name}", kind.table());
    let end = newline.as_str();
    let (blocks, lines): (Vec<&Field>, Vec<&Field>) = fields.written().partition(|field| is_block(field));
    let mut text = format!("[{path}]{end}");
    for field in lines {
        text.push_str(&line(&key(&field.key), &field.value, newline));
    }
    for field in blocks {
        text.push_str(end);
        text.push_str(&block(&path, field, newline));
    }
    text
}

/// True if a new field gets headers of its own: stages, and tables that are not empty.
pub(crate) fn is_block(field: &Field) -> bool {
    match &field.value {
        FieldValue::Table(fields) => fields.written().next().is_some(),
        FieldValue::List(list) => {
            field.key == "stages"
                && !list.is_empty()
                && list.iter().all(|item| matches!(item, FieldValue::Table(_)))
        }
        _ => false,
    }
}

/// A field with headers of its own, below the table at `path`.
pub(crate) fn block(path: &str, field: &Field, newline: Newline) -> String {
    let path = format!("{path}.{}", key(&field.key));
    match &field.value {
        FieldValue::Table(fields) => section(&format!("[{path}]"), fields, newline),
        FieldValue::List(list) => {
            let stages = list.iter().filter_map(|item| match item {
                FieldValue::Table(fields) => Some(section(&format!("[[{path}]]"), fields, newline)),
                _ => None,
            });
            stages.collect::<Vec<_>>().join(newline.as_str())
        }
        _ => String::new(),
    }
}

/// A header and the fields below it.
pub(crate) fn section(header: &str, fields: &Fields, newline: Newline) -> String {
    let mut text = format!("{header}{}", newline.as_str());
    for field in fields.written() {
        text.push_str(&line(&key(&field.key), &field.value, newline));
    }
    text
}

/// `key = value` with its line end; the key may have a prefix.
pub(crate) fn line(key: &str, value: &FieldValue, newline: Newline) -> String {
    format!("{key} = {}{}", line_value(key, value, newline), newline.as_str())
}

/// A value that has a line to itself, or several.
pub(crate) fn line_value(key: &str, value: &FieldValue, newline: Newline) -> String {
    match value {
        FieldValue::Text(text) if text.contains('\n') => multi_line(text, newline),
        FieldValue::List(list) => {
            let one_line = inline(value);
            let tables = list
                .iter()
                .any(|item| matches!(item, FieldValue::Table(fields) if fields.bare_name().is_none()));
            if !tables && key.len() + 3 + one_line.chars().count() <= LINE_CHARS {
                return one_line;
            }
            let end = newline.as_str();
            let items = list.iter().map(|item| format!("  {},{end}", inline(item)));
            format!("[{end}{}]", items.collect::<String>())
        }
        other => inline(other),
    }
}

/// A value on one line.
pub(crate) fn inline(value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) => one_line(text),
        FieldValue::Integer(value) => value.to_string(),
        FieldValue::Float(value) => float(*value),
        FieldValue::Boolean(value) => value.to_string(),
        FieldValue::List(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
        FieldValue::Table(fields) => match fields.bare_name() {
            Some(name) => one_line(name),
            None => inline_table(fields),
        },
    }
}

pub(crate) fn inline_table(fields: &Fields) -> String {
    let items: Vec<String> = fields.written().map(|field| inline_field(&field.key, &field.value)).collect();
    if items.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", items.join(", ")) }
}

pub(crate) fn inline_field(name: &str, value: &FieldValue) -> String {
    format!("{} = {}", key(name), inline(value))
}

/// A key, in quotes where it needs them.
pub(crate) fn key(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.chars().all(bare) { text.to_owned() } else { one_line(text) }
}

fn float(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else {
        format!("{value:?}")
    }
}

/// A text in one pair of quotes.
pub(crate) fn one_line(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for c in text.chars() {
        match c {
            '"' => written.push_str("\\\""),
            '\n' => written.push_str("\\n"),
            _ => push_escaped(&mut written, c),
        }
    }
    written.push('"');
    written
}

/// Escapes characters that a text may not contain, or that would be invisible.
fn push_escaped(written: &mut String, c: char) {
    match c {
        '\\' => written.push_str("\\\\"),
        '\t' => written.push_str("\\t"),
        '\r' => written.push_str("\\r"),
        c if c.is_control() => {
            // Writing to a string cannot fail.
            let _ = write!(written, "\\u{:04X}", u32::from(c));
        }
        c => written.push(c),
    }
}

/// A text over several lines, in the form that an author would choose.
///
/// A line break in a file whose lines end with CR LF reads back as both characters. A text whose
/// lines end with LF alone is therefore written there with escaped breaks, each before a line end
/// that does not count.
fn multi_line(text: &str, newline: Newline) -> String {
    let end = newline.as_str();
    let mut written = format!("\"\"\"{end}");
    // Blanks at the beginning of a line that follows a line end that does not count would not count either.
    let mut after_fold = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let folded = std::mem::take(&mut after_fold);
        match (c, newline) {
            ('\n', Newline::Lf) => written.push('\n'),
            ('\r', Newline::CrLf) if rest.peek() == Some(&'\n') && !folded => {
                rest.next();
                written.push_str("\r\n");
            }
            ('\n', Newline::CrLf) => {
                written.push_str("\\n\\\r\n");
                after_fold = true;
            }
            (' ', _) if folded || ends_line(rest.peek().copied()) => written.push_str("\\u0020"),
            ('\t', _) if !folded && !ends_line(rest.peek().copied()) => written.push('\t'),
            ('"', _) if written.ends_with("\"\"") || rest.peek().is_none() => written.push_str("\\\""),
            ('"', _) => written.push('"'),
            (c, _) => push_escaped(&mut written, c),
        }
    }
    written.push_str("\"\"\"");
    written
}

/// True if editors trim a blank here.
fn ends_line(next: Option<char>) -> bool {
    matches!(next, None | Some('\n' | '\r'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reads_back(written: &str) -> String {
        let table: toml::Table = toml::from_str(&format!("x = {written}\r\n")).expect("it is TOML");
        table["x"].as_str().expect("a text").to_owned()
    }

    #[test]
    fn texts_that_are_hard_to_write_read_back() {
        for text in [
            "",
            "\n",
            "\n\n",
            "a\n",
            "\na",
            "a \nb\t\n c",
            "\"",
            "\"\"\"",
            "a\n\"\"\"\"\"\"",
            "\\",
            "\\n\n",
            "\r\n",
            "a\r\nb",
            "a\rb\n",
            "\n \n\t\n",
            "\u{7f}\u{0}\u{85}\n\u{2028}",
            " \n",
            "\n ",
            "\n\r\n",
            "a\n\\",
            "\t\n\"\"",
        ] {
            assert_eq!(reads_back(&one_line(text)), text);
            for newline in [Newline::Lf, Newline::CrLf] {
                let written = multi_line(text, newline);
                assert_eq!(reads_back(&written), text, "{written}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_reads_back(text in "([ \t\r\n\"\\\\a]|\\PC|\\p{Cc}){0,24}") {
            prop_assert_eq!(reads_back(&one_line(&text)), text.clone());
            prop_assert_eq!(reads_back(&multi_line(&text, Newline::Lf)), text.clone());
            let crlf = multi_line(&text, Newline::CrLf);
            prop_assert!(!crlf.replace("\r\n", "").contains(['\n', '\r']));
            prop_assert_eq!(reads_back(&crlf), text);
        }
    }

    #[test]
    fn keys_and_numbers_read_back() {
        for name in ["a", "a-b_9", "a b", "", "ä", "a.b", "a\"b"] {
            let table: toml::Table = toml::from_str(&format!("{} = 1", key(name))).expect("it is TOML");
            assert!(table.contains_key(name));
        }
        for value in [0.0, 1.0, -0.5, 1e-7, 1e300, 0.1 + 0.2, f64::MAX] {
            let table: toml::Table = toml::from_str(&format!("x = {}", float(value))).expect("it is TOML");
            assert_eq!(table["x"].as_float(), Some(value));
        }
    }
}
