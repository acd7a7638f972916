//! The bounds of definitions: values up to a bound are valid, values beyond it are not.

use persona::{
    BiasProfile, BrokenRule, CharacterArc, ContextPreset, Entity, Guardrail, Invalid, Name, Part, PartLink,
    Persona, Skill, TestInput, ToolPreset, Trait, limits,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::script::name;

/// The error of a definition with `edit` on top of its least fields.
fn error<T: Entity + DeserializeOwned>(edit: &Value) -> Option<Invalid> {
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
    entity.check().err()
}

#[track_caller]
fn valid<T: Entity + DeserializeOwned>(edit: &Value) {
    assert_eq!(error::<T>(edit), None, "{}", T::KIND);
}

#[track_caller]
fn check<T: Entity + DeserializeOwned>(edit: &Value, field: &str, rule: BrokenRule) {
    let field = field.to_owned();
    assert_eq!(error::<T>(edit), Some(Invalid { field, rule }), "{}", T::KIND);
}

fn outside(value: &str, least: &str, most: &str) -> BrokenRule {
    BrokenRule::OutOfRange { value: value.to_owned(), least: least.to_owned(), most: most.to_owned() }
}

/// A text field keeps `most` bytes, not one more, and no NUL.
#[track_caller]
fn check_text<T: Entity + DeserializeOwned>(field: &str, most: usize) {
    valid::<T>(&json!({ field: "x".repeat(most) }));
    // Bytes count, not characters: that is what a database and a disk hold.
    check::<T>(
        &json!({ field: "é".repeat(most / 2 + 1) }),
        field,
        BrokenRule::TooLong { bytes: most + 2, most },
    );
    check::<T>(&json!({ field: "a\0b" }), field, BrokenRule::Nul);
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
    valid::<T>(&json!({ field: words(most) }));
    check::<T>(&json!({ field: words(most + 1) }), field, BrokenRule::TooMany { count: most + 1, most });
    valid::<T>(&json!({ field: ["é".repeat(chars)] }));
    check::<T>(
        &json!({ field: ["x".repeat(chars + 1)] }),
        field,
        BrokenRule::NotOneLine { entry: Some("xxxxxxxxxxxxxxxxxxxx".to_owned()), most: chars },
    );
    check::<T>(
        &json!({ field: ["a\nb"] }),
        field,
        BrokenRule::NotOneLine { entry: Some("a\nb".to_owned()), most: chars },
    );
    check::<T>(&json!({ field: ["a", " "] }), field, BrokenRule::EmptyEntry);
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
        valid::<Persona>(&json!({ field: names(256) }));
        check::<Persona>(&json!({ field: names(257) }), field, BrokenRule::TooMany { count: 257, most: 256 });
        check::<Persona>(&json!({ field: ["a", "b", "a"] }), field, BrokenRule::Repeated("a".to_owned()));
    }
    let parts = |count| -> Vec<PartLink> {
        names(count).into_iter().map(|name| PartLink { name, order: 0, priority: 0 }).collect()
    };
    valid::<Persona>(&json!({ "parts": parts(256) }));
    check::<Persona>(&json!({ "parts": parts(257) }), "parts", BrokenRule::TooMany { count: 257, most: 256 });
    check::<Persona>(
        &json!({ "parts": [{ "name": "a", "order": 1 }, { "name": "a", "order": 2 }] }),
        "parts",
        BrokenRule::Repeated("a".to_owned()),
    );
}

#[test]
fn display_names() {
    valid::<Persona>(&json!({ "display_name": "é".repeat(200) }));
    let long = || BrokenRule::NotOneLine { entry: None, most: 200 };
    check::<Persona>(&json!({ "display_name": "é".repeat(201) }), "display_name", long());
    check::<Persona>(&json!({ "display_name": "a\nb" }), "display_name", long());
}

#[test]
fn greetings() {
    let most = limits::GREETINGS;
    let greetings = |count: usize| json!({ "greetings": vec!["Hello."; count] });
    valid::<Persona>(&greetings(most));
    check::<Persona>(&greetings(most + 1), "greetings", BrokenRule::TooMany { count: most + 1, most });
    let bytes = limits::SHORT_TEXT_BYTES;
    let long = |bytes: usize| json!({ "greetings": ["x".repeat(bytes)] });
    valid::<Persona>(&long(bytes));
    check::<Persona>(&long(bytes + 1), "greetings", BrokenRule::TooLong { bytes: bytes + 1, most: bytes });
    check::<Persona>(&json!({ "greetings": ["Hello.", " "] }), "greetings", BrokenRule::Empty);
}

