//! Checks definitions: bounds, ranges and characters that no store can hold.

use std::collections::BTreeSet;
use std::fmt;

use crate::entity::is_blank;
use crate::field::{AnyValue, Described, Field, Shape, ValueView, value};
use crate::limits;

/// An invalid definition: the field and the rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {rule}")]
pub struct Invalid {
    /// The path of the field: `tags`, `preferred_models[0].top_p`, `stages.first.condition`.
    pub field: String,
    pub rule: BrokenRule,
}

/// The rule that a value breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokenRule {
    TooLong {
        bytes: usize,
        most: usize,
    },
    Nul,
    TooMany {
        count: usize,
        most: usize,
    },
    /// A required text is blank.
    Empty,
    /// An entry of a list is blank.
    EmptyEntry,
    /// A value, or the named entry of a list, is too long or has line breaks.
    NotOneLine {
        entry: Option<String>,
        most: usize,
    },
    OutOfRange {
        value: String,
        least: String,
        most: String,
    },
    TooSmall {
        least: i64,
    },
    /// An entry of a list is repeated.
    Repeated(String),
    /// A path leads out of the project.
    Outside,
    /// A part has no text.
    NoText,
    /// Neither or both of two fields are given.
    EitherOf(&'static str, &'static str),
    /// An expectation has no check, or several.
    NotOneCheck {
        given: Vec<String>,
    },
    /// A field needs another one beside it.
    Without(&'static str),
    /// A switch that can only be on.
    OnlyTrue,
    /// A table has no field.
    NothingInside,
    /// A range has its ends the wrong way around.
    NoNumberBetween,
    /// A number must be odd.
    Even,
    /// A regular expression cannot be read.
    NoPattern {
        reason: String,
    },
    /// A text is not a JSON Schema.
    NoSchema {
        reason: String,
    },
}

impl BrokenRule {
    /// The problem, without advice.
    pub fn description(&self) -> String {
        match self {
            Self::TooLong { bytes, most } => format!("has {bytes} bytes, at most {most} are allowed"),
            Self::Nul => "contains a NUL character".to_owned(),
            Self::TooMany { count, most } => format!("has {count} entries, at most {most} are allowed"),
            Self::Empty => "must not be empty".to_owned(),
            Self::EmptyEntry => "has an empty entry".to_owned(),
            Self::NotOneLine { entry: None, most } => {
                format!("must be one line of at most {most} characters")
            }
            Self::NotOneLine { entry: Some(entry), most } => {
                format!("{entry:?} must be one line of at most {most} characters")
            }
            Self::OutOfRange { value, least, most } => format!("{value} is outside {least} to {most}"),
            Self::TooSmall { least } => format!("must be at least {least}"),
            Self::Repeated(name) => format!("names {name} twice"),
            Self::Outside => "must stay inside the project: no leading \"/\" or \"~\", no \"..\"".to_owned(),
            Self::NoText => "a part without text says nothing".to_owned(),
            Self::EitherOf(one, other) => format!("give either a {one} or a {other}"),
            Self::NotOneCheck { given } if given.is_empty() => "has no check".to_owned(),
            Self::NotOneCheck { given } => format!("has {} checks: {}", given.len(), given.join(", ")),
            Self::Without(other) => format!("means nothing without {other}"),
            Self::OnlyTrue => "can only be true".to_owned(),
            Self::NothingInside => "has no field".to_owned(),
            Self::NoNumberBetween => "has a min above its max".to_owned(),
            Self::Even => "must be odd".to_owned(),
            Self::NoPattern { reason } => format!("is not a regular expression: {reason}"),
            Self::NoSchema { reason } => format!("is not a JSON Schema: {reason}"),
        }
    }

    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::TooLong { most, .. } if *most < limits::SHORT_TEXT_BYTES => Some("shorten it"),
            Self::TooLong { .. } => Some("split it"),
            Self::Nul | Self::EmptyEntry => Some("remove it"),
            Self::Repeated(_) => Some("once is enough"),
            Self::NoText => Some("give content or summary"),
            Self::NotOneCheck { given } if given.is_empty() => Some("give one, such as holds or contains"),
            Self::NotOneCheck { .. } => Some("write one expectation for each"),
            Self::OnlyTrue => Some("remove it"),
            Self::NothingInside => Some("give one, or remove the table"),
            Self::Even => Some("an even number of votes may split in half"),
            Self::TooMany { .. }
            | Self::Empty
            | Self::NotOneLine { .. }
            | Self::OutOfRange { .. }
            | Self::TooSmall { .. }
            | Self::Outside
            | Self::Without(_)
            | Self::NoNumberBetween
            | Self::NoPattern { .. }
            | Self::NoSchema { .. }
            | Self::EitherOf(..) => None,
        }
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description())?;
        self.advice().iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

