//! Where an entry or one of its fields stands in a file.

use std::cell::OnceCell;

use persona::Kind;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Line and column, from 1, of an entry or of a field in it (`summary`, `preferred_models[0].model`).
/// Whoever asks more than once keeps a [`Locator`].
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
    /// None where the text is not TOML.
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

/// Which end of `key = value` a field's place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Key,
    Value,
}

/// The offset of a field given by its path, of as many of its steps as are written; none where
/// not even the first is. In lists a step may be an index or an element's name.
pub(crate) fn offset_of_field(entry: &DeTable<'_>, path: &str, end: End) -> Option<usize> {
    let mut offset = None;
    let mut place = Place::Table(entry);
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let (key, value) = match place {
            Place::Table(table) => {
                let file_key = format!("{step}_file");
                let Some((key, value)) =
                    table.get_key_value(step).or_else(|| table.get_key_value(file_key.as_str()))
                else {
                    break;
                };
                (key.span().start, value)
            }
            Place::List(list) => {
                let named = |value: &&Spanned<DeValue<'_>>| match value.get_ref() {
                    DeValue::String(name) => name == step,
                    other => other.get("name").and_then(|name| name.get_ref().as_str()) == Some(step),
                };
                let index: Option<usize> = step.parse().ok();
                let value = index.and_then(|index| list.get(index)).or_else(|| list.iter().find(named));
                let Some(value) = value else { break };
                (value.span().start, value)
            }
        };
        offset = Some(if end == End::Key { key } else { value.span().start });
        place = match value.get_ref() {
            DeValue::Table(table) => Place::Table(table),
            DeValue::Array(array) => Place::List(array),
            _ => break,
        };
    }
    offset
}

enum Place<'a, 'i> {
    Table(&'a DeTable<'i>),
    List(&'a [Spanned<DeValue<'i>>]),
}
