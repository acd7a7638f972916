//! A word of a closed vocabulary, or none.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Deserializer};

/// A word of a closed vocabulary. An empty text clears the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<T>(pub Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word.is_empty() {
            return Ok(Self(None));
        }
        T::deserialize(StrDeserializer::<D::Error>::new(&word)).map(|word| Self(Some(word)))
    }
}

/// The schema lists only the words, so that no agent clears the field by mistake.
impl<T: JsonSchema> JsonSchema for Choice<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
