//! Names: keys that are parsed once, at the edge, and never checked again.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::NAME_CHARS;
use crate::report::{AsReport, Code, Subject};

/// The key of an entity: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

/// An invalid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a name must not be empty")]
    Empty,
    #[error("a name has at most {NAME_CHARS} characters, this one has {0}")]
    TooLong(usize),
    #[error("the name {name:?} starts with {first:?} (expected a letter or a digit)")]
    BadStart { name: String, first: char },
    #[error("the name {name:?} contains {bad:?} (expected letters, digits, \"_\" and \"-\")")]
    BadCharacter { name: String, bad: char },
}

impl AsReport for NameError {
    fn code(&self) -> Code {
        Code::InvalidName
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Empty | Self::TooLong(_) => Subject::default(),
            Self::BadStart { name, .. } | Self::BadCharacter { name, .. } => {
                Subject { name: Some(name.clone()), ..Subject::default() }
            }
        }
    }
}

impl Name {
    /// The type's name for a deserializer. One whose errors are data parses a name itself.
    pub const TYPE: &'static str = "Name";

    /// Parses a name.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let first = text.chars().next().ok_or(NameError::Empty)?;
        let length = text.chars().count();
        if length > NAME_CHARS {
            return Err(NameError::TooLong(length));
        }
        if let Some(bad) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '_' || *c == '-')) {
            return Err(NameError::BadCharacter { name: text.to_owned(), bad });
        }
        if !first.is_ascii_alphanumeric() {
            return Err(NameError::BadStart { name: text.to_owned(), first });
        }
        Ok(Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(Self::TYPE, NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
        Name::parse(text).map_err(E::custom)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn inline_schema() -> bool {
        true
    }

    // Without a pattern: the error of `parse` helps more than a client's "does not match", and costs a
    // calling agent no tokens.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests;
