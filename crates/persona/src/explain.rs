//! Explains where the fields and pieces of a persona come from, layer by layer, and merges the layers
//! into one persona.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bundle::Found;
use crate::{Bundle, LayerOrigin, MergeMode, Name, PartType, Persona, Scope, inherit};

mod fields;
mod holders;
mod parts;
mod shifts;

pub use holders::{Holders, named};
pub use shifts::Shift;

/// The origin of a persona's fields and pieces. A `from` is the `scope:name` of a layer; that of a
/// stage is `scope:arc/stage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    pub name: Name,
    pub scope: Scope,
    /// Weakest first: the root of the bases, …, the persona itself, its active stage.
    pub layers: Vec<Layer>,
    /// Every field that is set in the result.
    pub fields: Vec<ExplainedField>,
    /// Every trait, skill, guardrail, test input and tag of the result.
    pub items: Vec<ExplainedItem>,
    /// The parts of the result in assembly order, including names of missing parts.
    pub parts: Vec<ExplainedPart>,
    /// Entries that a layer removed from weaker ones.
    pub removed: Vec<Removed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Layer {
    pub name: String,
    pub scope: Scope,
    /// Absent for a stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    pub role: LayerOrigin,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExplainedField {
    /// Its key, or a path such as `plan_persona.model`.
    pub field: String,
    pub from: String,
    /// The value of that layer; a long text is cut.
    pub value: Value,
    /// The layers whose texts come first, because this one appends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub appends_to: Vec<String>,
    /// The weaker layers that also set it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The scope of the piece that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
    /// True if it names a missing piece.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_found: bool,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExplainedItem {
    /// The field that lists it: `traits`, `skills`, `guardrails`, `test_inputs` or `tags`.
    pub list: String,
    pub name: String,
    /// The strongest layer that lists it; the name resolves from that layer.
    pub from: String,
    /// The weaker layers that also list it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The scope of the piece; absent for a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_found: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExplainedPart {
    pub name: Name,
    /// Absent for a missing part, like the scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_type: Option<PartType>,
    pub order: i32,
    pub priority: i32,
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_found: bool,
    /// The parts of weaker layers that are not in the result because of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedPart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ReplacedPart {
    pub name: Name,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Removed {
    /// The field that listed it.
    pub list: String,
    pub name: String,
    pub from: String,
    /// The layer that removed it.
    pub by: String,
}

/// A persona with its layers merged.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenOut {
    pub persona: Persona,
    /// The scope of the original persona.
    pub scope: Scope,
    /// Names and placeholders that would change their meaning in that scope.
    pub shifts: Vec<Shift>,
}

/// One persona of the chain.
struct Rung<'a> {
    persona: &'a Persona,
    /// Its parts that were found.
    parts: &'a [crate::Part],
    found: Found<'a>,
    label: String,
}

fn rungs(bundle: &Bundle) -> Vec<Rung<'_>> {
    let bases = bundle.bases.iter().map(|base| (&base.persona, &base.parts, base.found()));
    bases
        .chain([(&bundle.persona, &bundle.parts, bundle.found())])
        .map(|(persona, parts, found)| {
            let label = format!("{}:{}", found.scope, persona.name);
            Rung { persona, parts, found, label }
        })
        .collect()
}

/// Explains which layer and scope each field and piece of a persona comes from.
pub fn explain(bundle: &Bundle, holders: &Holders) -> Explanation {
    let rungs = rungs(bundle);
    let stage = bundle.stage.as_ref().map(parts::StageLayer::new);
    let mut layers: Vec<Layer> = rungs
        .iter()
        .zip(bundle.bases.iter().map(|base| base.meta.revision).chain([bundle.meta.revision]))
        .map(|(rung, revision)| Layer {
            name: rung.persona.name.to_string(),
            scope: rung.found.scope,
            revision: Some(revision),
            role: LayerOrigin::Base,
        })
        .collect();
    if let Some(own) = layers.last_mut() {
        own.role = LayerOrigin::Own;
    }
    layers.extend(stage.as_ref().map(|stage| Layer {
        name: stage.name.clone(),
        scope: stage.found.scope,
        revision: None,
        role: LayerOrigin::Stage,
    }));
    let mut removed = Vec::new();
    let parts = parts::explain(bundle, &rungs, stage.as_ref(), &mut removed);
    let items = fields::items(bundle, &rungs, holders, &mut removed);
    let (name, scope) = (bundle.persona.name.clone(), bundle.meta.scope);
    Explanation { name, scope, layers, fields: fields::explain(&rungs, holders), items, parts, removed }
}

/// The persona with everything it inherits, and without bases, modes and removals. The active stage is
/// state and is left out.
///
/// It refers to pieces as its layers do, missing ones included; [`written_out`] lists the names that
/// mean something else in the persona's own scope.
pub fn flat(bundle: &Bundle) -> Persona {
    let mut flat = inherit::fields(bundle).into_owned();
    flat.parts = parts::links(bundle);
    flat.extends = None;
    flat.system_prompt_mode = MergeMode::default();
    flat.parts_mode = MergeMode::default();
    flat.remove_parts.clear();
    flat.remove_traits.clear();
    flat.remove_skills.clear();
    flat.remove_guardrails.clear();
    flat.remove_test_inputs.clear();
    flat.remove_tags.clear();
    flat
}

/// The flat persona, and what would change its meaning in the persona's scope.
pub fn written_out(bundle: &Bundle, holders: &Holders) -> WrittenOut {
    WrittenOut { persona: flat(bundle), scope: bundle.meta.scope, shifts: shifts::of(bundle, holders) }
}
