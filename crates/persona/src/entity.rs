//! The trait of all kinds, and the rules for texts that replace each other.
//!
//! Entities are definitions. Scope, revision and times are in [`Meta`](crate::Meta). A persona's current
//! stage and compiled text are state.

use crate::check::{self, Checked, Invalid};
use crate::field::{AnyValue, Described, Inherit, Leaf, Shape, ValueView, value};
use crate::limits::LISTED_CHARS;
use crate::{Kind, Name, Reference, Rename, lint};

pub type Tags = Vec<String>;

/// An entity of any kind.
pub trait Entity: Described + AnyValue + Sized {
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

    /// The rules that the definition breaks. Rules across fields count if each field is right by itself.
    fn mistakes(&self, most: usize) -> Vec<Invalid> {
        let found = check::every_field(self, most);
        if found.is_empty() { self.check_whole().err().into_iter().collect() } else { found }
    }

    /// Calls `visit` with every value of every field, its path and the field that describes it.
    fn walk_values<'a>(&'a self, visit: &mut dyn FnMut(&str, &'static crate::Field, &ValueView<'a>)) {
        if let ValueView::Table(fields) = self.view() {
            value::walk_fields(&mut String::new(), &fields, visit);
        }
    }

    /// The references, in the order of fields. Does not include what it removes from a base.
    fn references(&self) -> Vec<Reference> {
        let mut references = Vec::new();
        self.walk_values(&mut |path, field, value| {
            let (kind, name, scope) = match (field.shape, value) {
                (Shape::Name(kind) | Shape::Names(kind, _), ValueView::Name(name)) => (kind, *name, None),
                (Shape::Base, ValueView::Base(base)) => (Kind::Persona, &base.name, base.scope),
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

/// True if a text has nothing to read: spaces and hidden characters only.
pub fn is_blank(text: &str) -> bool {
    !text.chars().any(lint::is_visible)
}

/// The text, unless it is blank.
pub(crate) fn said(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !is_blank(text))
}

/// The first of some fields that says something.
pub(crate) fn first_said<'a, const N: usize>(
    fields: [(&'static str, &'a Option<String>); N],
) -> Option<(&'static str, &'a str)> {
    fields.into_iter().find_map(|(field, text)| Some((field, said(text)?)))
}

/// The texts of a persona or a piece that reach a prompt.
pub(crate) trait Texts {
    /// The author's own short text. Never derived: a guess would cut rules out of prompts.
    fn own_summary(&self) -> Option<&str>;

    /// The field of the author's own short text.
    fn summary_field(&self) -> &'static str;

    /// Everything it says, with the field that says it. `None` if all of them are blank.
    fn whole_said(&self) -> Option<(&'static str, &str)>;

    /// Everything it says, or an empty text.
    fn whole(&self) -> &str {
        self.whole_said().map_or("", |(_, text)| text)
    }

    /// The text for a view. Without a summary of its own, it is whole in both.
    fn text(&self, view: crate::View) -> &str {
        match view {
            crate::View::Summary => self.own_summary().unwrap_or_else(|| self.whole()),
            crate::View::Detail => self.whole(),
        }
    }

    /// True if the text for a view leaves something out: there is a summary, and it is not all.
    fn is_shortened(&self, view: crate::View) -> bool {
        view == crate::View::Summary && self.own_summary().is_some_and(|summary| summary != self.whole())
    }

    /// The field that says the text for a view.
    fn field(&self, view: crate::View) -> &'static str {
        match self.own_summary() {
            Some(_) if view == crate::View::Summary => self.summary_field(),
            _ => self.whole_said().map_or("", |(field, _)| field),
        }
    }
}

/// The mark of a shortened text.
const CUT: &str = " …";

/// The first line of a text, for lists. Ends with `…` if anything is left out: further lines, or
/// what exceeds [`LISTED_CHARS`](crate::limits::LISTED_CHARS). Skips a heading above the line.
pub fn shortened(text: &str) -> String {
    let mut text = text.trim();
    while is_heading(text)
        && let Some((_, below)) = text.split_once('\n')
    {
        text = below.trim_start();
    }
    if is_heading(text) {
        text = text.trim_start_matches('#').trim_start();
    }
    let (line, below) = text.split_once('\n').unwrap_or((text, ""));
    let line = line.trim_end();
    let Some((end, _)) = line.char_indices().nth(LISTED_CHARS) else {
        return if below.is_empty() { line.to_owned() } else { format!("{line}{CUT}") };
    };
    let kept = &line[..end];
    let words = kept.rsplit_once(char::is_whitespace).map(|(words, _)| words.trim_end());
    format!("{}{CUT}", words.filter(|words| !words.is_empty()).unwrap_or(kept))
}

/// True if a text begins with a markdown heading.
fn is_heading(text: &str) -> bool {
    let below_hashes = text.trim_start_matches('#');
    (1..=6).contains(&(text.len() - below_hashes.len())) && below_hashes.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests;
