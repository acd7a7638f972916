//! Reading a `track.toml`. Every mistake has a place and the path of its key.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};

use super::place::{KeyPath, line_and_column, offset_of, path_at};
use super::problems::did_you_mean;
use super::shape::{self, Placed};
use super::{Track, TrackProblem};
use crate::Ticket;
use crate::limits::{PROBLEMS, TRACK_BYTES};

/// A mistake in a track file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// From 1. 0 if the file as a whole is meant.
    pub line: usize,
    /// From 1, in characters. 0 if the file as a whole is meant.
    pub column: usize,
    /// As `tickets[2].title`. Empty if no key is meant.
    pub path: String,
    pub mistake: FileMistake,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileMistake {
    TooLarge {
        bytes: usize,
        most: usize,
    },
    /// The parser's own words.
    NotToml {
        message: String,
    },
    TooDeep {
        most: usize,
    },
    UnknownKey {
        key: String,
        candidates: Vec<String>,
    },
    MissingKey {
        key: String,
    },
    WrongType {
        expected: String,
        found: String,
    },
    /// A value of the right type that its type refuses, in its own words.
    BadValue {
        message: String,
    },
    Track(TrackProblem),
    /// Problems that are not listed.
    More {
        count: usize,
    },
}

impl FileProblem {
    fn of_file(mistake: FileMistake) -> Self {
        Self { line: 0, column: 0, path: String::new(), mistake }
    }

    /// True if tickets wait for each other.
    pub fn is_cycle(&self) -> bool {
        matches!(&self.mistake, FileMistake::Track(problem) if problem.is_cycle())
    }
}

/// `3:7: tickets[0].titel: unknown key; did you mean "title"?`
impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        // A cycle names its tickets itself.
        let names_tickets = matches!(&self.mistake, FileMistake::Track(TrackProblem::Cycle { .. }));
        if !self.path.is_empty() && !names_tickets {
            write!(f, "{}: ", self.path)?;
        }
        self.mistake.fmt(f)
    }
}

impl fmt::Display for FileMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes, most } => {
                write!(f, "the file has {bytes} bytes, at most {most} are allowed")
            }
            Self::NotToml { message } => write!(f, "not valid TOML: {message}"),
            Self::TooDeep { most } => write!(f, "nested deeper than {most} levels"),
            Self::UnknownKey { candidates, .. } => write!(f, "unknown key{}", did_you_mean(candidates)),
            Self::MissingKey { key } => write!(f, "{key} is missing; add {key} = …"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::BadValue { message } => f.write_str(message),
            Self::Track(problem) => f.write_str(&problem.sentence()),
            Self::More { count } => write!(f, "{count} more problems"),
        }
    }
}

/// The JSON Schema of a track file, from which editors complete and check it.
pub fn track_schema() -> Value {
    shape::schema().clone()
}

/// Reads a track file. Fails with every mistake that it has, by place, or with the first ones.
pub fn parse_track(text: &str) -> Result<Track, Vec<FileProblem>> {
    if text.len() > TRACK_BYTES {
        let mistake = FileMistake::TooLarge { bytes: text.len(), most: TRACK_BYTES };
        return Err(vec![FileProblem::of_file(mistake)]);
    }
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => return Err(vec![not_toml(text, &error)]),
    };
    let mut placed = Vec::new();
    let track = read(&table, &mut placed);
    match track {
        Some(track) if placed.is_empty() => {
            let problems = track.problems();
            if problems.is_empty() {
                return Ok(track);
            }
            let mut placed: Vec<FileProblem> =
                problems.into_iter().map(|problem| place(text, table.get_ref(), problem)).collect();
            // What has no place comes last.
            placed.sort_by_key(|it| (it.line == 0, it.line, it.column));
            Err(placed)
        }
        _ => Err(list(text, placed)),
    }
}

/// The track, as far as the mistakes allow it.
fn read(table: &Spanned<DeTable<'_>>, placed: &mut Vec<Placed>) -> Option<Track> {
    let span = table.span();
    let mut head = table.get_ref().clone();
    let tickets = head.remove("tickets");
    let mut tickets = tickets.map(|value| (value.span(), value.into_inner()));
    // A value that is no list is a mistake of the head.
    if let Some((span, value)) = tickets.take_if(|(_, value)| !matches!(value, DeValue::Array(_))) {
        let key = Spanned::new(span.clone(), "tickets".into());
        head.insert(key, Spanned::new(span, value));
    }
    let root = KeyPath::default();
    let schema = shape::schema();
    let whole = Spanned::new(span.clone(), DeValue::Table(head.clone()));
    shape::check(&whole, schema, &root, 0, placed);
    let mut track: Option<Track> = None;
    if placed.is_empty() {
        match Track::deserialize(Deserializer::from(Spanned::new(span, head))) {
            Ok(read) => track = Some(read),
            Err(error) => placed.push(bad_value(&whole, &root, &error)),
        }
    }
    let Some((_, DeValue::Array(values))) = tickets else { return track };
    let schema = &schema["properties"]["tickets"]["items"];
    let mut read = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let path = root.key("tickets").index(index);
        let before = placed.len();
        shape::check(value, schema, &path, 1, placed);
        if placed.len() == before {
            match Ticket::deserialize(ValueDeserializer::from(value.clone())) {
                Ok(ticket) => read.push(ticket),
                Err(error) => placed.push(bad_value(value, &path, &error)),
            }
        }
    }
    track.map(|track| Track { tickets: read, ..track })
}

fn bad_value(value: &Spanned<DeValue<'_>>, path: &KeyPath, error: &toml::de::Error) -> Placed {
    let offset = error.span().map_or(value.span().start, |span| span.start);
    let path = path_at(value, path, offset);
    Placed { offset, path, mistake: FileMistake::BadValue { message: error.message().to_owned() } }
}

fn not_toml(text: &str, error: &toml::de::Error) -> FileProblem {
    let mistake = FileMistake::NotToml { message: error.message().to_owned() };
    // The limit of nesting has no place.
    let Some(span) = error.span() else { return FileProblem::of_file(mistake) };
    let (line, column) = line_and_column(text, span.start);
    FileProblem { line, column, path: String::new(), mistake }
}

fn place(text: &str, table: &DeTable<'_>, problem: TrackProblem) -> FileProblem {
    let Some(field) = problem.field() else {
        return FileProblem::of_file(FileMistake::Track(problem));
    };
    let path = field.path();
    let (line, column) = line_and_column(text, offset_of(table, &path));
    FileProblem { line, column, path, mistake: FileMistake::Track(problem) }
}

/// The first mistakes by place.
fn list(text: &str, mut placed: Vec<Placed>) -> Vec<FileProblem> {
    placed.sort_by_key(|it| it.offset);
    let more = placed.len().saturating_sub(PROBLEMS);
    placed.truncate(PROBLEMS);
    let mut problems: Vec<FileProblem> = placed
        .into_iter()
        .map(|Placed { offset, path, mistake }| {
            let (line, column) = line_and_column(text, offset);
            FileProblem { line, column, path: path.as_str().to_owned(), mistake }
        })
        .collect();
    if more > 0 {
        problems.push(FileProblem::of_file(FileMistake::More { count: more }));
    }
    problems
}

#[cfg(test)]
mod tests;