pub(crate) type Checked = Result<(), Invalid>;

pub(crate) fn invalid(field: impl Into<String>, rule: BrokenRule) -> Checked {
    Err(Invalid { field: field.into(), rule })
}

/// The default for checks across fields. A method of the same name on the type replaces it.
pub(crate) trait Together {
    fn check_together(&self) -> Checked {
        Ok(())
    }
}

impl<T> Together for T {}

/// Checks every field against its description.
pub(crate) fn fields<T: Described + AnyValue>(table: &T) -> Checked {
    every_field(table, 1).pop().map_or(Ok(()), Err)
}

/// The broken rules of the first fields that break one.
pub(crate) fn every_field<T: Described + AnyValue>(table: &T, most: usize) -> Vec<Invalid> {
    let mut found = Vec::new();
    let ValueView::Table(fields) = table.view() else { return found };
    value::walk_fields(&mut String::new(), &fields, &mut |path, field, value| {
        if found.len() < most {
            found.extend(check(path, field, value).err());
        }
    });
    found
}

/// Checks one value. The values inside it are checked separately.
fn check(path: &str, field: &Field, value: &ValueView<'_>) -> Checked {
    let rule = match (field.shape, value) {
        (_, ValueView::Absent) => Ok(()),
        (Shape::Line(most), ValueView::Text(value)) => line(field, value, most),
        (Shape::Text(most), ValueView::Text(value)) => text(field, value, most),
        (Shape::Path, ValueView::Text(value)) => inside(value),
        (Shape::Texts(_), ValueView::Text(value)) => text(field, value, limits::SHORT_TEXT_BYTES),
        (Shape::Texts(most), ValueView::List(values)) => count(values.len(), most),
        (Shape::Words { most, chars }, ValueView::List(values)) => {
            let words = values
                .iter()
                .filter_map(|value| if let ValueView::Text(text) = value { Some(*text) } else { None });
            count(values.len(), most).and_then(|()| entries(words, chars))
        }
        (Shape::Names(_, most), ValueView::List(values)) => {
            count(values.len(), most).and_then(|()| distinct(values.iter().map(name_in)))
        }
        (Shape::List { item, .. }, ValueView::Text(value)) if item.may_be_text => {
            text(field, value, limits::SHORT_TEXT_BYTES)
        }
        (Shape::List { most, item }, ValueView::List(values)) => count(values.len(), most).and_then(|()| {
            let is_distinct = item.is_named || field.shape.names().is_some();
            if is_distinct { distinct(values.iter().map(name_in)) } else { Ok(()) }
        }),
        (Shape::Map { most, chars, .. }, ValueView::Map(values)) => {
            count(values.len(), most).and_then(|()| entries(values.iter().map(|(key, _)| *key), chars))
        }
        (Shape::Whole { least, most, .. }, ValueView::Whole(value)) => whole(*value, least, most),
        (Shape::Number { least, most, .. }, ValueView::Number(value)) => number(*value, least, most),
        _ => Ok(()),
    };
    // Errors in plain lists name the list: `tags`, not `tags[3]`.
    let is_entry = matches!((field.shape, value), (Shape::Texts(_), ValueView::Text(_)));
    let place = if is_entry { path.rsplit_once('[').map_or(path, |(list, _)| list) } else { path };
    rule.map_err(|rule| Invalid { field: place.to_owned(), rule })
}

