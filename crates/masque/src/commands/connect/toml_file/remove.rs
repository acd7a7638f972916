//! Removes one entry from Codex's TOML file.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, Table};

use super::{NAME, SERVERS, invalid};

/// Returns the text without our entry. All other bytes stay. None if there is no entry. The error says why
/// the file stays unchanged.
pub(in super::super) fn remove(old: &str) -> Result<Option<String>, String> {
    let document = Document::parse(old).map_err(|error| invalid(&error))?;
    let Some(ours) = document.get(SERVERS).and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    let mut expected: DocumentMut = old.parse().map_err(|error| invalid(&error))?;
    if let Some(servers) = expected.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        servers.remove(NAME);
    }
    let new = match ours.as_table().filter(|table| !table.is_dotted()) {
        Some(table) => {
            let mut sections = Vec::new();
            collect(table, &mut sections);
            sections.sort_by_key(|section| section.start);
            without(old, &sections)
        }
        // A value is one line, or a few.
        None => expected.to_string(),
    };
    let now: DocumentMut = new.parse().map_err(|error| invalid(&error))?;
    match values(&now) == values(&expected) {
        true => Ok(Some(new)),
        false => Err(format!("its {SERVERS}.{NAME} cannot be separated from the rest")),
    }
}

/// The parts of the text with a header of ours, each from the header to the last value.
fn collect(table: &Table, sections: &mut Vec<Range<usize>>) {
    let mut section = if table.is_implicit() { None } else { table.span() };
    for (_, item) in table {
        match item {
            Item::Table(below) if !below.is_dotted() => collect(below, sections),
            item => {
                if let (Some(section), Some(span)) = (&mut section, item.span()) {
                    section.end = section.end.max(span.end);
                }
            }
        }
    }
    sections.extend(section);
}

/// The text without some sections, and without the empty line that set each apart.
fn without(text: &str, sections: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for section in sections {
        let start = text[..section.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[section.end..].find('\n').map_or(text.len(), |at| section.end + at + 1);
        kept.push_str(&text[from..start.max(from)]);
        from = end.max(from);
        if from == text.len() && kept.ends_with("\n\n") {
            kept.pop();
        }
    }
    kept.push_str(&text[from..]);
    kept
}

/// The values of a document, whatever their layout. An empty table of servers counts as none.
fn values(document: &DocumentMut) -> Option<toml::Table> {
    let mut values: toml::Table = toml::from_str(&document.to_string()).ok()?;
    if values.get(SERVERS).and_then(toml::Value::as_table).is_some_and(toml::Table::is_empty) {
        values.remove(SERVERS);
    }
    Some(values)
}
