//! The manifest: the pieces of a persona without their contents, for agents that load on demand.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::Texts as _;
use crate::{
    Assembled, Kind, LayerOrigin, Name, PartType, Scope, Severity, TokenCounter, TraitType, View,
    compile_view,
};

/// A persona's structure. `on_demand_tools` load the contents of pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    pub name: Name,
    pub scope: Scope,
    pub revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<ManifestPart>,
    pub traits: Vec<ManifestTrait>,
    pub skills: Vec<ManifestItem>,
    pub guardrails: Vec<ManifestItem>,
    /// Tokens of the whole persona.
    pub tokens: ManifestTokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arc: Option<ManifestArc>,
    /// The tools of this connection that load contents, and when to call them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on_demand_tools: BTreeMap<String, String>,
}

/// Tokens of the compiled texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ManifestTokens {
    pub detail: usize,
    pub summary: usize,
    pub tokenizer: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ManifestPart {
    pub name: Name,
    /// Its scope, if it is not the persona's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(rename = "type")]
    pub part_type: PartType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub from: LayerOrigin,
    /// Tokens of the content.
    pub tokens: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ManifestTrait {
    pub name: Name,
    /// Its scope, if it is not the persona's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    pub trait_type: TraitType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Tokens of the instruction.
    pub tokens: usize,
}

/// A skill or a guardrail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ManifestItem {
    pub name: Name,
    /// Its scope, if it is not the persona's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Tokens of the content.
    pub tokens: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ManifestArc {
    pub name: Name,
    pub stage: Name,
    pub position: i64,
    pub of: i64,
}

/// The manifest of an assembled persona. The front fills `on_demand_tools`, because it knows the tools
/// of its caller.
pub fn manifest(assembled: &Assembled<'_>, counter: &dyn TokenCounter) -> Manifest {
    let persona = &assembled.persona;
    let bundle = assembled.bundle;
    let unlike_its_own = |scope: Option<Scope>| scope.filter(|scope| *scope != bundle.meta.scope);
    let elsewhere = |kind, name: &Name| unlike_its_own(bundle.piece_scope(kind, name));
    let parts = assembled.parts.iter().map(|placed| ManifestPart {
        name: placed.part.name.clone(),
        scope: unlike_its_own(bundle.part_scope(placed.origin, &placed.part.name)),
        part_type: placed.part.part_type,
        description: placed.part.description.clone(),
        from: placed.origin,
        tokens: counter.count(placed.part.whole()),
    });
    let traits = assembled.traits.iter().map(|item| ManifestTrait {
        name: item.name.clone(),
        scope: elsewhere(Kind::Trait, &item.name),
        trait_type: item.trait_type,
        description: item.description.clone(),
        tokens: counter.count(item.whole()),
    });
    let skills = assembled.skills.iter().map(|item| ManifestItem {
        name: item.name.clone(),
        scope: elsewhere(Kind::Skill, &item.name),
        severity: None,
        description: item.description.clone(),
        tokens: counter.count(item.whole()),
    });
    let guardrails = assembled.guardrails.iter().map(|item| ManifestItem {
        name: item.name.clone(),
        scope: elsewhere(Kind::Guardrail, &item.name),
        severity: Some(item.severity),
        description: item.description.clone(),
        tokens: counter.count(item.whole()),
    });
    Manifest {
        name: persona.name.clone(),
        scope: assembled.bundle.meta.scope,
        revision: assembled.bundle.meta.revision,
        display_name: persona.display_name.clone(),
        description: persona.description.clone(),
        parts: parts.collect(),
        traits: traits.collect(),
        skills: skills.collect(),
        guardrails: guardrails.collect(),
        tokens: ManifestTokens {
            detail: counter.count(&compile_view(assembled, View::Detail)),
            summary: counter.count(&compile_view(assembled, View::Summary)),
            tokenizer: counter.tokenizer().to_owned(),
        },
        arc: assembled.bundle.stage.as_ref().map(|stage| ManifestArc {
            name: stage.arc.clone(),
            stage: stage.stage.clone(),
            position: stage.position,
            of: stage.of,
        }),
        on_demand_tools: BTreeMap::new(),
    }
}
