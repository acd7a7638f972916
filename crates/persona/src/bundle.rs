//! What a store hands in: a persona with everything that it refers to, loaded at once.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{CharacterArc, Guardrail, Kind, LayerOrigin, Name, Part, Persona, Scope, Skill, Trait};

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
    /// Where the arc is kept. The database says nothing of it, since all that it has is shared.
    #[serde(default = "shared")]
    pub scope: Scope,
    /// The parts that were found in another scope than the arc.
    #[serde(default)]
    pub piece_scopes: Vec<PieceScope>,
}

/// Where whatever the database had is kept.
fn shared() -> Scope {
    Scope::Shared
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
    #[serde(default = "shared")]
    pub scope: Scope,
    /// The parts that were found in another scope than the arc.
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

/// The scope that a piece was found in, where it is not the scope of the definition that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceScope {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
}

/// Where the pieces of one layer were found. Two layers may have pieces of one name from two
/// scopes, so that nothing but the layer itself says where its piece is from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// That of whatever names them.
    pub(crate) scope: Scope,
    pub(crate) elsewhere: &'a [PieceScope],
}

impl<'a> Found<'a> {
    pub(crate) fn of_overrides(elsewhere: &'a [PieceScope]) -> Self {
        Self { scope: Scope::Shared, elsewhere }
    }

    /// Where a piece was found, if that was not in the layer's own scope.
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
    /// Where those are from that are not shared: the caller's names belong to no scope.
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

    /// The scope of a piece that the persona or one of its bases names: that of the strongest
    /// layer which names it. What the stage and the overrides mean by a name is another matter;
    /// see [`Bundle::part_scope`].
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
