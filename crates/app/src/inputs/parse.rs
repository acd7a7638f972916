//! From JSON to an input, or to an error that names the field.

use persona::{AsReport, Code, Remedy, Subject, nearest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A field of an input that is unknown, missing or of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("unknown field {field:?}{}", inside(parent))]
    Unknown { parent: String, field: String, known: Vec<String> },
    #[error("{field:?} is missing{}", inside(parent))]
    Missing { parent: String, field: String },
    #[error("{}{message}", before(field))]
    Value { field: String, message: String },
    /// The same about an entity that is written out in the input.
    #[error("{entity}: {source}")]
    Entity { entity: String, source: Box<Self> },
}

fn inside(parent: &str) -> String {
    if parent.is_empty() { String::new() } else { format!(" in {parent}") }
}

fn before(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

fn joined(parent: &str, field: &str) -> String {
    if parent.is_empty() { field.to_owned() } else { format!("{parent}.{field}") }
}

impl AsReport for InputError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::UnknownField,
            Self::Missing { .. } => Code::MissingField,
            Self::Value { .. } => Code::InvalidValue,
            Self::Entity { source, .. } => source.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Unknown { parent, field, .. } | Self::Missing { parent, field } => {
                Subject::field(joined(parent, field))
            }
            Self::Value { field, .. } if field.is_empty() => Subject::default(),
            Self::Value { field, .. } => Subject::field(field),
            Self::Entity { source, .. } => source.subject(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Unknown { field, known, .. } => {
                let near = nearest(field, known.iter().map(String::as_str));
                if near.is_empty() {
                    known.clone()
                } else {
                    near.into_iter().map(str::to_owned).take(1).collect()
                }
            }
            Self::Entity { source, .. } => source.candidates(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Unknown { field, known, .. } if known.is_empty() => {
                vec![Remedy::LeaveOut { fields: vec![field.clone()] }]
            }
            Self::Unknown { known, .. } if self.candidates() == *known => {
                vec![Remedy::UseOneOf { words: known.clone() }]
            }
            Self::Unknown { .. } => vec![Remedy::DidYouMean],
            Self::Missing { parent, field } => vec![Remedy::AddField { field: joined(parent, field) }],
            Self::Value { .. } => Vec::new(),
            Self::Entity { source, .. } => source.remedies(),
        }
    }
}

/// Parses the fields of an input or an entity.
pub fn parse<T: DeserializeOwned>(fields: &Map<String, Value>) -> Result<T, InputError> {
    match T::deserialize(fields) {
        Ok(input) => Ok(input),
        // Only a failure pays for the search of its place.
        Err(_) => serde_path_to_error::deserialize(fields).map_err(|error| {
            let place = error.path().to_string();
            explain(&place, &error.into_inner().to_string())
        }),
    }
}

/// Turns the parser's message into data.
fn explain(place: &str, message: &str) -> InputError {
    let place = place.trim_matches('.');
    match Said::of(message) {
        Said::Unknown { field, known } => {
            // The place ends with the field itself where the parser got as far as its name.
            let parent = place.strip_suffix(field).unwrap_or(place).trim_end_matches('.').to_owned();
            let known = known.into_iter().map(str::to_owned).collect();
            InputError::Unknown { parent, field: field.to_owned(), known }
        }
        Said::Missing(field) => InputError::Missing { parent: place.to_owned(), field: field.to_owned() },
        Said::Other => InputError::Value { field: place.to_owned(), message: in_plain_words(message) },
    }
}

/// What a message of the parser says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// A field that nothing reads, and those that are known.
    Unknown {
        field: &'a str,
        known: Vec<&'a str>,
    },
    /// A field that must be there.
    Missing(&'a str),
    Other,
}

impl<'a> Said<'a> {
    pub fn of(message: &'a str) -> Self {
        let mut quoted = message.split('`').skip(1).step_by(2);
        match quoted.next() {
            Some(field) if message.starts_with("unknown field") => {
                Self::Unknown { field, known: quoted.collect() }
            }
            Some(field) if message.starts_with("missing field") => Self::Missing(field),
            _ => Self::Other,
        }
    }
}

/// Says "expected u32" in words that mean something to somebody who does not write Rust.
pub fn in_plain_words(message: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("expected u8", "expected a whole number from 0 to 255"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected i32", "expected a whole number"),
        ("expected i64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected an object"),
        ("expected a string", "expected a text"),
    ];
    let plain = WORDS.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to));
    match plain.split_once("expected struct ") {
        // What our type is called helps nobody.
        Some((before, after)) => {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            format!("{before}expected an object{rest}")
        }
        None => plain,
    }
}

#[cfg(test)]
mod tests;
