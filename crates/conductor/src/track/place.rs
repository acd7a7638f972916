//! Places in a track file: lines and columns, and paths of keys.

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Line and column of an offset, from 1. A column counts characters.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let text = text.get(..offset).unwrap_or(text);
    let line = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = text.rfind('\n').map_or(0, |end| end + 1);
    let column = text[start..].trim_start_matches('\u{feff}').chars().count() + 1;
    (line, column)
}

/// A path of keys and indices, as `tickets[2].caps.tokens`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeyPath(String);

impl KeyPath {
    pub(super) fn key(&self, key: &str) -> Self {
        let is_bare =
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let mut path = self.0.clone();
        if !path.is_empty() {
            path.push('.');
        }
        match is_bare {
            true => path.push_str(key),
            false => {
                let shown: String = key.chars().take(80).collect();
                let _ = write!(path, "{shown:?}");
            }
        }
        Self(path)
    }

    pub(super) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The path of the innermost value that an offset is in, and the path above it as far as that is known.
pub(super) fn path_at(value: &Spanned<DeValue<'_>>, path: &KeyPath, offset: usize) -> KeyPath {
    let is_in = |value: &Spanned<DeValue<'_>>| {
        let span = value.span();
        span.start <= offset && offset < span.end.max(span.start + 1)
    };
    // The span of a table below a heading is that of the heading, so every table is searched.
    let search = |value: &Spanned<DeValue<'_>>, path: KeyPath| {
        let inner = path_at(value, &path, offset);
        (inner != path || is_in(value)).then_some(inner)
    };
    let found = match value.get_ref() {
        DeValue::Table(table) => table.iter().find_map(|(key, value)| search(value, path.key(key.get_ref()))),
        DeValue::Array(array) => {
            array.iter().enumerate().find_map(|(index, value)| search(value, path.index(index)))
        }
        _ => None,
    };
    found.unwrap_or_else(|| path.clone())
}

/// The offset of what a path leads to, or of the last thing on the way that is written.
pub(super) fn offset_of(table: &DeTable<'_>, path: &str) -> usize {
    let mut steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    let Some((key, mut value)) = steps.next().and_then(|step| table.get_key_value(step)) else { return 0 };
    let mut offset = key.span().start;
    for step in steps {
        let next = match value.get_ref() {
            DeValue::Table(table) => table.get_key_value(step).map(|(key, value)| (key.span().start, value)),
            DeValue::Array(array) => {
                let index: Option<usize> = step.parse().ok();
                index.and_then(|index| array.get(index)).map(|value| (value.span().start, value))
            }
            _ => None,
        };
        let Some((start, next)) = next else { break };
        (offset, value) = (start, next);
    }
    offset
}
