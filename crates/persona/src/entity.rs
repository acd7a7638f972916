//! The trait of all kinds, and the rules for texts that replace each other.
//!
//! Entities are definitions. Scope, revision and times are in [`Meta`](crate::Meta). A persona's current
//! stage and compiled text are state.

use crate::check::{self, Checked};
use crate::field::{Described, Inherit, Leaf, Shape, Value, View, value};
use crate::{Kind, Name, Reference, Rename};

pub type Tags = Vec<String>;

/// An entity of any kind.
pub trait Entity: Described + Value + Sized {
    const KIND: Kind;

    fn name(&self) -> &Name;
    fn set_name(&mut self, name: Name);
    fn tags(&self) -> &Tags;

    /// Checks rules across fields.
    fn check_whole(&self) -> Checked;

    /// Fails if the definition breaks a rule.
    fn check(&self) -> Checked {
        check::fields(self)?;
        self.check_whole()
    }

    /// Calls `visit` with every value of every field, its path and the field that describes it.
    fn walk_values<'a>(&'a self, visit: &mut dyn FnMut(&str, &'static crate::Field, &View<'a>)) {
        if let View::Table(fields) = self.view() {
            value::walk_fields(&mut String::new(), &fields, visit);
        }
    }

    /// The references, in the order of fields. Does not include what it removes from a base.
    fn references(&self) -> Vec<Reference> {
        let mut references = Vec::new();
        self.walk_values(&mut |path, field, value| {
            let (kind, name, scope) = match (field.shape, value) {
                (Shape::Name(kind) | Shape::Names(kind, _), View::Name(name)) => (kind, *name, None),
                (Shape::Base, View::Base(base)) => (Kind::Persona, &base.name, base.scope),
                _ => return,
            };
            if field.inherit != Inherit::Removes {
                let field = without_entry(path, field.name);
                references.push(Reference { kind, name: name.clone(), scope, field });
            }
        });
        references
    }

    /// Applies a rename to the references. Returns true if one changed.
    fn follow_rename(&mut self, rename: &Rename) -> bool {
        let mut changed = false;
        value::visit_fields(self, "", &mut |_, field, leaf| {
            changed |= match (field.shape, leaf) {
                (Shape::Name(kind) | Shape::Names(kind, _), Leaf::Name(name)) => rename.apply(kind, name),
                (Shape::Base, Leaf::Base(base)) => rename.apply_to_base(base),
                _ => false,
            };
        });
        changed
    }
}

/// The path of the list of a reference: `parts` for `parts[0].name`, `traits` for `traits[0]`.
fn without_entry(path: &str, field: &str) -> String {
    let path = path.strip_suffix(".name").filter(|_| field == "name").unwrap_or(path);
    let list = path.strip_suffix(']').and_then(|path| path.rsplit_once('[')).map(|(list, _)| list);
    list.unwrap_or(path).to_owned()
}

/// The text, unless it is blank.
pub(crate) fn said(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

/// The first sentence of a text: up to the first full stop, question or exclamation mark that
/// ends a word, or the first blank line. Skips a heading above it.
pub fn first_sentence(text: &str) -> &str {
    let mut text = text.trim();
    while is_heading(text)
        && let Some((_, below)) = text.split_once('\n')
    {
        text = below.trim_start();
    }
    if is_heading(text) {
        text = text.trim_start_matches('#').trim_start();
    }
    let lines = text.split_inclusive('\n').take_while(|line| !line.trim().is_empty());
    let paragraph = text[..lines.map(str::len).sum()].trim_end();
    let end = paragraph.char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends =
            matches!(c, '.' | '!' | '?') && paragraph[after..].chars().next().is_none_or(char::is_whitespace);
        (ends || c == '。').then_some(after)
    });
    &paragraph[..end.unwrap_or(paragraph.len())]
}

/// True if a text begins with a markdown heading.
fn is_heading(text: &str) -> bool {
    let below_hashes = text.trim_start_matches('#');
    (1..=6).contains(&(text.len() - below_hashes.len())) && below_hashes.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests;
