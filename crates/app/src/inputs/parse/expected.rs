//! The type that a field expects, and the value that it found.

use std::fmt;

use serde::de::Unexpected;
use serde_json::Value;

/// Characters of a text that a message repeats.
const SHOWN_CHARS: usize = 40;

/// The type of value that a field takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedType {
    Text,
    Flag,
    /// A whole number between two bounds.
    Whole {
        least: i64,
        most: u64,
    },
    Number,
    List,
    Object,
    /// An entry of a list that may be written as its name alone.
    NameOrObject,
    /// The description of a type that takes several of them.
    Other(String),
}

impl fmt::Display for ExpectedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Flag => "true or false",
            Self::Whole { least: i64::MIN, .. } => "a whole number",
            Self::Whole { least: 0, most: u64::MAX } => "a whole number, 0 or more",
            Self::Whole { least, most } => return write!(f, "a whole number from {least} to {most}"),
            Self::Number => "a number",
            Self::List => "a list",
            Self::Object => "an object",
            Self::NameOrObject => "a name or an object",
            Self::Other(description) => description,
        })
    }
}

/// A value as a message shows it.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

/// The same for a value that a visitor refuses.
pub(super) fn unexpected(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => shown(text),
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Float(value) => value.to_string(),
        Unexpected::Unit => "null".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_CHARS).collect();
    format!("{cut:?}{}", if cut.len() < text.len() { "…" } else { "" })
}
