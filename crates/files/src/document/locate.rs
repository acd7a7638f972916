//! Finds the place of an entry or a field in a file.

use std::cell::OnceCell;
use std::path::PathBuf;

use persona::Kind;
use persona::env::Place as PlaceInText;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::include::relative_path;
use super::value::field_of_file_key;

/// Line and column, from 1, of an entry or of a field in it (`summary`, `preferred_models[0].model`).
/// Use a [`Locator`] for several lookups in one file.
pub fn locate(text: &str, kind: Kind, name: &str, field: Option<&str>) -> Option<(usize, usize)> {
    Locator::new(text)?.find(kind, name, field)
}

/// A parsed file that answers where things stand.
#[derive(Debug)]
pub struct Locator<'t> {
    text: &'t str,
    table: Spanned<DeTable<'t>>,
    /// Offsets at which lines begin; counted at the first question.
    lines: OnceCell<Vec<usize>>,
}

impl<'t> Locator<'t> {
    /// `None` if the text is not TOML.
    pub fn new(text: &'t str) -> Option<Self> {
        Some(Self { text, table: DeTable::parse(text).ok()?, lines: OnceCell::new() })
    }

    /// The place of the entry; with a field, that of the field, as far as it is written.
    pub fn find(&self, kind: Kind, name: &str, field: Option<&str>) -> Option<(usize, usize)> {
        let entries = self.table.get_ref().get(kind.table())?.get_ref().as_table()?;
        let (key, entry) = entries.get_key_value(name)?;
        let field = field.and_then(|field| offset_of_field(entry.get_ref().as_table()?, field, End::Key));
        Some(self.place(field.unwrap_or(key.span().start)))
    }

    /// The place of something inside a field's text. `None` if the place cannot be derived, for example
    /// written, as after an escape or a line that is folded.
    pub fn find_in_text(&self, kind: Kind, name: &str, field: &str, at: PlaceInText) -> Option<TextPlace> {
        let entries = self.table.get_ref().get(kind.table())?.get_ref().as_table()?;
        let reached = reach(entries.get(name)?.get_ref().as_table()?, field)?;
        let text = reached.value.get_ref().as_str().filter(|_| reached.whole)?;
        if reached.is_file_key {
            return relative_path(text).ok().map(TextPlace::Included);
        }
        let span = reached.value.span();
        let written = self.text.get(span.clone())?;
        let body = ["\"\"\"", "'''"].iter().find_map(|quotes| written.strip_prefix(quotes))?;
        // A line end right after the quotes is not part of the text.
        let body = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
        let before = offset_of(text, at)?;
        let (line, column) = (body.get(..before)? == &text[..before])
            .then(|| self.place(span.start + (written.len() - body.len()) + before))?;
        Some(TextPlace::Here { line, column })
    }

    fn place(&self, offset: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| {
            let first = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(first).chain(ends.map(|(at, _)| at + 1)).collect()
        });
        let line = lines.partition_point(|start| *start <= offset).max(1);
        let before = self.text.get(lines[line - 1]..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}

/// The written place of something in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPlace {
    /// In the personas.toml itself, counted from 1.
    Here { line: usize, column: usize },
    /// At the same line and column of a file of its own, relative to [`super::directory_of`].
    Included(PathBuf),
}

/// The byte of a text at which a place is.
fn offset_of(text: &str, at: PlaceInText) -> Option<usize> {
    let line = at.line.checked_sub(1)?;
    let mut ends = text.match_indices('\n').map(|(end, _)| end + 1);
    let start = if line == 0 { 0 } else { ends.nth(line - 1)? };
    let column = text[start..].char_indices().nth(at.column.checked_sub(1)?)?.0;
    Some(start + column)
}

/// Which end of `key = value` a field's place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Key,
    Value,
}

/// The offset of a field given by its path, or of the longest part of the path that is written. `None` if
/// no step is. In lists a step may be an index or an element's name.
pub(crate) fn offset_of_field(entry: &DeTable<'_>, path: &str, end: End) -> Option<usize> {
    let reached = reach(entry, path)?;
    Some(if end == End::Key { reached.key } else { reached.value.span().start })
}

/// How far the steps of a path lead.
struct Reached<'a, 'i> {
    /// The offset of the last step's key.
    key: usize,
    value: &'a Spanned<DeValue<'i>>,
    /// True if the value is the path of a file with the text.
    is_file_key: bool,
    /// True if every step was found.
    whole: bool,
}

fn reach<'a, 'i>(entry: &'a DeTable<'i>, path: &str) -> Option<Reached<'a, 'i>> {
    let mut reached: Option<Reached<'a, 'i>> = None;
    let mut place = Some(Place::Table(entry));
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let next = place.and_then(|place| place.step(step));
        let Some(next) = next else {
            return reached.map(|reached| Reached { whole: false, ..reached });
        };
        place = match next.value.get_ref() {
            DeValue::Table(table) => Some(Place::Table(table)),
            DeValue::Array(array) => Some(Place::List(array)),
            _ => None,
        };
        reached = Some(next);
    }
    reached
}

enum Place<'a, 'i> {
    Table(&'a DeTable<'i>),
    List(&'a [Spanned<DeValue<'i>>]),
}

impl<'a, 'i> Place<'a, 'i> {
    fn step(self, step: &str) -> Option<Reached<'a, 'i>> {
        match self {
            Self::Table(table) => {
                let file_key = format!("{step}_file");
                let (key, value) =
                    table.get_key_value(step).or_else(|| table.get_key_value(file_key.as_str()))?;
                let is_file_key = *key.get_ref() != step && field_of_file_key(key.get_ref()).is_some();
                Some(Reached { key: key.span().start, value, is_file_key, whole: true })
            }
            Self::List(list) => {
                let named = |value: &&Spanned<DeValue<'_>>| match value.get_ref() {
                    DeValue::String(name) => name == step,
                    other => other.get("name").and_then(|name| name.get_ref().as_str()) == Some(step),
                };
                let index: Option<usize> = step.parse().ok();
                let value = index.and_then(|index| list.get(index)).or_else(|| list.iter().find(named))?;
                Some(Reached { key: value.span().start, value, is_file_key: false, whole: true })
            }
        }
    }
}
