//! What a store hands in: a persona with everything that it refers to, loaded at once.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{CharacterArc, Guardrail, Kind, Name, Part, Persona, Scope, Skill, Trait};

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

/// An arc with the parts of all its stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadedArc {
    pub arc: CharacterArc,
    pub parts: Vec<Part>,
}

impl LoadedArc {
    /// The stage of that name, or the first one.
    pub fn active(&self, current: Option<&Name>) -> Option<ActiveStage> {
        let walk = self.arc.walk();
        let at = walk.iter().position(|stage| Some(&stage.name) == current).unwrap_or(0);
        let stage = walk.get(at)?;
        let named = |name: &Name| self.parts.iter().find(|part| part.name == *name).cloned();
        Some(ActiveStage {
            arc: self.arc.name.clone(),
            stage: stage.name.clone(),
            order: stage.order,
            of: walk.len() as i64,
            position: at as i64 + 1,
            description: stage.description.clone(),
            condition: stage.condition.clone(),
            parts: stage.parts.iter().filter_map(named).collect(),
        })
    }
}

/// The scope that a piece was found in, where it is not the scope of the persona that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceScope {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
}

/// A persona that another one builds on, with the pieces that it names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Base {
    pub persona: Persona,
    pub meta: Meta,
    pub parts: Vec<Part>,
    pub traits: Vec<Trait>,
    pub skills: Vec<Skill>,
    pub guardrails: Vec<Guardrail>,
    #[serde(default)]
    pub arc: Option<LoadedArc>,
    #[serde(default)]
    pub piece_scopes: Vec<PieceScope>,
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
    /// What it builds on, root first.
    #[serde(default)]
    pub bases: Vec<Base>,
    pub stage: Option<ActiveStage>,
    pub compiled: Option<Compiled>,
    /// The parts that a caller's overrides name, as far as they exist.
    #[serde(default)]
    pub override_parts: Vec<Part>,
    #[serde(default)]
    pub piece_scopes: Vec<PieceScope>,
}

impl Bundle {
    /// The scope of a piece that the persona or one of its bases names: that of the strongest
    /// layer which names it. Parts of stages and overrides are nobody's in particular.
    pub fn piece_scope(&self, kind: Kind, name: &Name) -> Option<Scope> {
        let own = [(&self.persona, self.meta.scope, &self.piece_scopes)];
        let bases = self.bases.iter().rev().map(|base| (&base.persona, base.meta.scope, &base.piece_scopes));
        own.into_iter().chain(bases).find_map(|(persona, scope, pieces)| {
            let names = match kind {
                Kind::Part => persona.parts.iter().any(|link| link.name == *name),
                Kind::Trait => persona.traits.contains(name),
                Kind::Skill => persona.skills.contains(name),
                Kind::Guardrail => persona.guardrails.contains(name),
                _ => false,
            };
            let found = pieces.iter().find(|piece| piece.kind == kind && piece.name == *name);
            names.then(|| found.map_or(scope, |piece| piece.scope))
        })
    }
}
