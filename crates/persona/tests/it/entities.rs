//! Definitions as JSON: what is written can be read, what is unknown is refused with its name.

use std::fmt::Debug;

use persona::{
    Aggregation, AnyEntity, Approval, BiasProfile, CharacterArc, ContextPreset, ContextView, Entity,
    Guardrail, Kind, MergeMode, Part, Persona, Scope, Severity, Skill, TestInput, ToolPreset, Trait,
    TraitType,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Reads `whole`, in which every field is set, and writes the same; reads `least`, which has only
/// what must be there; refuses either with one field more or with a field that must be there gone.
fn check<T>(whole: &Value, least: &Value)
where
    T: Entity + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let entity: T = read(whole).unwrap_or_else(|error| panic!("{whole}: {error}"));
    assert_eq!(serde_json::to_value(&entity).expect("JSON"), *whole);
    assert_eq!(entity.name().as_str(), whole["name"]);
    assert_eq!(json!(entity.tags()), whole["tags"]);
    entity.check().unwrap_or_else(|error| panic!("{whole}: {error}"));

    let small: T = read(least).unwrap_or_else(|error| panic!("{least}: {error}"));
    let text = serde_json::to_string(&small).expect("JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect("what was written"), small);
    assert!(!text.contains("null"), "what is not set is absent: {text}");

    let mut more = least.clone();
    more["colour"] = json!("red");
    let refusal = read::<T>(&more).expect_err("there is no such field");
    assert!(refusal.contains("`colour`"), "{refusal}");

    for field in least.as_object().expect("an object").keys() {
        let mut less = least.clone();
        less.as_object_mut().expect("an object").remove(field);
        let refusal = read::<T>(&less).expect_err("a field that must be there is missing");
        assert!(refusal.contains(&format!("`{field}`")), "{refusal}");
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

fn whole_persona() -> Value {
    json!({
        "name": "p", "display_name": "P", "description": "d", "summary": "s", "detail": "de",
        "author": "A. Writer", "license": "MIT", "greetings": ["Hello.", "Hi."],
        "system_prompt": "You are P.", "system_prompt_mode": "append",
        "preferred_models": [{
            "provider": "anthropic", "model": "m", "temperature": 0.5, "top_p": 1.0, "max_output_tokens": 100,
        }],
        "tool_preset": "t", "bias_profile": "b", "context_preset": "c", "aggregation_strategy": "skeleton",
        "max_tool_rounds": 30,
        "plan_persona": { "instruction": "Plan.", "model": "m", "tool_preset": "t" },
        "parts": [{ "name": "a", "order": 1, "priority": -2 }], "parts_mode": "append",
        "examples": [{ "user": "Hi.", "persona": "Good day." }],
        "traits": ["kind"], "skills": ["sql"], "guardrails": ["honest"], "arc": "growth", "tags": ["x"],
        "extends": "global:q", "test_inputs": ["hello"], "remove_parts": ["b"], "remove_traits": ["rude"],
        "remove_skills": ["go"], "remove_guardrails": ["lax"], "remove_test_inputs": ["bye"],
        "remove_tags": ["y"],
    })
}

#[test]
fn personas() {
    check::<Persona>(&whole_persona(), &json!({ "name": "p" }));
    let least: Persona = read(&json!({ "name": "p" })).expect("a name suffices");
    assert_eq!(least, Persona::new(least.name.clone()));
    for (inside, fields) in [
        ("/parts/0", &["name", "order", "priority"][..]),
        ("/examples/0", &["user", "persona"]),
        ("/plan_persona", &["instruction", "model", "tool_preset"]),
        ("/preferred_models/0", &["provider", "model", "temperature", "top_p", "max_output_tokens"]),
    ] {
        let mut more = whole_persona();
        more.pointer_mut(inside).expect("it is there")["colour"] = json!("red");
        let refusal = read::<Persona>(&more).expect_err("there is no such field");
        // serde quotes the unknown field, then the known ones.
        let quoted: Vec<&str> = refusal.split('`').skip(1).step_by(2).collect();
        assert_eq!(quoted, [&["colour"], fields].concat(), "{refusal}");
    }
}

#[test]
fn parts() {
    check::<Part>(
        &json!({
            "name": "a", "part_type": "tone", "description": "d", "summary": "s", "content": "c", "tags": ["x"],
        }),
        &json!({ "name": "a", "part_type": "tone" }),
    );
}

#[test]
fn traits() {
    check::<Trait>(
        &json!({
            "name": "a", "trait_type": "social", "description": "d", "instruction": "i", "tags": ["x"],
        }),
        &json!({ "name": "a", "trait_type": "social" }),
    );
}

#[test]
fn skills() {
    check::<Skill>(
        &json!({ "name": "a", "description": "d", "content": "c", "tags": ["x"] }),
        &json!({ "name": "a" }),
    );
}

#[test]
fn guardrails() {
    check::<Guardrail>(
        &json!({
            "name": "a", "severity": "critical", "description": "d", "content": "c", "deny_tools": ["shell*"],
            "tags": ["x"],
        }),
        &json!({ "name": "a" }),
    );
    let least: Guardrail = read(&json!({ "name": "a" })).expect("a name suffices");
    assert_eq!(least.severity, Severity::Medium);
}

#[test]
fn arcs() {
    let stage = json!({ "name": "one", "order": 1, "description": "d", "condition": "c", "parts": ["a"] });
    check::<CharacterArc>(
        &json!({ "name": "a", "description": "d", "summary": "s", "stages": [stage], "tags": ["x"] }),
        &json!({ "name": "a" }),
    );
    let more = json!({ "name": "a", "stages": [{ "name": "one", "colour": "red" }] });
    let refusal = read::<CharacterArc>(&more).expect_err("there is no such field");
    assert!(refusal.starts_with("unknown field `colour`, expected one of `name`, `order`"), "{refusal}");
}

#[test]
fn tool_presets() {
    let tool = json!({
        "name": "read_*", "approval": "ask", "weight": 5, "parameter_bias": { "limit": "Keep it small." },
    });
    check::<ToolPreset>(
        &json!({ "name": "a", "description": "d", "categories": { "files": [tool] }, "tags": ["x"] }),
        &json!({ "name": "a" }),
    );
    let preset: ToolPreset = read(&json!({ "name": "a", "categories": { "files": [{ "name": "read" }] } }))
        .expect("a name suffices");
    let tool = &preset.categories["files"][0];
    assert_eq!((tool.approval, tool.weight()), (None, 3));
}

#[test]
fn bias_profiles() {
    check::<BiasProfile>(
        &json!({ "name": "a", "description": "d", "multipliers": { "files": 1.5 }, "tags": ["x"] }),
        &json!({ "name": "a" }),
    );
}

#[test]
fn context_presets() {
    check::<ContextPreset>(
        &json!({
            "name": "a", "description": "d",
            "entries": [{ "glob": "src/**", "view": "skeleton" }, { "path": "README.md", "view": "full" }],
            "token_budget": 4000, "tags": ["x"],
        }),
        &json!({ "name": "a" }),
    );
}

#[test]
fn test_inputs() {
    check::<TestInput>(
        &json!({
            "name": "a", "description": "d", "content": "c", "expectations": ["e"], "tags": ["x"],
            "turns": ["t"], "samples": 3,
        }),
        &json!({ "name": "a" }),
    );
}

#[test]
fn expectations() {
    let range = json!({ "min": 1.0, "max": 2.5 });
    check::<TestInput>(
        &json!({ "name": "a", "tags": [], "expectations": [
            "a text",
            { "holds": "h", "name": "n", "on": "every", "weight": 2.5, "must": true, "aspect": "x",
              "piece": "part:a", "must_show": false, "examples": [{ "reply": "r", "holds": true }] },
            { "consistent": true, "on": 2 },
            { "contains": ["a"] },
            { "lacks": ["a"] },
            { "matches": "^a" },
            { "words": range },
            { "sentences": range },
            { "sentence_words": range },
            { "grade": range },
            { "lexicon": ["a"], "per_100": range },
            { "person": "first" },
            { "question": false },
            { "format": { "headings": false, "lists": true, "code": false, "emoji": false } },
            { "language": "en" },
            { "json": {} },
            { "json": { "schema": "{}" } },
            { "calls": ["read_file"] },
            { "calls_not": ["write_file"] },
            { "ends": "refusal" },
            { "overlap": { "prompt": 0.5, "earlier": 0.25 } },
            { "tokens": range },
        ] }),
        &json!({ "name": "a" }),
    );
    for wrong in [
        json!(5),
        json!(["a"]),
        json!({ "hold": "a" }),
        json!({ "holds": 5 }),
        json!({ "on": "some" }),
        json!({ "on": 0 }),
        json!({ "on": -1 }),
        json!({ "person": "fourth" }),
        json!({ "language": "xx" }),
        json!({ "ends": "failed" }),
        json!({ "must": "yes" }),
        json!({ "words": { "most": 5 } }),
    ] {
        assert!(read::<TestInput>(&json!({ "name": "a", "expectations": [wrong] })).is_err(), "{wrong}");
    }
}

#[test]
fn an_unknown_word_or_an_invalid_name_is_refused() {
    assert!(read::<Persona>(&json!({ "name": "p" })).is_ok());
    for edit in [
        json!({ "name": "a b" }),
        json!({ "name": "" }),
        json!({ "parts_mode": "add" }),
        json!({ "aggregation_strategy": "sumarize" }),
        json!({ "extends": "globl:p" }),
        json!({ "traits": ["-"] }),
    ] {
        let mut persona = json!({ "name": "p" });
        for (field, value) in edit.as_object().expect("an object") {
            persona[field] = value.clone();
        }
        assert!(read::<Persona>(&persona).is_err(), "{edit}");
    }
    assert!(read::<Part>(&json!({ "name": "a", "part_type": "tonne" })).is_err());
}

#[test]
fn vocabularies_are_read_as_they_are_written() {
    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug + Copy>(all: &[T], words: &[&str]) {
        assert_eq!(json!(all), json!(words));
        for word in words {
            let read: T = serde_json::from_value(json!(word)).expect("a word of the vocabulary");
            assert!(all.contains(&read));
            serde_json::from_value::<T>(json!(word.to_uppercase())).expect_err("words are lower case");
        }
    }
    check(
        Kind::ALL,
        &[
            "persona",
            "part",
            "trait",
            "skill",
            "guardrail",
            "arc",
            "tool_preset",
            "bias_profile",
            "context_preset",
            "test_input",
        ],
    );
    check(
        persona::PartType::ALL,
        &[
            "system",
            "agent",
            "soul",
            "identity",
            "skill",
            "specialization",
            "tone",
            "goal",
            "context",
            "protocol",
            "backstory",
            "motivation",
            "voice",
            "archetype",
            "flaw",
            "relationship",
        ],
    );
    check(TraitType::ALL, &["personality", "cognitive", "emotional", "social", "behavioral"]);
    check(Severity::ALL, &["low", "medium", "high", "critical"]);
    check(Scope::ALL, &["builtin", "shared", "global", "project"]);
    check(MergeMode::ALL, &["replace", "append"]);
    check(Aggregation::ALL, &["auto", "full", "summarize", "skeleton"]);
    check(Approval::ALL, &["auto", "ask", "deny"]);
    check(ContextView::ALL, &["full", "summary", "skeleton", "outline", "none"]);
}

#[test]
fn an_entity_knows_its_kind_and_takes_a_new_name() {
    fn check<T: Entity + DeserializeOwned>(kind: Kind, least: &Value) {
        let mut entity: T = read(least).expect("an entity");
        assert_eq!(T::KIND, kind);
        entity.set_name(crate::script::name("other"));
        assert_eq!(entity.name().as_str(), "other");
    }
    check::<Persona>(Kind::Persona, &json!({ "name": "a" }));
    check::<Part>(Kind::Part, &json!({ "name": "a", "part_type": "tone" }));
    check::<Trait>(Kind::Trait, &json!({ "name": "a", "trait_type": "social" }));
    check::<Skill>(Kind::Skill, &json!({ "name": "a" }));
    check::<Guardrail>(Kind::Guardrail, &json!({ "name": "a" }));
    check::<CharacterArc>(Kind::Arc, &json!({ "name": "a" }));
    check::<ToolPreset>(Kind::ToolPreset, &json!({ "name": "a" }));
    check::<BiasProfile>(Kind::BiasProfile, &json!({ "name": "a" }));
    check::<ContextPreset>(Kind::ContextPreset, &json!({ "name": "a" }));
    check::<TestInput>(Kind::TestInput, &json!({ "name": "a" }));
}

#[test]
fn an_entity_of_any_kind_is_read_and_written_as_itself() {
    for kind in Kind::ALL {
        let mut least = json!({ "name": "a" });
        match kind {
            Kind::Part => least["part_type"] = json!("tone"),
            Kind::Trait => least["trait_type"] = json!("social"),
            _ => {}
        }
        let any =
            AnyEntity::from_json(*kind, least.clone()).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!((any.kind(), any.name().as_str()), (*kind, "a"));
        let written = any.to_json();
        assert_eq!(written["name"], "a");
        assert_eq!(AnyEntity::from_json(*kind, written).expect("what was written"), any);
        least["colour"] = json!("red");
        AnyEntity::from_json(*kind, least).expect_err("there is no such field");
    }
}
