//! The field names of a kind, as its type lists them to a deserializer.

use std::cell::Cell;

use persona::{Kind, with_kind};
use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

/// Every field that an entry of a kind can have, its name included.
pub(crate) fn field_names(kind: Kind) -> &'static [&'static str] {
    let names = Cell::new(&[] as &'static [&'static str]);
    // Reading fails on purpose, after the type has listed its fields.
    let _ = with_kind!(kind, T => T::deserialize(Ask(&names)).map(drop));
    names.get()
}

struct Ask<'c>(&'c Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Ask<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only asked for names"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.set(fields);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_tells_its_fields() {
        for kind in Kind::ALL {
            let names = field_names(*kind);
            assert!(names.contains(&"name") && names.contains(&"tags"), "{kind}");
        }
        assert!(field_names(Kind::Persona).contains(&"system_prompt_mode"));
    }
}
