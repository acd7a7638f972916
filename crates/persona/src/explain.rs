//! Where everything in a persona comes from, layer by layer; and the persona as if it had been
//! written out without layers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bundle::Found;
use crate::{Bundle, LayerOrigin, MergeMode, Name, PartLink, PartType, Persona, Scope, inherit, layers};

mod fields;
mod parts;

/// Where a persona's fields and pieces come from. A `from` is the `scope:name` of a layer; that of
/// a stage is `scope:arc/stage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    pub name: Name,
    pub scope: Scope,
    /// Weakest first: the root of the bases, …, the persona itself, its active stage.
    pub layers: Vec<Layer>,
    /// Every field that is set in the result.
    pub fields: Vec<Field>,
    /// Every trait, skill, guardrail, test input and tag of the result.
    pub items: Vec<Item>,
    /// The parts of the result, in assembly order.
    pub parts: Vec<Part>,
    /// What a layer took away from those below it.
    pub removed: Vec<Removed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Layer {
    pub name: String,
    pub scope: Scope,
    /// A stage has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    pub role: LayerOrigin,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Field {
    /// Its key; what stands under another key has a path, as in `plan_persona.model`.
    pub field: String,
    pub from: String,
    /// What that layer says; a long text is cut.
    pub value: Value,
    /// The layers whose texts stand above this one's, since it appends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub appends_to: Vec<String>,
    /// The weaker layers that set it to no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The scope of what it names, where that is known not to be the layer's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Item {
    /// The field that lists it: `traits`, `skills`, `guardrails`, `test_inputs` or `tags`.
    pub list: String,
    pub name: String,
    /// The strongest layer that lists it: the piece is what that layer means by the name.
    pub from: String,
    /// The weaker layers that list it as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// Where the piece is kept; absent for a tag, and where nothing was found under the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Part {
    pub name: Name,
    pub part_type: PartType,
    pub order: i32,
    pub priority: i32,
    pub from: String,
    pub piece_scope: Scope,
    /// The parts of weaker layers that are not in the result because of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Replaced {
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
    /// The layer that took it away.
    pub by: String,
}

/// One persona of the chain, as all that follows sees it.
struct Rung<'a> {
    persona: &'a Persona,
    found: Found<'a>,
    label: String,
}

fn rungs(bundle: &Bundle) -> Vec<Rung<'_>> {
    let bases = bundle.bases.iter().map(|base| (&base.persona, base.found()));
    bases
        .chain([(&bundle.persona, bundle.found())])
        .map(|(persona, found)| Rung { persona, found, label: format!("{}:{}", found.scope, persona.name) })
        .collect()
}

/// Says for each field and piece of a persona which layer and scope it came from.
pub fn explain(bundle: &Bundle) -> Explanation {
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
    let items = fields::items(bundle, &rungs, &mut removed);
    let (name, scope) = (bundle.persona.name.clone(), bundle.meta.scope);
    Explanation { name, scope, layers, fields: fields::explain(&rungs), items, parts, removed }
}

/// The resolved persona as if it had been written out: with all that it inherits, and without
/// bases, modes and removals. Its active stage is state and is not written into it.
///
/// It names pieces as its layers do. Where a base found one in a weaker scope and the persona's
/// own scope has another of that name, the copy must go with the pieces, or stay beside the base.
pub fn flat(bundle: &Bundle) -> Persona {
    let mut flat = inherit::fields(bundle).into_owned();
    flat.parts.clear();
    // Two layers may name different parts alike; a persona names each once, and means the stronger.
    for placed in layers::authored(bundle) {
        let link =
            PartLink { name: placed.part.name.clone(), order: placed.order, priority: placed.priority };
        match flat.parts.iter_mut().find(|known| known.name == link.name) {
            Some(known) if placed.origin == LayerOrigin::Own => *known = link,
            Some(_) => {}
            None => flat.parts.push(link),
        }
    }
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
