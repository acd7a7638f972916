//! Which texts are looked at, and `${env.NAME}` in them.

use std::collections::BTreeSet;

use persona::lint::{Level, LintSettings, Rule};
use serde_json::{Value, json};

use super::{Shelf, check, check_with};

/// The fields of a definition in which a hidden character is found.
fn fields_looked_at(key: &str, fields: &Value) -> Vec<String> {
    let found = Shelf::read(&[(key, fields.clone())]).lint(&LintSettings::default());
    let found = found.into_iter().filter(|it| it.rule == Rule::HiddenUnicode);
    found.filter_map(|it| it.field).collect()
}

#[test]
fn every_text_that_reaches_a_prompt_is_looked_at() {
    let x = "a\u{200B}";
    for (key, fields, expected) in [
        (
            "project persona p",
            json!({
                "display_name": x, "description": x, "summary": x, "detail": x, "system_prompt": x,
                "plan_persona": { "instruction": x, "model": x },
                "preferred_models": [{ "provider": x, "model": x }], "tags": [x],
            }),
            &[
                "description",
                "detail",
                "display_name",
                "plan_persona.instruction",
                "plan_persona.model",
                "preferred_models[0].model",
                "preferred_models[0].provider",
                "summary",
                "system_prompt",
            ][..],
        ),
        (
            "project part p",
            json!({ "part_type": "tone", "description": x, "summary": x, "content": x }),
            &["content", "description", "summary"],
        ),
        (
            "project trait p",
            json!({ "trait_type": "social", "description": x, "instruction": x }),
            &["description", "instruction"],
        ),
        ("project skill p", json!({ "description": x, "content": x }), &["content", "description"]),
        (
            "project guardrail p",
            json!({ "description": x, "content": x, "deny_tools": ["shell", x] }),
            &["content", "deny_tools[1]", "description"],
        ),
        (
            "project arc p",
            json!({ "description": x, "summary": x, "stages": [{ "name": "one", "description": x, "condition": x }] }),
            &["description", "stages.one.condition", "stages.one.description", "summary"],
        ),
        (
            "project tool_preset p",
            json!({ "description": x, "categories": { "files": [{ "name": x, "parameter_bias": { "limit": x } }] } }),
            &["categories.files[0].name", "categories.files[0].parameter_bias.limit", "description"],
        ),
        (
            "project bias_profile p",
            json!({ "description": x, "multipliers": { x: 1 } }),
            &["description", "multipliers"],
        ),
        (
            "project context_preset p",
            json!({ "description": x, "entries": [{ "glob": x }, { "path": x }] }),
            &["description", "entries[0].glob", "entries[1].path"],
        ),
        (
            "project test_input p",
            json!({ "description": x, "content": x, "expectations": [x] }),
            &["content", "description", "expectations[0]"],
        ),
    ] {
        assert_eq!(fields_looked_at(key, &fields), expected, "{key}");
    }
}

#[test]
fn a_field_never_has_the_character_itself() {
    let categories =
        json!({ "fi\u{200B}les": [{ "name": "a", "parameter_bias": { "li\u{200B}mit": "\u{200B}" } }] });
    assert_eq!(
        fields_looked_at("project tool_preset p", &json!({ "categories": categories })),
        [
            "categories",
            "categories.fi\\u{200b}les[0].parameter_bias",
            "categories.fi\\u{200b}les[0].parameter_bias.li\\u{200b}mit",
        ]
    );
}

#[test]
fn hidden_characters_in_a_test_input_are_a_warning() {
    let level =
        |key: &str, fields: Value| Shelf::read(&[(key, fields)]).lint(&LintSettings::default())[0].level;
    assert_eq!(level("project test_input t", json!({ "content": "a\u{200B}" })), Level::Warning);
    assert_eq!(level("builtin skill t", json!({ "content": "a\u{200B}" })), Level::Error);
}

fn settings(allowed: &[&str], set: &[&str]) -> LintSettings {
    let names =
        |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    LintSettings { env_allowed: names(allowed), env_set: names(set), ..LintSettings::default() }
}

fn skill(key: &str, content: &str) -> [(String, Value); 1] {
    [(key.to_owned(), json!({ "content": content }))]
}