fn text(field: &Field, value: &str, most: usize) -> Result<(), BrokenRule> {
    if value.len() > most {
        return Err(BrokenRule::TooLong { bytes: value.len(), most });
    }
    if value.contains('\0') {
        return Err(BrokenRule::Nul);
    }
    if field.says_something && is_blank(value) {
        return Err(BrokenRule::Empty);
    }
    Ok(())
}

fn line(field: &Field, value: &str, most: usize) -> Result<(), BrokenRule> {
    if field.says_something && is_blank(value) {
        return Err(BrokenRule::Empty);
    }
    if value.chars().count() > most || value.chars().any(char::is_control) {
        return Err(BrokenRule::NotOneLine { entry: field.says_something.then(|| shown(value)), most });
    }
    Ok(())
}

fn inside(value: &str) -> Result<(), BrokenRule> {
    if value.len() > limits::SHORT_TEXT_BYTES {
        return Err(BrokenRule::TooLong { bytes: value.len(), most: limits::SHORT_TEXT_BYTES });
    }
    if value.contains('\0') {
        return Err(BrokenRule::Nul);
    }
    if is_blank(value) {
        return Err(BrokenRule::Empty);
    }
    let leads_out = value.starts_with(['/', '~']) || value.split(['/', '\\']).any(|step| step == "..");
    if leads_out { Err(BrokenRule::Outside) } else { Ok(()) }
}

fn count(count: usize, most: usize) -> Result<(), BrokenRule> {
    if count > most { Err(BrokenRule::TooMany { count, most }) } else { Ok(()) }
}

/// Checks the entries of a list of words, or the keys of a table.
fn entries<'a>(mut values: impl Iterator<Item = &'a str>, most: usize) -> Result<(), BrokenRule> {
    values.try_for_each(|value| {
        if is_blank(value) {
            return Err(BrokenRule::EmptyEntry);
        }
        if value.chars().count() > most || value.chars().any(char::is_control) {
            return Err(BrokenRule::NotOneLine { entry: Some(shown(value)), most });
        }
        Ok(())
    })
}

/// The beginning of a value, for a message.
fn shown(value: &str) -> String {
    value.chars().take(20).collect()
}

/// The name of an entry of a list.
fn name_in<'a>(value: &ValueView<'a>) -> Option<&'a str> {
    match value {
        ValueView::Name(name) => Some(name.as_str()),
        ValueView::Table(fields) => {
            fields.iter().find(|(field, _)| field.name == "name").and_then(|(_, value)| name_in(value))
        }
        _ => None,
    }
}

fn distinct<'a>(names: impl Iterator<Item = Option<&'a str>>) -> Result<(), BrokenRule> {
    let mut seen = BTreeSet::new();
    for name in names.flatten() {
        if !seen.insert(name) {
            return Err(BrokenRule::Repeated(name.to_owned()));
        }
    }
    Ok(())
}

fn whole(value: i64, least: i64, most: i64) -> Result<(), BrokenRule> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    // An upper bound that comes from the type alone is not shown.
    if most >= i64::from(u32::MAX) {
        return Err(BrokenRule::TooSmall { least });
    }
    Err(BrokenRule::OutOfRange { value: value.to_string(), least: least.to_string(), most: most.to_string() })
}

fn number(value: f64, least: f64, most: f64) -> Result<(), BrokenRule> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(BrokenRule::OutOfRange { value: value.to_string(), least: least.to_string(), most: most.to_string() })
}

#[cfg(test)]
mod tests;
