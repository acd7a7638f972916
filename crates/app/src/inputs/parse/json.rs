//! JSON values as a deserializer whose errors are data.
//!
//! `serde_json` words its errors itself. This deserializer knows which type a field asks for, so it
//! reports that type, the value and the path of the field.

use persona::Name;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, map};

use super::InputError;
use super::expected::{ExpectedType, found};

type Result<T> = std::result::Result<T, InputError>;

/// One value.
#[derive(Debug, Clone, Copy)]
struct Json<'de>(&'de Value);

impl Json<'_> {
    fn expected<T>(self, expected: ExpectedType) -> Result<T> {
        Err(InputError::Type { field: String::new(), expected, found: found(self.0) })
    }
}

/// Reads whole numbers. A number with a fraction is none, as for `serde_json`.
macro_rules! whole {
    ($($deserialize:ident, $visit:ident, $type:ty;)+) => {
        $(fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let signed = self.0.as_i64().and_then(|number| <$type>::try_from(number).ok());
            let number = signed.or_else(|| self.0.as_u64().and_then(|number| <$type>::try_from(number).ok()));
            match number {
                Some(number) => visitor.$visit(number),
                None => self.expected(ExpectedType::Whole {
                    least: i64::try_from(<$type>::MIN).unwrap_or(i64::MIN),
                    most: u64::try_from(<$type>::MAX).unwrap_or(u64::MAX),
                }),
            }
        })+
    };
}

impl<'de> Deserializer<'de> for Json<'de> {
    type Error = InputError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (.., number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(fields) => visitor.visit_map(Fields::of(fields)),
        }
    }

    whole! {
        deserialize_i8, visit_i8, i8;
        deserialize_i16, visit_i16, i16;
        deserialize_i32, visit_i32, i32;
        deserialize_i64, visit_i64, i64;
        deserialize_u8, visit_u8, u8;
        deserialize_u16, visit_u16, u16;
        deserialize_u32, visit_u32, u32;
        deserialize_u64, visit_u64, u64;
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.as_f64() {
            Some(number) => visitor.visit_f64(number),
            None => self.expected(ExpectedType::Number),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => self.expected(ExpectedType::Flag),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::String(text) => visitor.visit_borrowed_str(text),
            _ => self.expected(ExpectedType::Text),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        type_name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if let (Name::TYPE, Value::String(text)) = (type_name, self.0) {
            Name::parse(text).map_err(|source| InputError::Name { field: String::new(), source })?;
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Value::Array(values) = self.0 else { return self.expected(ExpectedType::List) };
        let mut items = Items { values: values.iter(), index: 0 };
        let read = visitor.visit_seq(&mut items)?;
        match items.values.len() {
            0 => Ok(read),
            _ => Err(InputError::invalid_length(values.len(), &"fewer entries")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Object(fields) => visitor.visit_map(Fields::of(fields)),
            _ => self.expected(ExpectedType::Object),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        type_name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0 {
            Value::Object(fields) => visitor.visit_map(Fields::of(fields)),
            _ if persona::field::TableType::of_type(type_name).is_some_and(|item| item.may_be_bare) => {
                self.expected(ExpectedType::NameOrObject)
            }
            _ => self.expected(ExpectedType::Object),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(BorrowedStrDeserializer::new(word)),
            Value::Object(fields) => visitor.visit_enum(MapAccessDeserializer::new(Fields::of(fields))),
            _ => self.expected(ExpectedType::Text),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { i128 u128 char bytes byte_buf unit unit_struct identifier }
}

/// The fields of an object.
#[derive(Debug)]
pub(super) struct Fields<'de> {
    fields: map::Iter<'de>,
    /// The field whose name was read last.
    current: Option<(&'de str, &'de Value)>,
}

impl<'de> Fields<'de> {
    pub(super) fn of(fields: &'de Map<String, Value>) -> Self {
        Self { fields: fields.iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = InputError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some((name, value)) = self.fields.next() else { return Ok(None) };
        self.current = Some((name, value));
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        static NULL: Value = Value::Null;
        let (name, value) = self.current.take().unwrap_or(("", &NULL));
        seed.deserialize(Json(value)).map_err(|error| error.below(name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

/// The values of a list.
#[derive(Debug)]
struct Items<'de> {
    values: std::slice::Iter<'de, Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = InputError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(value) = self.values.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Json(value)).map(Some).map_err(|error| error.below(&format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}