#[track_caller]
fn check_env(settings: &LintSettings, rule: Rule, scope: &str, content: &str, expected: &[&str]) {
    let key = format!("{scope} skill s");
    let [(key, fields)] = skill(&key, content);
    let prefix = format!("{} skill {scope}:s content ", rule.level());
    let expected: Vec<String> = expected.iter().map(|line| format!("{prefix}{line}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check_with(settings, rule, &[(&key, fields)], &expected);
}

#[test]
fn a_variable_must_be_allowed_and_set() {
    let text = "a ${env.HOME}\n${env.TEAM}";
    for scope in ["global", "project"] {
        check_env(
            &settings(&[], &[]),
            Rule::EnvNotAllowed,
            scope,
            text,
            &["1:3 | ${env.HOME}", "2:1 | ${env.TEAM}"],
        );
        check_env(
            &settings(&["HOME", "TEAM"], &["HOME"]),
            Rule::EnvUnset,
            scope,
            text,
            &["2:1 | ${env.TEAM}"],
        );
        for rule in [Rule::EnvNotAllowed, Rule::EnvUnset, Rule::EnvInDatabase, Rule::EnvMalformed] {
            check_env(&settings(&["HOME", "TEAM"], &["HOME", "TEAM"]), rule, scope, text, &[]);
        }
    }
    // A name that is not allowed is not reported as unset.
    check_env(&settings(&[], &["HOME", "TEAM"]), Rule::EnvUnset, "project", text, &[]);
}

#[test]
fn the_database_and_the_builtins_never_read_the_environment() {
    for scope in ["builtin", "shared"] {
        check_env(
            &settings(&["HOME"], &["HOME"]),
            Rule::EnvInDatabase,
            scope,
            "${env.HOME}",
            &[&format!("1:1 | ${{env.HOME}} | {scope}")],
        );
        check_env(&settings(&[], &[]), Rule::EnvNotAllowed, scope, "${env.HOME}", &[]);
    }
}

#[test]
fn malformed_placeholders_are_found() {
    for (text, shown) in [
        ("${env.}", "${env.}"),
        ("${ENV.X}", "${ENV.X}"),
        ("${env.x y}", "${env.x y}"),
        ("${ env.X }", "${ env.X }"),
        ("${env:X}", "${env:X}"),
        ("${env.é}", r"${env.\u{e9}}"),
    ] {
        check_env(&settings(&[], &[]), Rule::EnvMalformed, "project", text, &[&format!("1:1 | \"{shown}\"")]);
    }
    for text in ["${HOME}", "${ENV}", "$env.X", "${environment}", "env.X"] {
        check_env(&settings(&[], &[]), Rule::EnvMalformed, "project", text, &[]);
    }
}

#[test]
fn every_field_is_checked_for_variables() {
    check(
        Rule::EnvNotAllowed,
        &[("project persona p", json!({ "system_prompt": "You work at ${env.X}." }))],
        &["error persona project:p system_prompt 1:13 | ${env.X}"],
    );
}

#[test]
fn a_variable_is_looked_at_as_it_is_filled_in() {
    let all = settings(&["X"], &["X"]);
    let fields = |settings: &LintSettings, rule: Rule, key: &str, fields: &Value| -> Vec<String> {
        let found = Shelf::read(&[(key, fields.clone())]).lint(settings);
        found.into_iter().filter(|it| it.rule == rule).filter_map(|it| it.field).collect()
    };
    let x = "${env.X}";
    for (key, definition, filled, literal) in [
        (
            "project persona p",
            json!({ "display_name": x, "summary": x, "plan_persona": { "instruction": x, "model": x } }),
            &["plan_persona.instruction", "summary"][..],
            &["display_name", "plan_persona.model"][..],
        ),
        (
            "project tool_preset p",
            json!({ "description": x, "categories": { "a": [{ "name": "t", "parameter_bias": { "b": x } }] } }),
            &["categories.a[0].parameter_bias.b"],
            &["description"],
        ),
        ("project bias_profile p", json!({ "description": x }), &["description"], &[]),
        ("project context_preset p", json!({ "entries": [{ "path": x }] }), &[], &["entries[0].path"]),
        ("project test_input p", json!({ "content": x }), &[], &["content"]),
        (
            "project arc p",
            json!({ "stages": [{ "name": "one", "description": x, "condition": x }] }),
            &[],
            &["stages.one.condition", "stages.one.description"],
        ),
    ] {
        assert_eq!(fields(&settings(&["X"], &[]), Rule::EnvUnset, key, &definition), filled, "{key}");
        assert_eq!(fields(&settings(&[], &[]), Rule::EnvNotAllowed, key, &definition), filled, "{key}");
        assert_eq!(fields(&all, Rule::EnvUnset, key, &definition), [""; 0], "{key}");
        assert_eq!(fields(&all, Rule::EnvNotFilled, key, &definition), literal, "{key}");
    }
    check(
        Rule::EnvNotFilled,
        &[("project test_input t", json!({ "content": "At ${env.X}." }))],
        &["warning test_input project:t content 1:4 | ${env.X}"],
    );
}
