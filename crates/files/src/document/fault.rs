//! Why an entry cannot be read: the code, the message, the path of the field, the offset in the text.

use std::fmt::{self, Display, Write as _};

use persona::Code;
use serde::de::{self, Expected, Unexpected};

use crate::problem::Mistake;

/// Boxed, which keeps the `Ok` path small.
#[derive(Debug)]
pub(crate) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    cause: Code,
    message: String,
    hint: Option<String>,
    /// Innermost first.
    path: Vec<Step>,
    offset: Option<usize>,
    /// The required field that is missing.
    missing: Option<&'static str>,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Fault {
    pub(crate) fn new(cause: Code, message: impl Into<String>, hint: Option<String>) -> Self {
        Self(Box::new(Inner {
            cause,
            message: message.into(),
            hint,
            path: Vec::new(),
            offset: None,
            missing: None,
        }))
    }

    /// Sets the offset, unless an inner value has set it.
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

    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.0.missing
    }

    pub(crate) fn into_mistake(self) -> Mistake {
        Mistake { message: self.to_string(), cause: self.0.cause, hint: self.0.hint }
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
        Self::new(Code::InvalidValue, message.to_string(), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = Expectation::of(expected);
        let hint = match (found, &expected) {
            (Unexpected::Str(_), Expectation::List) => Some("put it in brackets: [\"…\"]"),
            (Unexpected::Str(_), Expectation::Number | Expectation::Whole { .. }) => {
                Some("write it without quotes")
            }
            (Unexpected::Map | Unexpected::Seq, _) => None,
            (_, Expectation::Text) => Some("put it in quotes"),
            _ => None,
        };
        let message = format!("expected {expected}, found {}", seen(found));
        Self::new(Code::InvalidValue, message, hint.map(str::to_owned))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let message = match Expectation::of(expected) {
            Expectation::Whole { range: Some((least, most)) } => {
                format!("expected a whole number from {least} to {most}, found {}", seen(found))
            }
            other => format!("expected {other}, found {}", seen(found)),
        };
        Self::new(Code::InvalidValue, message, None)
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let near = persona::nearest(word, known.iter().copied())
            .first()
            .map(|near| format!("did you mean {near:?}?"));
        let hint = near.or_else(|| Some(format!("use {}", persona::one_of(known)?)));
        Self::new(Code::UnknownWord, format!("unknown value {word:?}"), hint)
    }

    fn missing_field(field: &'static str) -> Self {
        let hint = format!("add {field} = …");
        let mut fault = Self::new(Code::MissingField, format!("{field} is missing"), Some(hint));
        fault.0.missing = Some(field);
        fault
    }
}

/// The type of value that a field expects.
enum Expectation {
    Text,
    Number,
    /// With its range, where that is narrower than TOML's.
    Whole {
        range: Option<(i64, i64)>,
    },
    List,
    Table,
    /// A description by the type itself.
    Other(String),
}

impl Expectation {
    /// Reads the description that a `Visitor` writes. serde passes an expected type as text only, so
    /// there are no fields to match instead.
    fn of(expected: &dyn Expected) -> Self {
        let described = expected.to_string();
        match described.as_str() {
            "f64" => Self::Number,
            "u8" => Self::Whole { range: Some((0, u8::MAX.into())) },
            "u32" => Self::Whole { range: Some((0, u32::MAX.into())) },
            "i32" => Self::Whole { range: Some((i32::MIN.into(), i32::MAX.into())) },
            "u64" | "i64" => Self::Whole { range: None },
            "a string" | "string" => Self::Text,
            "a sequence" => Self::List,
            "a map" => Self::Table,
            other if other.starts_with("struct ") => Self::Table,
            _ => Self::Other(described),
        }
    }
}

impl Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Whole { .. } => "a whole number",
            Self::List => "a list",
            Self::Table => "a table",
            Self::Other(described) => described,
        })
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
