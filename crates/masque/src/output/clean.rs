//! Escapes characters that would control a terminal or hide text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes control characters except line feed and tab, and bidirectional controls, as `\u{1b}`.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        // Line ends of Windows become plain ones.
        if c == '\r' && characters.peek() == Some(&'\n') {
            continue;
        }
        if is_unsafe(c) {
            let _ = write!(cleaned, "{}", c.escape_unicode());
        } else {
            cleaned.push(c);
        }
    }
    Cow::Owned(cleaned)
}

/// Text on one line, escaped.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clean(&words.join(" ")).into_owned()
}

/// JSON text with the same value and without unsafe characters. They occur in strings only, so each
/// can be replaced by an escape.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) {
            let _ = write!(cleaned, "\\u{:04x}", u32::from(c));
        } else {
            cleaned.push(c);
        }
    }
    Cow::Owned(cleaned)
}

fn is_unsafe(c: char) -> bool {
    let reorders = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    reorders || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::{clean, json, one_line};

    #[test]
    fn unsafe_characters_are_escaped() {
        assert_eq!(clean("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(clean("a\x1b[2Jb\u{9b}31m\u{7f}"), "a\\u{1b}[2Jb\\u{9b}31m\\u{7f}");
        assert_eq!(clean("safe\u{202e}exe"), "safe\\u{202e}exe");
        assert_eq!(clean("one\r\ntwo\rthree"), "one\ntwo\\u{d}three");
        assert_eq!(clean("👩‍🚀 é 日本"), "👩‍🚀 é 日本");
        assert_eq!(one_line("a\n  b\x07"), "a b\\u{7}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "text": "a\u{9b}b\u{202e}" });
        let text = json(&value.to_string()).into_owned();
        assert!(!text.contains('\u{9b}') && !text.contains('\u{202e}'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("still JSON"), value);
    }
}
