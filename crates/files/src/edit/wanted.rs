//! An entity as it would be written in a file: what must stand there, and what goes without
//! saying.

use persona::{AnyEntity, with_entity};
use serde::Serialize;

mod serialize;

use serialize::{Build, Never};

/// A value of a file. Two are equal where they say the same, however they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Wanted>),
    Table(Fields),
}

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) fields: Vec<Field>,
    /// Whether the order of an element follows from its position where it is not written.
    pub(crate) positional: bool,
    /// Whether it may be written as its bare name where nothing else needs to be said.
    pub(crate) may_be_bare: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Wanted,
    /// Whether it means the same where it is not written.
    pub(crate) implied: bool,
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Field, &Field)| a.key == b.key && a.value == b.value;
        self.fields.len() == other.fields.len() && self.fields.iter().zip(&other.fields).all(same)
    }
}

impl Fields {
    pub(crate) fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// What has to be written.
    pub(crate) fn written(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.implied)
    }

    /// The name alone, where that says everything.
    pub(crate) fn bare_name(&self) -> Option<&str> {
        let only_name = self.may_be_bare && self.written().all(|field| field.key == "name");
        only_name.then(|| self.name()).flatten()
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match &self.get("name")?.value {
            Wanted::Text(name) => Some(name),
            _ => None,
        }
    }

    /// Whether an element that is written without (or with) its order says the same at another
    /// position as this one.
    pub(crate) fn equals_at(&self, other: &Self, order_is_written: bool) -> bool {
        if !self.positional || order_is_written {
            return self == other;
        }
        let rest = |fields: &Self| -> Vec<Field> {
            fields.fields.iter().filter(|field| field.key != "order").cloned().collect()
        };
        let same = |(a, b): (&Field, &Field)| a.key == b.key && a.value == b.value;
        let (mine, theirs) = (rest(self), rest(other));
        mine.len() == theirs.len()
            && mine.iter().zip(&theirs).all(same)
            && other.get("order").is_none_or(|order| order.implied)
    }
}

/// The fields of an entity, in the order of its type, without its name.
pub(crate) fn wanted(entity: &AnyEntity) -> Result<Fields, Never> {
    let built = with_entity!(entity, entity => entity.serialize(Build { position: 0 }))?;
    let Some(Wanted::Table(mut fields)) = built else { return Err(Never::default()) };
    fields.fields.retain(|field| field.key != "name");
    Ok(fields)
}
