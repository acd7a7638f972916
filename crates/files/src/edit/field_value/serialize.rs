//! Builds field values from an entity. Its serde form provides the fields, their order and the names of
//! the types.

use std::fmt::Display;

use persona::field::{Shape, TableType};
use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

use super::{Field, FieldValue, Fields};

/// A value that no definition contains.
#[derive(Debug, Clone, Default, thiserror::Error)]
#[error("cannot be written as TOML: {0}")]
pub(crate) struct Never(String);

impl ser::Error for Never {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

fn never<T>(what: impl Display) -> Result<T, Never> {
    Err(Never(what.to_string()))
}

type Built = Result<Option<FieldValue>, Never>;

/// The serializer. An absent value becomes `None`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Build {
    /// The index in a list.
    pub(crate) position: usize,
}

macro_rules! integers {
    ($($method:ident($type:ty)),+ $(,)?) => {
        $(fn $method(self, value: $type) -> Built {
            match i64::try_from(value) {
                Ok(value) => Ok(Some(FieldValue::Integer(value))),
                Err(_) => never(value),
            }
        })+
    };
}

impl Serializer for Build {
    type Ok = Option<FieldValue>;
    type Error = Never;
    type SerializeSeq = List;
    type SerializeTuple = Impossible<Option<FieldValue>, Never>;
    type SerializeTupleStruct = Impossible<Option<FieldValue>, Never>;
    type SerializeTupleVariant = Impossible<Option<FieldValue>, Never>;
    type SerializeMap = Map;
    type SerializeStruct = Struct;
    type SerializeStructVariant = Impossible<Option<FieldValue>, Never>;

    integers!(
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
    );

    fn serialize_bool(self, value: bool) -> Built {
        Ok(Some(FieldValue::Boolean(value)))
    }

    fn serialize_f32(self, value: f32) -> Built {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Built {
        Ok(Some(FieldValue::Float(value)))
    }

    fn serialize_char(self, value: char) -> Built {
        Ok(Some(FieldValue::Text(value.to_string())))
    }

    fn serialize_str(self, value: &str) -> Built {
        Ok(Some(FieldValue::Text(value.to_owned())))
    }

    fn serialize_bytes(self, _: &[u8]) -> Built {
        never("bytes")
    }

    fn serialize_none(self) -> Built {
        Ok(None)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Built {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Built {
        Ok(None)
    }

    fn serialize_unit_struct(self, name: &'static str) -> Built {
        never(name)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Built {
        Ok(Some(FieldValue::Text(variant.to_owned())))
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Built {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Built {
        never(name)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<List, Never> {
        Ok(List(Vec::with_capacity(length.unwrap_or_default())))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Never> {
        never("a tuple")
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Never> {
        never(name)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Never> {
        never(name)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map, Never> {
        Ok(Map { fields: Vec::new(), key: None })
    }

    fn serialize_struct(self, type_name: &'static str, length: usize) -> Result<Struct, Never> {
        Ok(Struct { type_name, position: self.position, fields: Vec::with_capacity(length) })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Never> {
        never(name)
    }
}

pub(crate) struct List(Vec<FieldValue>);

impl SerializeSeq for List {
    type Ok = Option<FieldValue>;
    type Error = Never;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Never> {
        self.0.extend(value.serialize(Build { position: self.0.len() })?);
        Ok(())
    }

    fn end(self) -> Built {
        Ok(Some(FieldValue::List(self.0)))
    }
}

/// A table whose keys are free. Empty, it says what its absence says.
pub(crate) struct Map {
    fields: Vec<Field>,
    key: Option<String>,
}

impl SerializeMap for Map {
    type Ok = Option<FieldValue>;
    type Error = Never;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Never> {
        match key.serialize(Build { position: 0 })? {
            Some(FieldValue::Text(key)) => self.key = Some(key),
            _ => return never("a key that is not a text"),
        }
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Never> {
        if let (Some(key), Some(value)) = (self.key.take(), value.serialize(Build { position: 0 })?) {
            self.fields.push(Field { key, value, implied: false });
        }
        Ok(())
    }

    fn end(self) -> Built {
        let fields = Fields { fields: self.fields, positional: false, may_be_bare: false };
        Ok(Some(FieldValue::Table(fields)))
    }
}

pub(crate) struct Struct {
    type_name: &'static str,
    position: usize,
    fields: Vec<Field>,
}

impl Struct {
    /// True if a field has this value when the file leaves it out.
    fn is_implied(&self, key: &str, value: &FieldValue) -> bool {
        if key == "order"
            && let Some(first) = self.item().and_then(|item| item.first_order)
        {
            let position = i64::try_from(self.position).unwrap_or(i64::MAX);
            return *value == FieldValue::Integer(position.saturating_add(first.into()));
        }
        let fields = persona::fields_of_type(self.type_name).unwrap_or_default();
        let shape = fields.iter().find(|field| field.name == key).map(|field| field.shape);
        match (shape, value) {
            (_, FieldValue::List(list)) => list.is_empty(),
            (Some(Shape::Word(word)), FieldValue::Text(given)) => word.implied == Some(given),
            (Some(Shape::Whole { implied, .. }), FieldValue::Integer(given)) => implied == Some(*given),
            (Some(Shape::Map { .. }), FieldValue::Table(map)) => map.fields.is_empty(),
            _ => false,
        }
    }

    fn item(&self) -> Option<&'static TableType> {
        TableType::of_type(self.type_name)
    }
}

impl SerializeStruct for Struct {
    type Ok = Option<FieldValue>;
    type Error = Never;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Never> {
        if let Some(value) = value.serialize(Build { position: 0 })? {
            let implied = self.is_implied(key, &value);
            self.fields.push(Field { key: key.to_owned(), value, implied });
        }
        Ok(())
    }

    fn end(self) -> Built {
        let positional = self.item().is_some_and(|item| item.first_order.is_some());
        let may_be_bare = self.item().is_some_and(|item| item.may_be_bare);
        Ok(Some(FieldValue::Table(Fields { fields: self.fields, positional, may_be_bare })))
    }
}
