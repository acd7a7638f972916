//! Random changes of entities.

use persona::{AnyEntity, Kind, Name};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::{IndexedMutRandom, IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Put { target: prop::sample::Index, seed: u64 },
    Add { kind: usize, number: u8, seed: u64 },
    Remove { target: prop::sample::Index },
    Rename { target: prop::sample::Index, number: u8 },
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let target = any::<prop::sample::Index>;
    prop_oneof![
        5 => (target(), any::<u64>()).prop_map(|(target, seed)| Operation::Put { target, seed }),
        2 => (0..10_usize, 0..4_u8, any::<u64>()).prop_map(|(kind, number, seed)| Operation::Add { kind, number, seed }),
        2 => target().prop_map(|target| Operation::Remove { target }),
        1 => (target(), 0..4_u8).prop_map(|(target, number)| Operation::Rename { target, number }),
    ]
}

/// The least entity of a kind.
pub(crate) fn blank(kind: Kind, name: &Name) -> AnyEntity {
    let mut value = json!({ "name": name });
    match kind {
        Kind::Part => value["part_type"] = json!("tone"),
        Kind::Trait => value["trait_type"] = json!("social"),
        _ => {}
    }
    if kind == Kind::Part {
        value["content"] = json!("x");
    }
    AnyEntity::from_json(kind, value).expect("an entity")
}

/// The entity with a few fields changed, within what its kind allows.
pub(crate) fn changed(entity: &AnyEntity, seed: u64) -> AnyEntity {
    let mut random = StdRng::seed_from_u64(seed);
    let Value::Object(mut fields) = entity.to_json() else { unreachable!("an entity is an object") };
    for _ in 0..random.random_range(0..4) {
        change_one(entity.kind(), &mut fields, &mut random);
    }
    let changed = AnyEntity::from_json(entity.kind(), Value::Object(fields.clone())).expect("an entity");
    if changed.check().is_ok() { changed } else { entity.clone() }
}

fn change_one(kind: Kind, fields: &mut Map<String, Value>, random: &mut StdRng) {
    let choices: &[&str] = match kind {
        Kind::Persona => &[
            "summary",
            "description",
            "system_prompt",
            "parts",
            "traits",
            "tags",
            "preferred_models",
            "plan_persona",
            "parts_mode",
            "extends",
            "parts",
            "preferred_models",
        ],
        Kind::Part => &["content", "summary", "tags", "part_type"],
        Kind::Trait => &["instruction", "tags", "trait_type"],
        Kind::Skill => &["content", "description", "tags"],
        Kind::Guardrail => &["content", "severity", "deny_tools"],
        Kind::Arc => &["stages", "stages", "summary", "tags"],
        Kind::ToolPreset => &["categories", "categories", "description"],
        Kind::BiasProfile => &["multipliers", "description"],
        Kind::ContextPreset => &["entries", "token_budget", "tags"],
        Kind::TestInput => &["content", "expectations", "description"],
    };
    let field = *choices.choose(random).expect("there are some");
    let old = fields.remove(field);
    let new = match field {
        "tags" | "deny_tools" | "expectations" => Some(words(old, random)),
        "traits" => Some(words(old, random)),
        "parts" => Some(links(old, random)),
        "preferred_models" => Some(models(old, random)),
        "stages" => Some(stages(old, random)),
        "categories" => Some(categories(old, random)),
        "multipliers" => Some(json!({ "files": random.random_range(0..5), "a b": 0.5 })),
        "entries" => Some(json!([{ "glob": "src/**" }, { "path": "README.md", "view": "outline" }])),
        "token_budget" => maybe(random, |random| json!(random.random_range(1..9000))),
        "plan_persona" => maybe(random, |random| match random.random_range(0..3) {
            0 => json!({}),
            1 => json!({ "model": text(random), "tool_preset": "ro" }),
            _ => json!({ "instruction": text(random), "model": "m" }),
        }),
        "parts_mode" => Some(json!(["replace", "append"].choose(random))),
        "extends" => maybe(random, |_| json!("global:base")),
        "part_type" => Some(json!(["tone", "soul"].choose(random))),
        "trait_type" => Some(json!(["social", "cognitive"].choose(random))),
        "severity" => Some(json!(["medium", "critical"].choose(random))),
        _ => maybe(random, |random| json!(text(random))),
    };
    if let Some(new) = new {
        fields.insert(field.to_owned(), new);
    }
}

