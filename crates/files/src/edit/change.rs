//! The smallest changes that turn a written entry into the intended one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::field_value::{Field, FieldValue, Fields};
use super::outline::{Outline, is_blank, line_end, line_start};
use super::render::{self, Newline};
use super::splice::Splice;
use super::syntax::{Shape, Value, decode_string};
use super::tree::{Entry, Node, Table, Written};
use crate::document::{Document, Overlay, field_of_file_key, relative_path};

mod lists;
mod place;
mod values;

/// Gathers the changes of one entry.
#[derive(Debug)]
pub(crate) struct Changes<'t> {
    outline: &'t Outline<'t>,
    text: &'t str,
    newline: Newline,
    /// The whole file as it was read.
    current: &'t Document,
    /// True if a changed field is written again as a whole, because finer changes went wrong.
    coarse: bool,
    /// Sections that are cut away.
    cut: BTreeSet<usize>,
    splices: Vec<Splice>,
    /// Included files whose text changes.
    files: Vec<(PathBuf, String)>,
    /// The texts of the entry's included files afterwards, changed or not.
    overlay: Overlay,
}

/// The previous state of an entry, for comparison, and the keys of its type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before<'a> {
    /// `None` if the entry could not be read: then every field is written again.
    pub(crate) fields: Option<&'a Fields>,
    /// Keys that are fields of the type, where that does not follow from `fields`.
    pub(crate) known: &'static [&'static str],
}

impl Before<'_> {
    fn value(&self, key: &str) -> Option<&FieldValue> {
        self.fields?.get(key).map(|field| &field.value)
    }

    /// True if a key that is not a field any more has to go. Unknown keys stay.
    fn owns(&self, key: &str) -> bool {
        self.value(key).is_some() || self.known.contains(&key)
    }
}

impl<'t> Changes<'t> {
    pub(crate) fn new(outline: &'t Outline<'t>, current: &'t Document, coarse: bool) -> Self {
        let text = outline.text;
        let newline = Newline::of(text);
        let (splices, files, overlay) = (Vec::new(), Vec::new(), Overlay::new());
        Self { outline, text, newline, current, coarse, cut: BTreeSet::new(), splices, files, overlay }
    }

    /// Changes the entry to the intended fields.
    pub(crate) fn put(&mut self, entry: &Entry, path: &str, name: &str, before: Before<'_>, new: &Fields) {
        match &entry.written {
            Written::Table(table) => {
                self.own_name(entry, table, name);
                self.table(entry, table, path, before, new, true);
            }
            Written::Line(_) | Written::Nested { .. } => {
                if let Some(value) = whole_value(entry) {
                    let text = self.whole_inline(value, name, before, new);
                    self.replace(value, text);
                }
            }
        }
    }

    /// Gives the entry another key.
    pub(crate) fn rename(&mut self, entry: &Entry, new: &str) {
        for key in &entry.names {
            self.splices.push(Splice::replace(key.span.clone(), render::key(new)));
        }
        match &entry.written {
            Written::Table(table) => self.own_name(entry, table, new),
            _ => {
                if let Some(Shape::Table(items)) = whole_value(entry).map(|value| &value.shape) {
                    for item in
                        items.iter().filter(|item| item.keys.len() == 1 && item.keys[0].text == "name")
                    {
                        self.replace(&item.value, render::one_line(new));
                    }
                }
            }
        }
    }

    /// A `name` inside the entry has to match its key.
    fn own_name(&mut self, entry: &Entry, table: &Table, name: &str) {
        if let Some(Node::Line(line)) = table.get("name") {
            let value = &entry.lines[*line].assign.value;
            if decode_string(&self.text[value.span.clone()]).as_deref() != Some(name) {
                self.replace(value, render::one_line(name));
            }
        }
    }

    fn replace(&mut self, value: &Value, text: String) {
        if self.text[value.span.clone()] != text {
            self.splices.push(Splice::replace(value.span.clone(), text));
        }
    }

