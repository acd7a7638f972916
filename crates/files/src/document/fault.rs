//! Why an entry cannot be read: the message, the path of the field, the offset in the text.

use std::fmt::{self, Display, Write as _};

use serde::de::{self, Expected, Unexpected};

/// Boxed, so that the way of what goes well stays light.
#[derive(Debug)]
pub(crate) struct Fault(Box<Inner>);

#[derive(Debug, Default)]
struct Inner {
    message: String,
    hint: Option<String>,
    /// Innermost first.
    path: Vec<Step>,
    offset: Option<usize>,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self(Box::new(Inner { message: message.into(), hint, ..Inner::default() }))
    }

    /// Splits a message of the library's, whose advice stands after its last semicolon.
    pub(crate) fn split(message: &str) -> Self {
        match message.rsplit_once("; ") {
            Some((message, hint)) => Self::new(message, Some(hint.to_owned())),
            None => Self::new(message, None),
        }
    }

    /// Gives the place, where no inner value has given one.
    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    pub(crate) fn under_key(mut self, key: &str) -> Self {
        self.0.path.push(Step::Key(key.to_owned()));
        self
    }

    pub(crate) fn under_index(mut self, index: usize) -> Self {
        self.0.path.push(Step::Index(index));
        self
    }

    pub(crate) fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    pub(crate) fn into_parts(self) -> (String, Option<String>) {
        (self.to_string(), self.0.hint)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut path = String::new();
        for step in self.0.path.iter().rev() {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => write!(path, ".{key}")?,
                Step::Index(index) => write!(path, "[{index}]")?,
            }
        }
        if path.is_empty() { f.write_str(&self.0.message) } else { write!(f, "{path}: {}", self.0.message) }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::split(&message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let expected = in_words(&expected);
        let hint = match (found, expected) {
            (Unexpected::Str(_), "a list") => Some("put it in brackets: [\"…\"]"),
            (Unexpected::Str(_), "a number" | "a whole number") => Some("write it without quotes"),
            (Unexpected::Map | Unexpected::Seq, _) => None,
            (_, "a text") => Some("put it in quotes"),
            _ => None,
        };
        let message = format!("expected {expected}, found {}", seen(found));
        Self::new(message, hint.map(str::to_owned))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let range = match expected.to_string().as_str() {
            "u8" => "a whole number from 0 to 255".to_owned(),
            "u32" => format!("a whole number from 0 to {}", u32::MAX),
            "i32" => format!("a whole number from {} to {}", i32::MIN, i32::MAX),
            other => in_words(other).to_owned(),
        };
        Self::new(format!("expected {range}, found {}", seen(found)), None)
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let near = persona::nearest(word, known.iter().copied())
            .first()
            .map(|near| format!("did you mean {near:?}?"));
        let hint = near.or_else(|| Some(format!("use {}", persona::one_of(known)?)));
        Self::new(format!("unknown value {word:?}"), hint)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("{field} is missing"), Some(format!("add {field} = …")))
    }
}

/// What a type calls itself, in words for somebody who writes TOML.
fn in_words(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u8" | "u32" | "i32" | "u64" | "i64" => "a whole number",
        "a string" | "string" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

fn seen(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => {
            let cut: String = text.chars().take(40).collect();
            let more = if cut.len() < text.len() { "…" } else { "" };
            format!("the text {cut:?}{more}")
        }
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}