fn maybe(random: &mut StdRng, make: impl FnOnce(&mut StdRng) -> Value) -> Option<Value> {
    random.random_bool(0.8).then(|| make(random))
}

/// A text out of pieces that are hard to write.
fn text(random: &mut StdRng) -> String {
    let pieces = [
        "a", " ", "\n", "\"", "\"\"\"", "\\", "# x", "'''", "\t", "ä", "\u{1}", "=", "]", "}\n", "[b]\n", ",",
    ];
    (0..random.random_range(1..8)).filter_map(|_| pieces.choose(random).copied()).collect()
}

fn items(old: Option<Value>) -> Vec<Value> {
    match old {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Drops, swaps and adds items.
fn shuffled(
    mut items: Vec<Value>,
    random: &mut StdRng,
    new: impl FnOnce(&mut StdRng) -> Value,
) -> Vec<Value> {
    match random.random_range(0..5) {
        0 if !items.is_empty() => drop(items.remove(random.random_range(0..items.len()))),
        1 => items.shuffle(random),
        2 if random.random_bool(0.3) => items.clear(),
        _ => {
            let at = random.random_range(0..=items.len());
            items.insert(at, new(random));
        }
    }
    items
}

fn words(old: Option<Value>, random: &mut StdRng) -> Value {
    let mut words = shuffled(items(old), random, |random| json!(format!("w{}", random.random_range(0..99))));
    words.dedup();
    let mut seen = Vec::new();
    words.retain(|word| {
        !seen.contains(word) && {
            seen.push(word.clone());
            true
        }
    });
    json!(words)
}

fn links(old: Option<Value>, random: &mut StdRng) -> Value {
    let mut links = shuffled(
        items(old),
        random,
        |random| json!({ "name": format!("l{}", random.random_range(0..999)), "priority": random.random_range(0..2) }),
    );
    let renumber = random.random_bool(0.5);
    for (index, link) in links.iter_mut().enumerate() {
        if renumber || link.get("order").is_none() {
            link["order"] = json!(index);
        }
        if random.random_bool(0.2) {
            link["priority"] = json!(random.random_range(-1..3));
        }
    }
    json!(links)
}

fn models(old: Option<Value>, random: &mut StdRng) -> Value {
    let mut models = shuffled(
        items(old),
        random,
        |random| json!({ "provider": text(random) + "p", "model": "m", "top_p": 0.25 }),
    );
    if let Some(model) = models.choose_mut(random) {
        model["temperature"] = json!(0.5);
    }
    json!(models)
}

fn stages(old: Option<Value>, random: &mut StdRng) -> Value {
    let mut stages =
        shuffled(items(old), random, |random| json!({ "name": format!("s{}", random.random_range(0..999)) }));
    let renumber = random.random_bool(0.5);
    for (index, stage) in stages.iter_mut().enumerate() {
        if renumber || stage.get("order").is_none() {
            stage["order"] = json!(index + 1);
        }
        if random.random_bool(0.2) {
            stage["condition"] = json!(text(random));
        }
        if random.random_bool(0.2) {
            stage["parts"] = json!(["q"]);
        }
    }
    json!(stages)
}

fn categories(old: Option<Value>, random: &mut StdRng) -> Value {
    let mut categories = match old {
        Some(Value::Object(categories)) => categories,
        _ => Map::new(),
    };
    let category = ["files", "web pages", "x"].choose(random).expect("there are some");
    let tools = categories.remove(*category);
    if random.random_bool(0.8) {
        let mut tools = shuffled(
            items(tools),
            random,
            |random| json!({ "name": format!("t{}", random.random_range(0..99)) }),
        );
        if let Some(tool) = tools.choose_mut(random) {
            tool["weight"] = json!(random.random_range(1..=5));
            tool["parameter_bias"] =
                if random.random_bool(0.5) { json!({ "a": text(random) }) } else { json!({}) };
        }
        categories.insert((*category).to_owned(), json!(tools));
    }
    Value::Object(categories)
}
