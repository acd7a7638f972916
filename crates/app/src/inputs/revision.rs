//! A revision in an input: a number, a number in quotes, or a tag.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use store::RevisionRef;

/// A revision's number, or a tag that names one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RevisionText(pub String);

impl RevisionText {
    pub fn parse(&self) -> RevisionRef {
        RevisionRef::parse(&self.0)
    }
}

impl<'de> Deserialize<'de> for RevisionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrTag;

        impl Visitor<'_> for NumberOrTag {
            type Value = RevisionText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a revision's number or a tag")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RevisionText, E> {
                Ok(RevisionText(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RevisionText, E> {
                Ok(RevisionText(number.to_string()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<RevisionText, E> {
                Ok(RevisionText(number.to_string()))
            }
        }

        deserializer.deserialize_any(NumberOrTag)
    }
}

impl JsonSchema for RevisionText {
    fn schema_name() -> Cow<'static, str> {
        "Revision".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}
