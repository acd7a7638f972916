//! An entity as a file writes it: the fields that must be written, and those that are implied.

use persona::{AnyEntity, with_entity};
use serde::Serialize;

mod serialize;

use serialize::{Build, Never};

/// A value of a field. Two are equal if they mean the same, however they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldValue {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<FieldValue>),
    Table(Fields),
}

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) fields: Vec<Field>,
    /// True if the position of an element implies its order.
    pub(crate) positional: bool,
    /// True if it may be written as its bare name when its other fields are implied.
    pub(crate) may_be_bare: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: FieldValue,
    /// True if leaving it out means the same.
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

    /// The fields that have to be written.
    pub(crate) fn written(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.implied)
    }

    /// The name, if every other field is implied.
    pub(crate) fn bare_name(&self) -> Option<&str> {
        let only_name = self.may_be_bare && self.written().all(|field| field.key == "name");
        only_name.then(|| self.name()).flatten()
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match &self.get("name")?.value {
            FieldValue::Text(name) => Some(name),
            _ => None,
        }
    }

    /// True if an element, written with or without its order, means the same at another position.
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
pub(crate) fn fields_of(entity: &AnyEntity) -> Result<Fields, Never> {
    let built = with_entity!(entity, entity => entity.serialize(Build { position: 0 }))?;
    let Some(FieldValue::Table(mut fields)) = built else { return Err(Never::default()) };
    fields.fields.retain(|field| field.key != "name");
    Ok(fields)
}
