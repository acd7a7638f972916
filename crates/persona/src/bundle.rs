//! What a store hands in: a persona with everything that it refers to, loaded at once.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Guardrail, Name, Part, Persona, Scope, Skill, Trait};

/// Where an entity is kept, and which revision of it this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    pub scope: Scope,
    /// Counts this entity's changes; a builtin is always at 0.
    pub revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

impl Meta {
    /// What stands beside everything that is compiled in.
    pub const BUILTIN: Self =
        Self { scope: Scope::Builtin, revision: 0, guid: None, created_at: None, updated_at: None };
}

/// A definition with its place and revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<T> {
    pub entity: T,
    pub meta: Meta,
}

/// The stage of its arc in which a persona is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveStage {
    pub arc: Name,
    pub stage: Name,
    pub order: i32,
    /// How many stages the arc has, and which of them this is, from 1.
    pub of: i64,
    pub position: i64,
    pub description: Option<String>,
    pub condition: Option<String>,
    pub parts: Vec<Part>,
}

/// Text that was compiled earlier, and the fingerprint of what it was compiled from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    pub summary: String,
    pub detail: String,
    pub at: DateTime<Utc>,
    pub fingerprint: String,
}

/// A persona with everything that it refers to. The pieces stand in no particular order; the
/// links in `persona` say where each belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    pub persona: Persona,
    pub meta: Meta,
    pub parts: Vec<Part>,
    pub traits: Vec<Trait>,
    pub skills: Vec<Skill>,
    pub guardrails: Vec<Guardrail>,
    pub stage: Option<ActiveStage>,
    pub compiled: Option<Compiled>,
    /// The parts that a caller's overrides name, as far as they exist.
    #[serde(default)]
    pub override_parts: Vec<Part>,
}