    /// Changes a table that is written as headers and lines.
    fn table(
        &mut self,
        entry: &Entry,
        table: &Table,
        path: &str,
        before: Before<'_>,
        new: &Fields,
        whole: bool,
    ) {
        let mut missing = Vec::new();
        for field in &new.fields {
            let file_key = format!("{}_file", field.key);
            let old = before.value(&field.key);
            let done = match (table.get(&field.key), table.get(&file_key)) {
                (Some(node), None) => self.field(entry, node, path, old, field),
                (None, Some(Node::Line(line))) if field_of_file_key(&file_key).is_some() => {
                    self.file_line(entry, *line, old, field);
                    true
                }
                // Both are given, which cannot be read: keep the text itself.
                (Some(node), Some(file)) if field_of_file_key(&file_key).is_some() => {
                    self.remove(entry, file);
                    self.field(entry, node, path, old, field)
                }
                (Some(node), Some(_)) => self.field(entry, node, path, old, field),
                (None, _) => false,
            };
            if !done && !field.implied {
                missing.push(field);
            }
        }
        for (key, node) in &table.fields {
            let own = |key: &str| key != "name" || !whole;
            let field_key = match field_of_file_key(key) {
                Some(field) if before.owns(field) => field,
                _ => key,
            };
            if own(key) && new.get(field_key).is_none() && before.owns(field_key) {
                self.remove(entry, node);
            }
        }
        self.insert(entry, table, path, &missing, whole);
    }

    /// Changes an existing field. False if it was removed and has to be written again.
    fn field(
        &mut self,
        entry: &Entry,
        node: &Node,
        path: &str,
        old: Option<&FieldValue>,
        field: &Field,
    ) -> bool {
        if old == Some(&field.value) {
            return true;
        }
        if field.implied {
            self.remove(entry, node);
            return true;
        }
        match (node, old, &field.value) {
            (Node::Line(line), _, new) => {
                let value = &entry.lines[*line].assign.value;
                let text = self.line_value(value, &field.key, old, new);
                self.replace(value, text);
                return true;
            }
            (Node::Table(table), Some(FieldValue::Table(old)), FieldValue::Table(new)) if !self.coarse => {
                let path = format!("{path}.{}", render::key(&field.key));
                let before = Before { fields: Some(old), known: &[] };
                self.table(entry, table, &path, before, new, false);
                return true;
            }
            (Node::Tables(tables), Some(FieldValue::List(old)), FieldValue::List(new)) if !self.coarse => {
                let path = format!("{path}.{}", render::key(&field.key));
                if self.tables(entry, tables, &path, old, new) {
                    return true;
                }
            }
            _ => {}
        }
        self.remove(entry, node);
        false
    }

    /// Changes an included text: the file itself, unless other fields include it too.
    fn file_line(&mut self, entry: &Entry, line: usize, old: Option<&FieldValue>, field: &Field) {
        let assign = &entry.lines[line].assign;
        if self.file_takes(&assign.value, old, &field.value) {
            return;
        }
        if let Some(key) = assign.keys.last() {
            self.splices.push(Splice::replace(key.span.clone(), render::key(&field.key)));
        }
        let text = render::line_value(&field.key, &field.value, self.newline);
        self.replace(&assign.value, text);
    }

    /// True if an included file has the intended text, or can be given it.
    fn file_takes(&mut self, path: &Value, old: Option<&FieldValue>, new: &FieldValue) -> bool {
        let FieldValue::Text(text) = new else { return false };
        let written = decode_string(&self.text[path.span.clone()]);
        let Some(path) = written.and_then(|written| relative_path(&written).ok()) else { return false };
        if old != Some(new) {
            if !self.current.may_change(&path) {
                return false;
            }
            self.files.push((path.clone(), text.clone()));
        }
        self.overlay.insert(path, text.clone());
        true
    }
}

/// The value that is the whole entry.
fn whole_value(entry: &Entry) -> Option<&Value> {
    match &entry.written {
        Written::Table(_) => None,
        Written::Line(line) => Some(&entry.lines[*line].assign.value),
        Written::Nested { line, item } => match &entry.lines[*line].assign.value.shape {
            Shape::Table(items) => items.get(*item).map(|assign| &assign.value),
            _ => None,
        },
    }
}
