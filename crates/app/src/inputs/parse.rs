//! From JSON to an input, or to a sentence that says what to do about it.

use persona::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Parses the fields of an input or an entity.
pub fn parse<T: DeserializeOwned>(fields: &Map<String, Value>) -> Result<T, String> {
    match T::deserialize(fields) {
        Ok(input) => Ok(input),
        // Only a failure pays for the search of its place.
        Err(_) => serde_path_to_error::deserialize(fields).map_err(|error| {
            let place = error.path().to_string();
            explain(&place, &error.into_inner().to_string())
        }),
    }
}

/// Turns the parser's message into a sentence that names the field and the way out.
fn explain(place: &str, message: &str) -> String {
    let place = place.trim_matches('.');
    let inside = if place.is_empty() { String::new() } else { format!(" in {place}") };
    match Said::of(message) {
        Said::Unknown { field, known } => unknown_field(place, field, &known),
        Said::Missing(field) => format!("{field:?} is missing{inside}; add it"),
        Said::Other if place.is_empty() => in_plain_words(message),
        Said::Other => format!("{place}: {}", in_plain_words(message)),
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

fn unknown_field(place: &str, field: &str, known: &[&str]) -> String {
    // The place ends with the field itself where the parser got as far as its name.
    let parent = place.strip_suffix(field).unwrap_or(place).trim_end_matches('.');
    let inside = if parent.is_empty() { String::new() } else { format!(" in {parent}") };
    let hint = match nearest(field, known.iter().copied()).first() {
        Some(near) => format!("did you mean {near:?}?"),
        None if known.is_empty() => "it takes no fields; leave it out".to_owned(),
        None => format!("use {}", known.join(", ")),
    };
    format!("unknown field {field:?}{inside}; {hint}")
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