#[test]
fn expectations() {
    let with = |expectation: Value| json!({ "expectations": [expectation] });
    let broken = |expectation: Value, field: &str, rule: BrokenRule| {
        check::<TestInput>(&with(expectation), &format!("expectations[0]{field}"), rule);
    };
    valid::<TestInput>(&with(json!({ "words": { "min": 1, "max": 1 }, "must": true })));
    valid::<TestInput>(&with(json!({ "json": {} })));
    broken(json!({ "must": true }), "", BrokenRule::NotOneCheck { given: Vec::new() });
    let given = vec!["holds".to_owned(), "words".to_owned()];
    broken(json!({ "words": { "max": 1 }, "holds": "x" }), "", BrokenRule::NotOneCheck { given });
    broken(json!({ "words": {} }), ".words", BrokenRule::NothingInside);
    broken(json!({ "format": {} }), ".format", BrokenRule::NothingInside);
    broken(json!({ "words": { "min": 2, "max": 1 } }), ".words", BrokenRule::NoNumberBetween);
    broken(json!({ "holds": "x", "per_100": { "max": 1 } }), ".per_100", BrokenRule::Without("lexicon"));
    broken(json!({ "consistent": false }), ".consistent", BrokenRule::OnlyTrue);
    broken(json!({ "holds": " " }), ".holds", BrokenRule::Empty);
    let range = |value: &str, least: &str, most: &str| BrokenRule::OutOfRange {
        value: value.to_owned(),
        least: least.to_owned(),
        most: most.to_owned(),
    };
    broken(json!({ "holds": "x", "weight": 101 }), ".weight", range("101", "0", "100"));
    broken(json!({ "overlap": { "prompt": 1.5 } }), ".overlap.prompt", range("1.5", "0", "1"));
    let (most, bytes) = (limits::SHORT_TEXT_BYTES, limits::SHORT_TEXT_BYTES + 1);
    broken(json!("x".repeat(bytes)), "", BrokenRule::TooLong { bytes, most });
    broken(json!({ "holds": "x".repeat(bytes) }), ".holds", BrokenRule::TooLong { bytes, most });
    check::<TestInput>(&json!({ "samples": 101 }), "samples", range("101", "1", "100"));
    check::<Persona>(&json!({ "fidelity": { "votes": 2 } }), "fidelity.votes", BrokenRule::Even);
    check::<Persona>(&json!({ "fidelity": { "pass": 1.5 } }), "fidelity.pass", range("1.5", "0", "1"));
}

#[test]
fn examples() {
    let most = limits::EXAMPLES;
    let example = json!({ "user": "Hi.", "persona": "Good day." });
    let examples = |count: usize| json!({ "examples": vec![example.clone(); count] });
    valid::<Persona>(&examples(most));
    check::<Persona>(&examples(most + 1), "examples", BrokenRule::TooMany { count: most + 1, most });
    let long = json!({ "examples": [example, { "user": "x".repeat(8193), "persona": "No." }] });
    check::<Persona>(&long, "examples[1].user", BrokenRule::TooLong { bytes: 8193, most: 8192 });
    let silent = json!({ "examples": [{ "user": "Hi.", "persona": " " }] });
    check::<Persona>(&silent, "examples[0].persona", BrokenRule::Empty);
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
    let at = |field: &str| format!("preferred_models[1].{field}");
    valid::<Persona>(&model(json!({ "temperature": 0.0, "top_p": 0.0, "max_output_tokens": 1 })));
    valid::<Persona>(&model(json!({ "temperature": 2.0, "top_p": 1.0 })));
    check::<Persona>(&model(json!({ "temperature": -0.1 })), &at("temperature"), outside("-0.1", "0", "2"));
    check::<Persona>(&model(json!({ "top_p": 1.5 })), &at("top_p"), outside("1.5", "0", "1"));
    check::<Persona>(
        &model(json!({ "max_output_tokens": 0 })),
        &at("max_output_tokens"),
        BrokenRule::TooSmall { least: 1 },
    );
    check::<Persona>(&model(json!({ "provider": " " })), &at("provider"), BrokenRule::Empty);
    check::<Persona>(
        &model(json!({ "model": "m".repeat(201) })),
        &at("model"),
        BrokenRule::TooLong { bytes: 201, most: 200 },
    );
    let many = vec![json!({ "provider": "p", "model": "m" }); 17];
    check::<Persona>(
        &json!({ "preferred_models": many }),
        "preferred_models",
        BrokenRule::TooMany { count: 17, most: 16 },
    );
}

