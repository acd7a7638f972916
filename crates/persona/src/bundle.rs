//! Bundles: a persona with everything it refers to, as loaded from a store.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    AnyEntity, CharacterArc, Guardrail, Kind, LayerOrigin, Name, Part, Persona, Scope, Skill, Trait,
};

/// The scope, revision and times of an entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    pub scope: Scope,
    /// Counts the changes of this entity; 0 for a builtin.
    pub revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

impl Meta {
    /// The meta data of every builtin.
    pub const BUILTIN: Self =
        Self { scope: Scope::Builtin, revision: 0, guid: None, created_at: None, updated_at: None };
}

/// A definition with its place and revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<T> {
    pub entity: T,
    pub meta: Meta,
}

impl Stored<AnyEntity> {
    /// The definition as one of its kind. None if it is of another.
    pub fn of_kind<T: TryFrom<AnyEntity>>(self) -> Option<Stored<T>> {
        let entity = T::try_from(self.entity).ok()?;
        Some(Stored { entity, meta: self.meta })
    }
}

/// The current stage of a persona.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveStage {
    pub arc: Name,
    pub stage: Name,
    pub order: i32,
    /// The number of stages of the arc, and the position of this one, from 1.
    pub of: i64,
    pub position: i64,
    pub description: Option<String>,
    pub condition: Option<String>,
    pub parts: Vec<Part>,
    /// The scope of the arc. Absent in documents of the database, where everything is shared.
    #[serde(default = "shared")]
    pub scope: Scope,
    /// The parts that are in another scope than the arc.
    #[serde(default)]
    pub piece_scopes: Vec<PieceScope>,
}

/// The scope of everything in the database.
fn shared() -> Scope {
    Scope::Shared
}

/// Compiled text, and the fingerprint of its sources.
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
    #[serde(default = "shared")]
    pub scope: Scope,
    /// The parts that are in another scope than the arc.
    #[serde(default)]
    pub piece_scopes: Vec<PieceScope>,
}

impl LoadedArc {
    /// The stage of that name, or the first one.
    pub fn active(&self, current: Option<&Name>) -> Option<ActiveStage> {
        let walk = self.arc.walk();
        let at = walk.iter().position(|stage| Some(&stage.name) == current).unwrap_or(0);
        let stage = walk.get(at)?;
        let named = |name: &Name| self.parts.iter().find(|part| part.name == *name).cloned();
        let of_stage = self.piece_scopes.iter().filter(|piece| stage.parts.contains(&piece.name));
        Some(ActiveStage {
            arc: self.arc.name.clone(),
            stage: stage.name.clone(),
            order: stage.order,
            of: walk.len() as i64,
            position: at as i64 + 1,
            description: stage.description.clone(),
            condition: stage.condition.clone(),
            parts: stage.parts.iter().filter_map(named).collect(),
            scope: self.scope,
            piece_scopes: of_stage.cloned().collect(),
        })
    }
}

/// The scope of a piece, if it differs from that of the definition that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceScope {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
}

/// The scopes of the pieces of one layer. Two layers may have pieces of the same name from different
/// scopes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The scope of the layer itself.
    pub(crate) scope: Scope,
    pub(crate) elsewhere: &'a [PieceScope],
}

impl<'a> Found<'a> {
    pub(crate) fn of_overrides(elsewhere: &'a [PieceScope]) -> Self {
        Self { scope: Scope::Shared, elsewhere }
    }

    /// The scope of a piece that is not in the layer's own scope.
    pub(crate) fn elsewhere(&self, kind: Kind, name: &str) -> Option<Scope> {
        let mut pieces = self.elsewhere.iter();
        pieces.find(|piece| piece.kind == kind && piece.name.as_str() == name).map(|piece| piece.scope)
    }

    pub(crate) fn scope_of(&self, kind: Kind, name: &str) -> Scope {
        self.elsewhere(kind, name).unwrap_or(self.scope)
    }
}

impl ActiveStage {
    pub(crate) fn found(&self) -> Found<'_> {
        Found { scope: self.scope, elsewhere: &self.piece_scopes }
    }
}

/// A base of a persona, with its pieces.
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

/// A persona with everything it refers to. The pieces are in no particular order; the links in
/// `persona` have the order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    pub persona: Persona,
    pub meta: Meta,
    pub parts: Vec<Part>,
    pub traits: Vec<Trait>,
    pub skills: Vec<Skill>,
    pub guardrails: Vec<Guardrail>,
    /// Its bases, root first.
    #[serde(default)]
    pub bases: Vec<Base>,
    pub stage: Option<ActiveStage>,
    pub compiled: Option<Compiled>,
    /// The existing parts that a caller's overrides name.
    #[serde(default)]
    pub override_parts: Vec<Part>,
    /// The scopes of those that are not shared.
    #[serde(default)]
    pub override_scopes: Vec<PieceScope>,
    #[serde(default)]
    pub piece_scopes: Vec<PieceScope>,
}

impl Base {
    pub(crate) fn found(&self) -> Found<'_> {
        Found { scope: self.meta.scope, elsewhere: &self.piece_scopes }
    }
}

impl Bundle {
    pub(crate) fn found(&self) -> Found<'_> {
        Found { scope: self.meta.scope, elsewhere: &self.piece_scopes }
    }

    /// The scope of a piece that the persona or one of its bases names: that of the strongest layer that
    /// names it. For parts of the stage and of overrides, see [`Bundle::part_scope`].
    pub fn piece_scope(&self, kind: Kind, name: &Name) -> Option<Scope> {
        let own = [(&self.persona, self.found())];
        let bases = self.bases.iter().rev().map(|base| (&base.persona, base.found()));
        own.into_iter().chain(bases).find_map(|(persona, found)| {
            let names = match kind {
                Kind::Part => persona.parts.iter().any(|link| link.name == *name),
                Kind::Trait => persona.traits.contains(name),
                Kind::Skill => persona.skills.contains(name),
                Kind::Guardrail => persona.guardrails.contains(name),
                _ => false,
            };
            names.then(|| found.scope_of(kind, name.as_str()))
        })
    }

    /// The scope of a part that the layers of an origin supply.
    pub fn part_scope(&self, origin: LayerOrigin, name: &Name) -> Option<Scope> {
        let scope_in = |found: Found<'_>| found.scope_of(Kind::Part, name.as_str());
        match origin {
            LayerOrigin::Base | LayerOrigin::Own => self.piece_scope(Kind::Part, name),
            LayerOrigin::Stage => self.stage.as_ref().map(|stage| scope_in(stage.found())),
            LayerOrigin::Override => Some(scope_in(Found::of_overrides(&self.override_scopes))),
        }
    }
}
