//! Parses the fields of a request into an input, or into an error that names the field.

use persona::{AsReport, Code, NameError, Remedy, Subject};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::near_remedies;

mod json;
use json::Fields;

mod expected;
pub use expected::ExpectedType;

/// A field of an input that is unknown, missing or of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("unknown field {field:?}{}", inside(parent))]
    Unknown { parent: String, field: String, known: &'static [&'static str] },
    #[error("{field:?} is missing{}", inside(parent))]
    Missing { parent: String, field: &'static str },
    /// A word that is not one of a fixed list.
    #[error("{}unknown value {word:?}", before(field))]
    Word { field: String, word: String, known: &'static [&'static str] },
    #[error("{}expected {expected}, found {found}", before(field))]
    Type { field: String, expected: ExpectedType, found: String },
    #[error("{}{source}", before(field))]
    Name { field: String, source: NameError },
    /// A text that a type of its own refuses, such as an id.
    #[error("{}{message}", before(field))]
    Value { field: String, message: String },
    /// An error inside an entity that is written out in the input.
    #[error("{entity}: {source}")]
    Entity { entity: String, source: Box<Self> },
}

fn inside(parent: &str) -> String {
    if parent.is_empty() { String::new() } else { format!(" in {parent}") }
}

fn before(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

/// A path below a field or an index: `parts` and `[1].name` make `parts[1].name`.
fn below(step: &str, rest: &str) -> String {
    let dot = if step.is_empty() || rest.is_empty() || rest.starts_with('[') { "" } else { "." };
    format!("{step}{dot}{rest}")
}

impl InputError {
    /// Adds a step to the front of the field's path, as the error leaves the value around it.
    fn below(mut self, step: &str) -> Self {
        match &mut self {
            Self::Unknown { parent: path, .. }
            | Self::Missing { parent: path, .. }
            | Self::Word { field: path, .. }
            | Self::Type { field: path, .. }
            | Self::Name { field: path, .. }
            | Self::Value { field: path, .. } => *path = below(step, path),
            Self::Entity { .. } => {}
        }
        self
    }

    /// The words to choose from, near ones if there are any, and how to say so.
    fn suggestion(&self) -> (Vec<String>, Vec<Remedy>) {
        match self {
            Self::Unknown { field: word, known, .. } | Self::Word { word, known, .. } => {
                near_remedies(word, known)
            }
            _ => (Vec::new(), Vec::new()),
        }
    }
}

impl de::Error for InputError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Value { field: String::new(), message: message.to_string() }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::Unknown { parent: String::new(), field: field.to_owned(), known }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing { parent: String::new(), field }
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::Word { field: String::new(), word: word.to_owned(), known }
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = ExpectedType::Other(expected.to_string());
        Self::Type { field: String::new(), expected, found: expected::unexpected(found) }
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }
}

impl AsReport for InputError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::UnknownField,
            Self::Missing { .. } => Code::MissingField,
            Self::Word { .. } => Code::UnknownWord,
            Self::Type { .. } | Self::Value { .. } => Code::InvalidValue,
            Self::Name { source, .. } => source.code(),
            Self::Entity { source, .. } => source.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Unknown { parent, field, .. } => Subject::field(below(parent, field)),
            Self::Missing { parent, field } => Subject::field(below(parent, field)),
            Self::Word { field, .. } | Self::Type { field, .. } | Self::Value { field, .. } => {
                Subject { field: Some(field.clone()).filter(|field| !field.is_empty()), ..Subject::default() }
            }
            Self::Name { field, source } => source.subject().at_field(field),
            Self::Entity { source, .. } => source.subject(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Entity { source, .. } => source.candidates(),
            other => other.suggestion().0,
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Unknown { field, known: [], .. } => vec![Remedy::LeaveOut { fields: vec![field.clone()] }],
            Self::Missing { parent, field } => vec![Remedy::AddField { field: below(parent, field) }],
            Self::Entity { source, .. } => source.remedies(),
            other => other.suggestion().1,
        }
    }
}

/// Parses the fields of an input or an entity.
pub fn parse<T: DeserializeOwned>(fields: &Map<String, Value>) -> Result<T, InputError> {
    T::deserialize(MapAccessDeserializer::new(Fields::of(fields)))
}

#[cfg(test)]
mod tests;
