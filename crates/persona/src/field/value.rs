//! Values of fields of any type, for code that treats all fields alike.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Field, Inherit, Shape};
use crate::{BaseRef, Kind, Name};

/// A view of a value that hides its Rust type.
#[derive(Debug, Clone)]
pub enum ValueView<'a> {
    /// Not set.
    Absent,
    Text(&'a str),
    Name(&'a Name),
    Base(&'a BaseRef),
    Word(&'static str),
    Whole(i64),
    Number(f64),
    Switch(bool),
    List(Vec<ValueView<'a>>),
    Map(Vec<(&'a str, ValueView<'a>)>),
    Table(Vec<(&'static Field, ValueView<'a>)>),
}

/// A part of a value that can be changed in place.
#[derive(Debug)]
pub enum Leaf<'a> {
    Text(&'a mut String),
    Name(&'a mut Name),
    Base(&'a mut BaseRef),
}

/// Sees every leaf of a value, with its path and its field.
pub type Visit<'v> = &'v mut dyn FnMut(&str, &'static Field, Leaf<'_>);

/// The value of a field.
pub trait AnyValue: Any {
    fn view(&self) -> ValueView<'_>;

    /// Visits every text and name inside.
    fn visit_mut(&mut self, _: &str, _: &'static Field, _: Visit<'_>) {}

    /// True if it is the name, or a link to the name.
    fn refers_to(&self, _: &Name) -> bool {
        false
    }

    /// Takes out every mention of an entity.
    fn unlink(&mut self, _: &Shape, _: Kind, _: &Name) {}

    /// Takes the value of a weaker layer, where this one is not set.
    fn inherit(&mut self, _: &dyn AnyValue) {}

    /// Adds the entries of a weaker layer before its own, but for those that are removed.
    fn unite(&mut self, _: &dyn AnyValue, _: &dyn AnyValue) {}

    fn as_any(&self) -> &dyn Any;
}

impl ValueView<'_> {
    /// True if the field says nothing: it is absent, or an empty list or table.
    pub fn is_unset(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// The value as JSON; fields that are not set are left out.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Absent => Json::Null,
            Self::Text(text) => (*text).into(),
            Self::Name(name) => name.as_str().into(),
            Self::Base(base) => base.to_string().into(),
            Self::Word(word) => (*word).into(),
            Self::Whole(number) => (*number).into(),
            Self::Number(number) => (*number).into(),
            Self::Switch(value) => (*value).into(),
            Self::List(items) => items.iter().map(ValueView::to_json).collect(),
            Self::Map(entries) => Json::Object(
                entries.iter().map(|(key, value)| ((*key).to_owned(), value.to_json())).collect(),
            ),
            Self::Table(fields) => {
                let set = fields.iter().filter(|(_, value)| !matches!(value, ValueView::Absent));
                Json::Object(set.map(|(field, value)| (field.name.to_owned(), value.to_json())).collect())
            }
        }
    }
}

/// Visits a value and everything inside it, each with its path and the field that describes it.
/// Entries of a list are told apart by position, or by name if names are unique.
pub fn walk<'a>(
    path: &mut String,
    field: &'static Field,
    view: &ValueView<'a>,
    visit: &mut dyn FnMut(&str, &'static Field, &ValueView<'a>),
) {
    visit(path, field, view);
    let end = path.len();
    match view {
        ValueView::Table(fields) => walk_fields(path, fields, visit),
        ValueView::List(items) => {
            for (at, item) in items.iter().enumerate() {
                match (field.shape, item) {
                    (Shape::List { item: described, .. }, ValueView::Table(fields)) => {
                        match name_of(fields).filter(|_| described.is_named) {
                            Some(name) => push(path, name),
                            None => drop(write!(path, "[{at}]")),
                        }
                        walk_fields(path, fields, visit);
                    }
                    _ => {
                        let _ = write!(path, "[{at}]");
                        walk(path, field, item, visit);
                    }
                }
                path.truncate(end);
            }
        }
        ValueView::Map(entries) => {
            let Shape::Map { of, .. } = field.shape else { return };
            for (key, value) in entries {
                push(path, key);
                walk(path, of, value, visit);
                path.truncate(end);
            }
        }
        _ => {}
    }
}

/// Visits every field of a table and everything inside.
pub(crate) fn walk_fields<'a>(
    path: &mut String,
    fields: &[(&'static Field, ValueView<'a>)],
    visit: &mut dyn FnMut(&str, &'static Field, &ValueView<'a>),
) {
    let end = path.len();
    for (field, value) in fields {
        push(path, field.name);
        walk(path, field, value, visit);
        path.truncate(end);
    }
}

fn push(path: &mut String, step: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(step);
}

fn join(path: &str, step: &str) -> String {
    let mut joined = path.to_owned();
    push(&mut joined, step);
    joined
}

fn name_of<'a>(fields: &[(&'static Field, ValueView<'a>)]) -> Option<&'a str> {
    fields.iter().find_map(|(field, value)| match value {
        ValueView::Name(name) if field.name == "name" => Some(name.as_str()),
        _ => None,
    })
}

impl AnyValue for String {
    fn view(&self) -> ValueView<'_> {
        ValueView::Text(self)
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        visit(path, field, Leaf::Text(self));
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl AnyValue for Name {
    fn view(&self) -> ValueView<'_> {
        ValueView::Name(self)
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        visit(path, field, Leaf::Name(self));
    }

    fn refers_to(&self, name: &Name) -> bool {
        self == name
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl AnyValue for BaseRef {
    fn view(&self) -> ValueView<'_> {
        ValueView::Base(self)
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        visit(path, field, Leaf::Base(self));
    }

    fn refers_to(&self, name: &Name) -> bool {
        self.name == *name
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

macro_rules! numbers {
    ($($type:ty => |$number:ident| $view:expr),+ $(,)?) => {
        $(impl AnyValue for $type {
            fn view(&self) -> ValueView<'_> {
                let $number = *self;
                $view
            }

            fn as_any(&self) -> &dyn Any {
                self
            }
        })+
    };
}

numbers! {
    u8 => |number| ValueView::Whole(number.into()),
    u32 => |number| ValueView::Whole(number.into()),
    i32 => |number| ValueView::Whole(number.into()),
    f64 => |number| ValueView::Number(number),
    bool => |value| ValueView::Switch(value),
}

impl<T: AnyValue + Clone> AnyValue for Option<T> {
    fn view(&self) -> ValueView<'_> {
        self.as_ref().map_or(ValueView::Absent, AnyValue::view)
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        if let Some(value) = self {
            value.visit_mut(path, field, visit);
        }
    }

    fn unlink(&mut self, shape: &Shape, kind: Kind, name: &Name) {
        if shape.names() == Some(kind) {
            self.take_if(|value| value.refers_to(name));
        }
        if let Some(value) = self {
            value.unlink(shape, kind, name);
        }
    }

    fn inherit(&mut self, below: &dyn AnyValue) {
        let Some(below) = below.as_any().downcast_ref::<Self>() else { return };
        match (&mut *self, below) {
            (Some(value), Some(below)) => value.inherit(below),
            (None, below) => self.clone_from(below),
            (Some(_), None) => {}
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<T: AnyValue + Clone + PartialEq> AnyValue for Vec<T> {
    fn view(&self) -> ValueView<'_> {
        ValueView::List(self.iter().map(AnyValue::view).collect())
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        for (at, value) in self.iter_mut().enumerate() {
            value.visit_mut(&format!("{path}[{at}]"), field, visit);
        }
    }

    fn unlink(&mut self, shape: &Shape, kind: Kind, name: &Name) {
        if shape.names() == Some(kind) {
            self.retain(|value| !value.refers_to(name));
        }
        for value in self {
            value.unlink(shape, kind, name);
        }
    }

    fn inherit(&mut self, below: &dyn AnyValue) {
        if let (true, Some(below)) = (self.is_empty(), below.as_any().downcast_ref::<Self>()) {
            self.clone_from(below);
        }
    }

    fn unite(&mut self, below: &dyn AnyValue, removed: &dyn AnyValue) {
        let Some(below) = below.as_any().downcast_ref::<Self>() else { return };
        let none = Self::new();
        let removed = removed.as_any().downcast_ref::<Self>().unwrap_or(&none);
        let mut all: Self = below.iter().filter(|value| !removed.contains(value)).cloned().collect();
        for value in self.drain(..) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        *self = all;
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<T: AnyValue + Clone + PartialEq> AnyValue for BTreeMap<String, T> {
    fn view(&self) -> ValueView<'_> {
        ValueView::Map(self.iter().map(|(key, value)| (key.as_str(), value.view())).collect())
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        let Shape::Map { of, .. } = field.shape else { return };
        for (key, value) in self {
            value.visit_mut(&join(path, key), of, visit);
        }
    }

    fn inherit(&mut self, below: &dyn AnyValue) {
        if let (true, Some(below)) = (self.is_empty(), below.as_any().downcast_ref::<Self>()) {
            self.clone_from(below);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Implements [`AnyValue`] for a described type: a table of its fields.
macro_rules! table {
    ($type:ident) => {
        impl $crate::field::AnyValue for $type {
            fn view(&self) -> $crate::field::ValueView<'_> {
                let fields = $crate::field::Described::values(self).into_iter();
                $crate::field::ValueView::Table(fields.map(|(field, value)| (field, value.view())).collect())
            }

            fn visit_mut(
                &mut self,
                path: &str,
                _: &'static $crate::Field,
                visit: $crate::field::value::Visit<'_>,
            ) {
                $crate::field::value::visit_fields(self, path, visit);
            }

            fn refers_to(&self, name: &$crate::Name) -> bool {
                let mut fields = $crate::field::Described::values(self).into_iter();
                fields.any(|(field, value)| {
                    field.name == "name" && field.shape.names().is_some() && value.refers_to(name)
                })
            }

            fn unlink(&mut self, _: &$crate::field::Shape, kind: $crate::Kind, name: &$crate::Name) {
                $crate::field::value::unlink_fields(self, kind, name);
            }

            fn inherit(&mut self, below: &dyn $crate::field::AnyValue) {
                if let Some(below) = below.as_any().downcast_ref::<Self>() {
                    $crate::field::value::inherit_fields(self, below);
                }
            }

            fn as_any(&self) -> &dyn std::any::Any {
                self
            }
        }
    };
}
pub(crate) use table;

pub(crate) fn visit_fields<T: super::Described>(table: &mut T, path: &str, visit: Visit<'_>) {
    for (field, value) in table.values_mut() {
        value.visit_mut(&join(path, field.name), field, visit);
    }
}

/// Takes an entity out of all fields but those that remove something from a base.
pub(crate) fn unlink_fields<T: super::Described>(table: &mut T, kind: Kind, name: &Name) {
    for (field, value) in table.values_mut() {
        if field.inherit != Inherit::Removes {
            value.unlink(&field.shape, kind, name);
        }
    }
}

/// Takes every field that is not set from a weaker layer.
pub(crate) fn inherit_fields<T: super::Described>(table: &mut T, below: &T) {
    for ((_, value), (_, below)) in table.values_mut().into_iter().zip(below.values()) {
        value.inherit(below);
    }
}
