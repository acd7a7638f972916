//! The subject of an error.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Kind, Scope};

/// The subject of an error, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Subject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The field of the input or of the entity, as in `preferred_models[0].model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// A revision's number, or its tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<FilePlace>,
    /// The users of the entity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
}

/// A place in a file, or the file as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FilePlace {
    pub path: String,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// From 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl Subject {
    pub fn entity(kind: Kind, name: impl Into<String>) -> Self {
        Self { kind: Some(kind), name: Some(name.into()), ..Self::default() }
    }

    pub fn field(field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::default() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers hold numbers, ids and texts")]
    pub fn session(id: impl ToString) -> Self {
        Self { session: Some(id.to_string()), ..Self::default() }
    }

    pub fn file(path: impl Into<String>) -> Self {
        let place = FilePlace { path: path.into(), line: None, column: None };
        Self { place: Some(place), ..Self::default() }
    }

    #[must_use]
    pub fn in_scope(self, scope: Scope) -> Self {
        Self { scope: Some(scope), ..self }
    }

    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "callers hold numbers, ids and texts")]
    pub fn at_revision(self, revision: impl ToString) -> Self {
        Self { revision: Some(revision.to_string()), ..self }
    }

    #[must_use]
    pub fn at_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
