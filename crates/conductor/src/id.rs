//! The ids of tickets and the names of models, parsed once.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use persona::{Name, NameError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::limits::WORD_BYTES;

/// The id of a ticket, unique in its track: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}`, so that it can be a part
/// of a branch and of a path. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TicketId(Name);

impl TicketId {
    /// Parses an id.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        Name::parse(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// This id with a suffix, shortened to the length that an id may have.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        let room = persona::limits::NAME_CHARS.saturating_sub(suffix.len());
        // Ids are ASCII, so every index is a boundary.
        let stem = &self.as_str()[..self.as_str().len().min(room)];
        Self::parse(&format!("{stem}{suffix}")).unwrap_or_else(|_| self.clone())
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Borrow<str> for TicketId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl std::str::FromStr for TicketId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text)
    }
}

impl JsonSchema for TicketId {
    fn schema_name() -> Cow<'static, str> {
        "TicketId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$" })
    }
}

/// A model of a provider, written `provider/model`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Model(Arc<str>);

/// A text that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a model is written as provider/model")]
pub struct ModelError;

impl Model {
    /// Parses `provider/model`. The model may contain more slashes.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let fits = text.len() <= WORD_BYTES && !text.contains(|c: char| c.is_control() || c.is_whitespace());
        match text.split_once('/') {
            Some((provider, model)) if fits && !provider.is_empty() && !model.is_empty() => {
                Ok(Self(text.into()))
            }
            _ => Err(ModelError),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn provider(&self) -> &str {
        self.0.split_once('/').map_or("", |(provider, _)| provider)
    }

    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl TryFrom<String> for Model {
    type Error = ModelError;

    fn try_from(text: String) -> Result<Self, ModelError> {
        Self::parse(&text)
    }
}

impl From<Model> for String {
    fn from(model: Model) -> Self {
        model.as_str().to_owned()
    }
}

impl JsonSchema for Model {
    fn schema_name() -> Cow<'static, str> {
        "Model".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[^/\\s]+/\\S+$" })
    }
}
