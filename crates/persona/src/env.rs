//! `${env.NAME}` in a text: where such placeholders stand, and what they become.
//!
//! Pure: which names are allowed and what they hold is handed in. There is no escape syntax:
//! `$${env.NAME}` is a dollar sign and a placeholder, and an expanded value is never read again.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod values;
pub use values::Values;

/// How every placeholder begins.
const OPEN: &str = "${env.";

/// One `${env.NAME}` in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder<'a> {
    pub name: &'a str,
    /// The byte at which its dollar sign stands.
    pub at: usize,
    /// Its bytes, from the dollar sign to the closing brace.
    pub len: usize,
}

/// Where something stands in a text: lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The place of a byte of a text; one inside of a character is that character's.
    pub fn of(text: &str, at: usize) -> Self {
        Places::new(text).at(at)
    }
}

/// Finds one place after another, so that a text is walked once, however much is found in it.
pub(crate) struct Places<'a> {
    text: &'a str,
    walked: usize,
    place: Place,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, walked: 0, place: Place { line: 1, column: 1 } }
    }

    /// The place of a byte that is not before the last one asked for.
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

/// A text with its placeholders filled in as far as that was possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// The placeholders that stayed as they were, in their order.
    pub problems: Vec<EnvProblem>,
    /// What the others stood for.
    pub values: Values,
}

/// Why a placeholder stayed as it was. Messages have the name, never a value.
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

/// How many bytes at the start of a text are a variable's name: `[A-Za-z_][A-Za-z0-9_]*`.
fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// Fills in what is allowed and set. What is not stays literal and is a problem with its place.
pub fn expand(text: &str, allowed: &BTreeSet<String>, lookup: &dyn Fn(&str) -> Option<String>) -> Expanded {
    let mut expanded =
        Expanded { text: String::with_capacity(text.len()), problems: Vec::new(), values: Values::default() };
    let mut places = Places::new(text);
    let mut copied = 0;
    for Placeholder { name, at, len } in placeholders(text) {
        // A name that is not allowed is not even looked up.
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

/// What was probably meant as a placeholder and is none: `${env.}`, `${ENV.X}`, `${ env.X }`,
/// `${env:X}`, `${env.x y}`; with the byte at which it stands.
pub(crate) fn malformed(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("${").filter_map(move |(at, open)| {
        let rest = &text[at + open.len()..];
        let word = rest.trim_start();
        let after = word.get(..3).filter(|word| word.eq_ignore_ascii_case("env")).map(|_| &word[3..])?;
        // `${ENVIRONMENT}` and `${ENV}` are a shell's, and none of ours.
        let meant = after.trim_start().starts_with(['.', ':']);
        let malformed = meant && placeholder_at(text, at).is_none();
        malformed.then(|| (at, &text[at..at + open.len() + shown_length(rest)]))
    })
}

/// How much of a malformed placeholder a message shows: to its brace, on its line, not for ever.
fn shown_length(rest: &str) -> usize {
    const SHOWN_CHARS: usize = 40;
    let most = rest.char_indices().nth(SHOWN_CHARS).map_or(rest.len(), |(most, _)| most);
    let line = rest[..most].find(['\n', '\r']).unwrap_or(most);
    rest[..line].find('}').map_or(line, |brace| brace + 1)
}

#[cfg(test)]
mod tests;
