//! Placeholders `${env.NAME}` in texts: finding and expanding them.
//!
//! Pure: the caller passes the allowed names and their values. There is no escape syntax:
//! `$${env.NAME}` is a dollar sign and a placeholder, and an expanded value is never read again.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod values;
pub use values::Values;

/// The beginning of a placeholder.
const OPEN: &str = "${env.";

/// One `${env.NAME}` in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder<'a> {
    pub name: &'a str,
    /// The byte of its dollar sign.
    pub at: usize,
    /// Its bytes, from the dollar sign to the closing brace.
    pub len: usize,
}

/// A place in a text. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The place of a byte of a text; a byte inside a character has the place of the character.
    pub fn of(text: &str, at: usize) -> Self {
        Places::new(text).at(at)
    }
}

/// Finds places in ascending order, so that a text is walked once.
pub(crate) struct Places<'a> {
    text: &'a str,
    walked: usize,
    place: Place,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, walked: 0, place: Place { line: 1, column: 1 } }
    }

    /// The place of a byte that is not before the last one.
    pub(crate) fn at(&mut self, at: usize) -> Place {
        let to = self.text.floor_char_boundary(at).max(self.walked);
        for c in self.text[self.walked..to].chars() {
            let Place { line, column } = self.place;
            self.place = match c {
                '\n' => Place { line: line + 1, column: 1 },
                _ => Place { line, column: column + 1 },
            };
        }
        self.walked = to;
        self.place
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A text with its placeholders filled in, as far as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// The placeholders that were not filled in, in order.
    pub problems: Vec<EnvProblem>,
    /// The values that were filled in.
    pub values: Values,
}

/// The reason why a placeholder was not filled in. Messages contain the name, never a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvProblem {
    #[error(
        "${{env.{name}}} at {line}:{column} is not allowed; add {name:?} to [env] allow in your own config.toml"
    )]
    NotAllowed { name: String, line: usize, column: usize },
    #[error("${{env.{name}}} at {line}:{column} is not set; set {name} in the environment")]
    Unset { name: String, line: usize, column: usize },
}

/// Every well-formed placeholder, in the order of the text.
pub fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    text.match_indices(OPEN).filter_map(move |(at, _)| placeholder_at(text, at))
}

/// The placeholder that begins at a byte, if one does.
fn placeholder_at(text: &str, at: usize) -> Option<Placeholder<'_>> {
    let rest = text[at..].strip_prefix(OPEN)?;
    let name = &rest[..name_length(rest)];
    let closed = !name.is_empty() && rest[name.len()..].starts_with('}');
    closed.then_some(Placeholder { name, at, len: OPEN.len() + name.len() + 1 })
}

/// The length of a variable's name (`[A-Za-z_][A-Za-z0-9_]*`) at the start of a text.
fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// Fills in placeholders that are allowed and set. The others stay literal and are reported.
pub fn expand(text: &str, allowed: &BTreeSet<String>, lookup: &dyn Fn(&str) -> Option<String>) -> Expanded {
    let mut expanded =
        Expanded { text: String::with_capacity(text.len()), problems: Vec::new(), values: Values::default() };
    let mut places = Places::new(text);
    let mut copied = 0;
    for Placeholder { name, at, len } in placeholders(text) {
        // Names that are not allowed are not looked up.
        let is_allowed = allowed.contains(name);
        if let Some(value) = if is_allowed { lookup(name) } else { None } {
            expanded.text.push_str(&text[copied..at]);
            expanded.text.push_str(&value);
            expanded.values.add(name, &value);
            copied = at + len;
            continue;
        }
        let (name, Place { line, column }) = (name.to_owned(), places.at(at));
        expanded.problems.push(match is_allowed {
            true => EnvProblem::Unset { name, line, column },
            false => EnvProblem::NotAllowed { name, line, column },
        });
    }
    expanded.text.push_str(&text[copied..]);
    expanded
}

/// Malformed placeholders with their bytes: `${env.}`, `${ENV.X}`, `${ env.X }`, `${env:X}`,
/// `${env.x y}`.
pub(crate) fn malformed(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("${").filter_map(move |(at, open)| {
        let rest = &text[at + open.len()..];
        let word = rest.trim_start();
        let after = word.get(..3).filter(|word| word.eq_ignore_ascii_case("env")).map(|_| &word[3..])?;
        // `${ENVIRONMENT}` and `${ENV}` are shell variables.
        let meant = after.trim_start().starts_with(['.', ':']);
        let malformed = meant && placeholder_at(text, at).is_none();
        malformed.then(|| (at, &text[at..at + open.len() + shown_length(rest)]))
    })
}

/// The length of a malformed placeholder in a message: up to its brace or the end of the line.
fn shown_length(rest: &str) -> usize {
    const SHOWN_CHARS: usize = 40;
    let most = rest.char_indices().nth(SHOWN_CHARS).map_or(rest.len(), |(most, _)| most);
    let line = rest[..most].find(['\n', '\r']).unwrap_or(most);
    rest[..line].find('}').map_or(line, |brace| brace + 1)
}

#[cfg(test)]
mod tests;
