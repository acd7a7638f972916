//! The sentences of lint, pinned in one snapshot. The tests of the rules compare fields.

use persona::lint::{LintSettings, Rule};
use serde_json::json;

use super::Shelf;

/// Libraries with findings of every rule of this crate, in each of its sentences.
#[test]
fn sentences() {
    let settings = LintSettings {
        part_tokens: 2,
        providers: Some(["anthropic", "ollama"].map(str::to_owned).into()),
        env_allowed: ["UNSET".to_owned()].into(),
        ..LintSettings::default()
    };
    let key = format!("ghp_{}", "k7Qz2LmXw9RbT4vNc8Yd1HsJ6gPf3UaE5tKo");
    let mut findings = references().lint(&settings);
    findings.extend(texts(&key).lint(&settings));
    let nobody = Shelf::read(&[(
        "project persona p",
        json!({ "summary": "s", "preferred_models": [{ "provider": "openai", "model": "m" }] }),
    )]);
    findings.extend(nobody.lint(&LintSettings { providers: Some([].into()), ..settings }));
    // This crate reads neither regular expressions nor JSON Schemas.
    for rule in Rule::ALL.iter().filter(|rule| **rule != Rule::UnreadableExpectation) {
        assert!(findings.iter().any(|finding| finding.rule == *rule), "{rule} has no sentence here");
    }
    let lines: String = findings.iter().map(|finding| format!("{finding}\n")).collect();
    insta::assert_snapshot!(lines);
}

fn references() -> Shelf {
    let part = |part_type: &str| json!({ "part_type": part_type, "content": "c" });
    Shelf::read(&[
        (
            "shared persona a",
            json!({
                "parts": [{ "name": "clam" }, { "name": "nowhere" }, { "name": "mine" }, { "name": "sql" }],
                "plan_persona": { "model": "large", "tool_preset": "editr" },
                "preferred_models": [{ "provider": "antropic", "model": "m" }, { "provider": "x", "model": "m" }],
                "remove_tags": ["t"],
            }),
        ),
        ("shared persona b", json!({ "extends": "bse", "summary": "s" })),
        ("shared persona base", json!({ "extends": "base" })),
        ("+builtin persona base", json!({ "summary": "s" })),
        ("shared persona c", json!({ "extends": "project:d" })),
        ("shared persona nobody", json!({ "extends": "anybody-else" })),
        ("project persona d", json!({ "parts": [{ "name": "dry" }, { "name": "warm" }], "arc": "growth" })),
        ("project persona e", json!({ "extends": "d", "remove_parts": ["cold"] })),
        ("project persona silent", json!({})),
        ("project persona wordy", json!({ "summary": "s", "parts": [{ "name": "steps" }] })),
        ("project part steps", json!({ "part_type": "protocol", "content": "Ask.\nWait." })),
        ("shared part calm", part("tone")),
        ("+builtin tool_preset editor", json!({})),
        ("shared skill sql", json!({ "content": "c" })),
        ("project part mine", part("goal")),
        ("project part dry", part("tone")),
        ("project part warm", part("tone")),
        ("project part low", part("voice")),
        (
            "project arc growth",
            json!({ "stages": [{ "name": "one", "parts": ["low"] }, { "name": "two", "parts": ["sql"] }] }),
        ),
        ("project part long", json!({ "part_type": "goal", "content": "tok tok tok" })),
        ("project trait empty", json!({ "trait_type": "social" })),
        ("project skill empty", json!({})),
        ("project guardrail empty", json!({})),
        ("project arc empty", json!({})),
        ("project test_input empty", json!({})),
    ])
}

fn texts(key: &str) -> Shelf {
    let of = |text: &str| json!({ "content": text });
    Shelf::read(&[
        ("project skill hidden", of("a\u{200B}b\u{200B}\u{200B}c\u{200B}\u{200B}\u{200B}")),
        ("project skill many", of(&"a\u{200B}".repeat(9))),
        ("project skill alike", of("p\u{430}ypal")),
        ("project skill secret", of(&format!("{key}\npassword: Tr0ub4dor&3"))),
        ("project skill env", of("${env.HOME} ${env.UNSET} ${env:X}")),
        ("shared skill env", of("${env.HOME}")),
        ("project test_input env", of("${env.HOME}")),
        (
            "project test_input judged",
            json!({ "content": "c", "expectations": [
                "Does not mention the price.",
                "Greets back and asks what is wanted.",
                "Has at most 80 words.",
            ] }),
        ),
    ])
}
