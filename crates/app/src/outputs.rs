//! What callers get. Absent fields are not set.

use chrono::{DateTime, Utc};
use persona::{Kind, Meta, Name, PartType, Scope, Severity, Tags, TraitType};
use schemars::JsonSchema;
use serde::Serialize;

pub use persona::{Manifest, PersonaView};

/// An entity in full, with its place and revision.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Document<T> {
    #[serde(flatten)]
    pub entity: T,
    #[serde(flatten)]
    pub meta: Meta,
}

/// A piece by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Piece {
    pub kind: Kind,
    pub name: Name,
}

/// The outcome of a write. For links and stages, `name` is the persona or the arc.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Written {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub revision: i64,
    /// False where everything was so already; then no revision was made.
    pub changed: bool,
    /// What was created besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Piece>,
    /// Builtins that were copied into this scope first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Piece>,
}

/// The outcome of a delete; deleting what is not there succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    pub kind: Kind,
    pub name: Name,
    pub deleted: bool,
    /// What was linked to it until now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlinked: Vec<Piece>,
    /// A builtin of this name that is in force again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub builtin_in_force: bool,
}

/// Where a persona stands in its arc after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageState {
    pub persona: Name,
    pub scope: Scope,
    pub revision: i64,
    pub arc: Name,
    pub stage: Name,
    pub position: i64,
    pub of: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Piece>,
}

/// Both compiled texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompiledPersona {
    pub name: Name,
    pub compiled_summary: String,
    pub compiled_detail: String,
    pub compiled_at: DateTime<Utc>,
}

/// An entry of a list or a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_type: Option<PartType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trait_type: Option<TraitType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Tags,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// One page; `next_cursor` asks for the following one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    pub items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
