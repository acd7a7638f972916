//! Names that several scopes define.

use std::collections::BTreeMap;

use persona::{Kind, Name, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Written;

/// A name that several scopes define.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    pub kind: Kind,
    pub name: Name,
    /// The scope whose definition counts.
    pub in_force: Scope,
    /// Strongest first.
    pub scopes: Vec<Scope>,
    /// True if all definitions are equal.
    pub identical: bool,
    pub fields: Vec<FieldConflict>,
}

/// The names that several scopes define.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConflictList {
    pub items: Vec<Conflict>,
}

/// A field in which scopes differ; a scope that does not set it is absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FieldConflict {
    pub field: String,
    pub values: BTreeMap<Scope, Value>,
}

/// The outcome of resolving a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resolved {
    pub kind: Kind,
    pub name: Name,
    pub kept: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// The scopes in which the name was deleted.
    pub deleted: Vec<Scope>,
}
