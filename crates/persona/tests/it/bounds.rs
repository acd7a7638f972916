//! Every bound on a definition: what reaches it is kept, what passes it is refused by its field.

use persona::{
    BiasProfile, CharacterArc, ContextPreset, Entity, Guardrail, Name, Part, PartLink, Persona, Skill,
    TestInput, ToolPreset, Trait, limits,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::script::name;

/// What a definition with `edit` on top of its least fields is refused with; "" where it is kept.
fn refusal<T: Entity + DeserializeOwned>(edit: &Value) -> String {
    let mut value = json!({ "name": "a" });
    match T::KIND {
        persona::Kind::Part => {
            value["part_type"] = json!("tone");
            value["content"] = json!("Dry.");
        }
        persona::Kind::Trait => value["trait_type"] = json!("social"),
        _ => {}
    }
    for (field, text) in edit.as_object().expect("an object") {
        value[field] = text.clone();
    }
    let entity: T = serde_json::from_value(value).unwrap_or_else(|error| panic!("{edit}: {error}"));
    entity.check().err().map(|error| error.to_string()).unwrap_or_default()
}

#[track_caller]
fn check<T: Entity + DeserializeOwned>(edit: &Value, expected: &str) {
    let kind = T::KIND;
    assert_eq!(refusal::<T>(edit), expected, "{kind}");
}

/// A text field keeps `most` bytes, not one more, and no NUL.
#[track_caller]
fn check_text<T: Entity + DeserializeOwned>(field: &str, most: usize) {
    check::<T>(&json!({ field: "x".repeat(most) }), "");
    // Bytes count, not characters: that is what a database and a disk hold.
    check::<T>(
        &json!({ field: "é".repeat(most / 2 + 1) }),
        &format!("{field}: has {} bytes, at most {most} are allowed; split it", most + 2),
    );
    check::<T>(&json!({ field: "a\0b" }), &format!("{field}: contains a NUL character; remove it"));
}

#[test]
fn texts() {
    for field in ["description", "summary"] {
        check_text::<Persona>(field, limits::SHORT_TEXT_BYTES);
        check_text::<Part>(field, limits::SHORT_TEXT_BYTES);
        check_text::<CharacterArc>(field, limits::SHORT_TEXT_BYTES);
    }
    check_text::<Trait>("description", limits::SHORT_TEXT_BYTES);
    check_text::<Skill>("description", limits::SHORT_TEXT_BYTES);
    check_text::<Guardrail>("description", limits::SHORT_TEXT_BYTES);
    check_text::<Persona>("detail", limits::LONG_TEXT_BYTES);
    check_text::<Persona>("system_prompt", limits::LONG_TEXT_BYTES);
    check_text::<Part>("content", limits::LONG_TEXT_BYTES);
    check_text::<Trait>("instruction", limits::LONG_TEXT_BYTES);
    check_text::<Skill>("content", limits::LONG_TEXT_BYTES);
    check_text::<Guardrail>("content", limits::LONG_TEXT_BYTES);
    check_text::<ToolPreset>("description", limits::SHORT_TEXT_BYTES);
    check_text::<BiasProfile>("description", limits::SHORT_TEXT_BYTES);
    check_text::<ContextPreset>("description", limits::SHORT_TEXT_BYTES);
    check_text::<TestInput>("description", limits::SHORT_TEXT_BYTES);
    check_text::<TestInput>("content", limits::LONG_TEXT_BYTES);
}

/// Tags and patterns: one line each, none of them empty.
#[track_caller]
fn check_words<T: Entity + DeserializeOwned>(field: &str, most: usize, chars: usize) {
    let words = |count: usize| -> Value { (0..count).map(|at| format!("w{at}")).collect() };
    check::<T>(&json!({ field: words(most) }), "");
    let refused = format!("{field}: has {} entries, at most {most} are allowed", most + 1);
    check::<T>(&json!({ field: words(most + 1) }), &refused);
    check::<T>(&json!({ field: ["é".repeat(chars)] }), "");
    check::<T>(
        &json!({ field: ["x".repeat(chars + 1)] }),
        &format!("{field}: \"xxxxxxxxxxxxxxxxxxxx\" must be one line of at most {chars} characters"),
    );
    check::<T>(
        &json!({ field: ["a\nb"] }),
        &format!("{field}: \"a\\nb\" must be one line of at most {chars} characters"),
    );
    check::<T>(&json!({ field: ["a", " "] }), &format!("{field}: has an empty entry; remove it"));
}

#[test]
fn tags_and_patterns() {
    check_words::<Persona>("tags", limits::TAGS, 64);
    check_words::<Persona>("remove_tags", limits::TAGS, 64);
    check_words::<Part>("tags", limits::TAGS, 64);
    check_words::<Trait>("tags", limits::TAGS, 64);
    check_words::<Skill>("tags", limits::TAGS, 64);
    check_words::<Guardrail>("tags", limits::TAGS, 64);
    check_words::<CharacterArc>("tags", limits::TAGS, 64);
    check_words::<ToolPreset>("tags", limits::TAGS, 64);
    check_words::<BiasProfile>("tags", limits::TAGS, 64);
    check_words::<ContextPreset>("tags", limits::TAGS, 64);
    check_words::<TestInput>("tags", limits::TAGS, 64);
    check_words::<Guardrail>("deny_tools", limits::DENY_TOOLS, 128);
}

fn names(count: usize) -> Vec<Name> {
    (0..count).map(|at| name(&format!("n{at}"))).collect()
}

#[test]
fn links() {
    for field in [
        "traits",
        "skills",
        "guardrails",
        "test_inputs",
        "remove_parts",
        "remove_traits",
        "remove_skills",
        "remove_guardrails",
        "remove_test_inputs",
    ] {
        check::<Persona>(&json!({ field: names(256) }), "");
        check::<Persona>(
            &json!({ field: names(257) }),
            &format!("{field}: has 257 entries, at most 256 are allowed"),
        );
        check::<Persona>(
            &json!({ field: ["a", "b", "a"] }),
            &format!("{field}: names a twice; once is enough"),
        );
    }
    let parts = |count| -> Vec<PartLink> {
        names(count).into_iter().map(|name| PartLink { name, order: 0, priority: 0 }).collect()
    };
    check::<Persona>(&json!({ "parts": parts(256) }), "");
    check::<Persona>(&json!({ "parts": parts(257) }), "parts: has 257 entries, at most 256 are allowed");
    check::<Persona>(
        &json!({ "parts": [{ "name": "a", "order": 1 }, { "name": "a", "order": 2 }] }),
        "parts: names a twice; once is enough",
    );
}

#[test]
fn display_names() {
    check::<Persona>(&json!({ "display_name": "é".repeat(200) }), "");
    let refused = "display_name: must be one line of at most 200 characters";
    check::<Persona>(&json!({ "display_name": "é".repeat(201) }), refused);
    check::<Persona>(&json!({ "display_name": "a\nb" }), refused);
}

#[test]
fn preferred_models() {
    let model = |edit: Value| {
        let mut model = json!({ "provider": "p", "model": "m" });
        for (field, value) in edit.as_object().expect("an object") {
            model[field] = value.clone();
        }
        json!({ "preferred_models": [{ "provider": "p", "model": "m" }, model] })
    };
    let at = |problem: &str| format!("preferred_models[1].{problem}");
    check::<Persona>(&model(json!({ "temperature": 0.0, "top_p": 0.0, "max_output_tokens": 1 })), "");
    check::<Persona>(&model(json!({ "temperature": 2.0, "top_p": 1.0 })), "");
    check::<Persona>(&model(json!({ "temperature": -0.1 })), &at("temperature: -0.1 is outside 0 to 2"));
    check::<Persona>(&model(json!({ "top_p": 1.5 })), &at("top_p: 1.5 is outside 0 to 1"));
    check::<Persona>(&model(json!({ "max_output_tokens": 0 })), &at("max_output_tokens: must be at least 1"));
    check::<Persona>(&model(json!({ "provider": " " })), &at("provider: must not be empty"));
    check::<Persona>(
        &model(json!({ "model": "m".repeat(201) })),
        &at("model: has 201 bytes, at most 200 are allowed; shorten it"),
    );
    let many = vec![json!({ "provider": "p", "model": "m" }); 17];
    check::<Persona>(
        &json!({ "preferred_models": many }),
        "preferred_models: has 17 entries, at most 16 are allowed",
    );
}

#[test]
fn the_first_model_is_what_a_persona_is_asked_for() {
    let persona = |models: Value| {
        serde_json::from_value::<Persona>(json!({ "name": "a", "preferred_models": models }))
            .expect("a persona")
    };
    let asked = |it: &Persona| {
        let (provider, model) = (it.provider().map(str::to_owned), it.model().map(str::to_owned));
        json!([provider, model, it.temperature(), it.top_p(), it.max_output_tokens()])
    };
    let second = json!({ "provider": "q", "model": "n", "temperature": 1.0 });
    let bare = persona(json!([{ "provider": "p", "model": "m" }, second]));
    assert_eq!(asked(&bare), json!(["p", "m", 0.0, 1.0, null]));
    let first =
        json!({ "provider": "p", "model": "m", "temperature": 0.5, "top_p": 0.25, "max_output_tokens": 9 });
    assert_eq!(asked(&persona(json!([first, second]))), json!(["p", "m", 0.5, 0.25, 9]));
    assert_eq!(asked(&persona(json!([]))), json!([null, null, null, null, null]));
    // What is not written is not sent.
    let written = serde_json::to_value(&bare).expect("JSON");
    assert_eq!(written["preferred_models"][0], json!({ "provider": "p", "model": "m" }));
}

#[test]
fn plan_personas() {
    let long = "x".repeat(limits::LONG_TEXT_BYTES + 1);
    check::<Persona>(
        &json!({ "plan_persona": { "instruction": long } }),
        "plan_persona.instruction: has 262145 bytes, at most 262144 are allowed; split it",
    );
    check::<Persona>(
        &json!({ "plan_persona": { "model": "a\0" } }),
        "plan_persona.model: contains a NUL character; remove it",
    );
}

#[test]
fn a_part_must_say_something() {
    let refused = "content: a part without text says nothing; give content or summary";
    check::<Part>(&json!({ "content": null }), refused);
    check::<Part>(&json!({ "content": " \n" }), refused);
    check::<Part>(&json!({ "content": null, "summary": "Dry." }), "");
    check::<Part>(&json!({ "content": null, "description": "How it sounds." }), "");
}

#[test]
fn stages() {
    let stages = |count| -> Value { names(count).into_iter().map(|name| json!({ "name": name })).collect() };
    check::<CharacterArc>(&json!({ "stages": stages(64) }), "");
    check::<CharacterArc>(&json!({ "stages": stages(65) }), "stages: has 65 entries, at most 64 are allowed");
    check::<CharacterArc>(
        &json!({ "stages": [{ "name": "one", "order": 1 }, { "name": "one", "order": 2 }] }),
        "stages: names one twice; once is enough",
    );
    let stage = |edit: Value| {
        let mut stage = json!({ "name": "one" });
        for (field, value) in edit.as_object().expect("an object") {
            stage[field] = value.clone();
        }
        json!({ "stages": [stage] })
    };
    check::<CharacterArc>(&stage(json!({ "parts": names(64) })), "");
    check::<CharacterArc>(
        &stage(json!({ "parts": names(65) })),
        "stages.one.parts: has 65 entries, at most 64 are allowed",
    );
    check::<CharacterArc>(
        &stage(json!({ "parts": ["a", "a"] })),
        "stages.one.parts: names a twice; once is enough",
    );
    for field in ["description", "condition"] {
        check::<CharacterArc>(
            &stage(json!({ field: "x".repeat(8193) })),
            &format!("stages.one.{field}: has 8193 bytes, at most 8192 are allowed; split it"),
        );
    }
}

#[test]
fn presets() {
    let tool = |tool: Value| json!({ "categories": { "files": [tool] } });
    check::<ToolPreset>(&tool(json!({ "name": "read", "weight": 1 })), "");
    for weight in [0, 6] {
        check::<ToolPreset>(
            &tool(json!({ "name": "read", "weight": weight })),
            &format!("categories.files[0].weight: {weight} is outside 1 to 5"),
        );
    }
    check::<ToolPreset>(&tool(json!({ "name": " " })), "categories.files[0].name: must not be empty");
    check::<BiasProfile>(&json!({ "multipliers": { "files": 0, "shell": 10 } }), "");
    check::<BiasProfile>(
        &json!({ "multipliers": { "files": 10.5 } }),
        "multipliers.files: 10.5 is outside 0 to 10",
    );
}

#[test]
fn context_presets_stay_inside_the_project() {
    let entry = |entry: Value| json!({ "entries": [entry] });
    check::<ContextPreset>(&entry(json!({ "glob": "src/**/*.rs" })), "");
    check::<ContextPreset>(&entry(json!({ "path": "docs/..hidden" })), "");
    for entry in [json!({}), json!({ "glob": "a", "path": "a" })] {
        check::<ContextPreset>(&json!({ "entries": [entry] }), "entries[0]: give either a glob or a path");
    }
    for path in ["/etc/passwd", "~/.ssh/id", "../secrets", "a/../../b", "a\\..\\b"] {
        check::<ContextPreset>(
            &entry(json!({ "path": path })),
            "entries[0].path: must stay inside the project: no leading \"/\" or \"~\", no \"..\"",
        );
    }
    check::<ContextPreset>(&json!({ "token_budget": 0 }), "token_budget: must be at least 1");
}
