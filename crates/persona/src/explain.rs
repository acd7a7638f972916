//! Where everything in a persona comes from, layer by layer; and the persona as if it had been
//! written out without layers.

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
    /// The parts of the result, in assembly order, and among them the names that lead to none.
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
    /// Where the piece that it names is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
    /// It names a piece, and there is none of that name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_found: bool,
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
    /// Where the piece is kept; a tag names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_found: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Part {
    pub name: Name,
    /// Type and scope are the part's own: of one that was not found, nobody knows them.
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

/// A persona as if it had been written out.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenOut {
    pub persona: Persona,
    /// Where the persona is kept that this is of.
    pub scope: Scope,
    /// What it would mean otherwise, if it stood there in place of that persona.
    pub shifts: Vec<Shift>,
}

/// One persona of the chain, as all that follows sees it.
struct Rung<'a> {
    persona: &'a Persona,
    /// Those of its parts that were found.
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

/// Says for each field and piece of a persona which layer and scope it came from.
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

/// The resolved persona as if it had been written out: with all that it inherits, and without
/// bases, modes and removals. Its active stage is state and is not written into it.
///
/// It names pieces as its layers do, those that lead nowhere included; [`written_out`] says what
/// those names would mean in the persona's own scope.
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

/// The flat persona, and what of it would not be the same where the persona is kept.
pub fn written_out(bundle: &Bundle, holders: &Holders) -> WrittenOut {
    WrittenOut { persona: flat(bundle), scope: bundle.meta.scope, shifts: shifts::of(bundle, holders) }
}