#[test]
fn the_first_model_sets_the_parameters() {
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
    // Fields that are not set are not written.
    let written = serde_json::to_value(&bare).expect("JSON");
    assert_eq!(written["preferred_models"][0], json!({ "provider": "p", "model": "m" }));
}

#[test]
fn plan_personas() {
    let long = "x".repeat(limits::LONG_TEXT_BYTES + 1);
    check::<Persona>(
        &json!({ "plan_persona": { "instruction": long } }),
        "plan_persona.instruction",
        BrokenRule::TooLong { bytes: limits::LONG_TEXT_BYTES + 1, most: limits::LONG_TEXT_BYTES },
    );
    check::<Persona>(&json!({ "plan_persona": { "model": "a\0" } }), "plan_persona.model", BrokenRule::Nul);
}

#[test]
fn a_part_must_say_something() {
    check::<Part>(&json!({ "content": null }), "content", BrokenRule::NoText);
    check::<Part>(&json!({ "content": " \n" }), "content", BrokenRule::NoText);
    valid::<Part>(&json!({ "content": null, "summary": "Dry." }));
    valid::<Part>(&json!({ "content": null, "description": "How it sounds." }));
}

#[test]
fn stages() {
    let stages = |count| -> Value { names(count).into_iter().map(|name| json!({ "name": name })).collect() };
    valid::<CharacterArc>(&json!({ "stages": stages(64) }));
    check::<CharacterArc>(
        &json!({ "stages": stages(65) }),
        "stages",
        BrokenRule::TooMany { count: 65, most: 64 },
    );
    check::<CharacterArc>(
        &json!({ "stages": [{ "name": "one", "order": 1 }, { "name": "one", "order": 2 }] }),
        "stages",
        BrokenRule::Repeated("one".to_owned()),
    );
    let stage = |edit: Value| {
        let mut stage = json!({ "name": "one" });
        for (field, value) in edit.as_object().expect("an object") {
            stage[field] = value.clone();
        }
        json!({ "stages": [stage] })
    };
    valid::<CharacterArc>(&stage(json!({ "parts": names(64) })));
    check::<CharacterArc>(
        &stage(json!({ "parts": names(65) })),
        "stages.one.parts",
        BrokenRule::TooMany { count: 65, most: 64 },
    );
    check::<CharacterArc>(
        &stage(json!({ "parts": ["a", "a"] })),
        "stages.one.parts",
        BrokenRule::Repeated("a".to_owned()),
    );
    for field in ["description", "condition"] {
        check::<CharacterArc>(
            &stage(json!({ field: "x".repeat(8193) })),
            &format!("stages.one.{field}"),
            BrokenRule::TooLong { bytes: 8193, most: 8192 },
        );
    }
}

#[test]
fn presets() {
    let tool = |tool: Value| json!({ "categories": { "files": [tool] } });
    valid::<ToolPreset>(&tool(json!({ "name": "read", "weight": 1 })));
    for weight in [0, 6] {
        check::<ToolPreset>(
            &tool(json!({ "name": "read", "weight": weight })),
            "categories.files[0].weight",
            outside(&weight.to_string(), "1", "5"),
        );
    }
    check::<ToolPreset>(&tool(json!({ "name": " " })), "categories.files[0].name", BrokenRule::Empty);
    valid::<BiasProfile>(&json!({ "multipliers": { "files": 0, "shell": 10 } }));
    check::<BiasProfile>(
        &json!({ "multipliers": { "files": 10.5 } }),
        "multipliers.files",
        outside("10.5", "0", "10"),
    );
}

#[test]
fn context_presets_stay_inside_the_project() {
    let entry = |entry: Value| json!({ "entries": [entry] });
    valid::<ContextPreset>(&entry(json!({ "glob": "src/**/*.rs" })));
    valid::<ContextPreset>(&entry(json!({ "path": "docs/..hidden" })));
    for entry in [json!({}), json!({ "glob": "a", "path": "a" })] {
        check::<ContextPreset>(
            &json!({ "entries": [entry] }),
            "entries[0]",
            BrokenRule::EitherOf("glob", "path"),
        );
    }
    for path in ["/etc/passwd", "~/.ssh/id", "../secrets", "a/../../b", "a\\..\\b"] {
        check::<ContextPreset>(&entry(json!({ "path": path })), "entries[0].path", BrokenRule::Outside);
    }
    check::<ContextPreset>(&json!({ "token_budget": 0 }), "token_budget", BrokenRule::TooSmall { least: 1 });
}
