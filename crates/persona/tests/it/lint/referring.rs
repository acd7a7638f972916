//! References, bases, and what nothing refers to.

use persona::lint::{LintSettings, Rule};
use serde_json::{Value, json};

use super::{Shelf, check};

fn part() -> Value {
    json!({ "part_type": "tone", "content": "c" })
}

pub(super) fn with(field: &str, value: Value) -> Value {
    let mut persona = json!({ "summary": "s" });
    persona[field] = value;
    persona
}

#[test]
fn an_unknown_reference_has_near_names() {
    check(
        Rule::UnknownReference,
        &[
            ("project persona coder", with("parts", json!([{ "name": "clam-tone" }]))),
            ("project part calm-tone", part()),
        ],
        &[r#"error persona project:coder parts "clam-tone" ~ calm-tone"#],
    );
    check(
        Rule::UnknownReference,
        &[
            ("project persona coder", with("parts", json!([{ "name": "calm-tone" }]))),
            ("project part calm-tone", part()),
        ],
        &[],
    );
}

#[test]
fn every_field_that_names_something_is_followed() {
    for (field, value) in [
        ("parts", json!([{ "name": "x" }])),
        ("traits", json!(["x"])),
        ("skills", json!(["x"])),
        ("guardrails", json!(["x"])),
        ("arc", json!("x")),
        ("tool_preset", json!("x")),
        ("bias_profile", json!("x")),
        ("context_preset", json!("x")),
        ("test_inputs", json!(["x"])),
    ] {
        let expected = format!("error persona project:a {field} \"x\"");
        check(Rule::UnknownReference, &[("project persona a", with(field, value))], &[&expected]);
    }
    check(
        Rule::UnknownReference,
        &[("project persona a", with("plan_persona", json!({ "tool_preset": "x" })))],
        &[r#"error persona project:a plan_persona.tool_preset "x""#],
    );
    check(
        Rule::UnknownReference,
        &[("project arc a", json!({ "stages": [{ "name": "one", "parts": ["x"] }, { "name": "two" }] }))],
        &[r#"error arc project:a stages.one.parts "x""#],
    );
}

#[test]
fn references_go_downwards_from_the_definitions_own_scope() {
    let persona = with("parts", json!([{ "name": "warm" }]));
    for scope in ["builtin", "shared", "global", "project"] {
        let key = format!("+{scope} part warm");
        check(Rule::UnknownReference, &[("project persona a", persona.clone()), (&key, part())], &[]);
    }
    check(
        Rule::UnknownReference,
        &[("shared persona a", persona), ("+project part warm", part())],
        &[r#"error persona shared:a parts "warm" | project"#],
    );
    // Names of stronger scopes are not suggested either.
    check(
        Rule::UnknownReference,
        &[("shared persona a", with("parts", json!([{ "name": "wram" }]))), ("project part warm", part())],
        &[r#"error persona shared:a parts "wram""#],
    );
}

#[test]
fn a_subject_hides_the_other_definition() {
    // The catalog still has the arc without its stage; the subject names a part that is not there.
    check(
        Rule::UnknownReference,
        &[
            ("project arc a", json!({ "stages": [{ "name": "one", "parts": ["x"] }] })),
            ("+project arc a", json!({})),
        ],
        &[r#"error arc project:a stages.one.parts "x""#],
    );
}

#[test]
fn a_name_of_another_kind_is_marked() {
    let calm = || ("project trait calm", json!({ "trait_type": "social", "description": "d" }));
    check(
        Rule::WrongKind,
        &[("project persona a", with("parts", json!([{ "name": "calm" }]))), calm()],
        &[r#"error persona project:a parts "calm" | trait | "traits""#],
    );
    check(
        Rule::WrongKind,
        &[("project arc a", json!({ "stages": [{ "name": "one", "parts": ["calm"] }] })), calm()],
        &[r#"error arc project:a stages.one.parts "calm" | trait"#],
    );
    check(
        Rule::WrongKind,
        &[("project persona a", with("skills", json!(["growth"]))), ("+project arc growth", json!({}))],
        &[r#"error persona project:a skills "growth" | "arc""#],
    );
    // A part of that name is what was meant; and personas and test inputs are never pieces.
    let both = [("project persona a", with("parts", json!([{ "name": "calm" }]))), calm()];
    check(Rule::WrongKind, &[both[0].clone(), both[1].clone(), ("project part calm", part())], &[]);
    check(Rule::WrongKind, &[("project persona a", with("parts", json!([{ "name": "a" }])))], &[]);
}

#[test]
fn a_missing_base_prints_the_chain() {
    check(
        Rule::UnknownReference,
        &[("project persona a", with("extends", json!("bse"))), ("+shared persona base", json!({}))],
        &[r"error persona project:a extends ~ base | project:a → bse"],
    );
    check(
        Rule::UnknownReference,
        &[("project persona a", with("extends", json!("shared:a")))],
        &["error persona project:a extends | project:a → shared:a"],
    );
    check(
        Rule::UnknownReference,
        &[("project persona a", with("extends", json!("base"))), ("+shared persona base", json!({}))],
        &[],
    );
}

#[test]
fn a_base_that_is_meant_is_there_and_may_be_extended() {
    let finding =
        |near: &str| format!("error persona project:coder extends{near} | project:coder → global:coder");
    let coder = ("project persona coder", with("extends", json!("global:coder")));
    check(Rule::UnknownReference, std::slice::from_ref(&coder), &[&finding("")]);
    check(
        Rule::UnknownReference,
        &[coder.clone(), ("+builtin persona coder", json!({}))],
        &[&finding(" ~ builtin:coder")],
    );
    check(Rule::UnknownReference, &[coder, ("project persona coder2", json!({}))], &[&finding(" ~ coder2")]);
    check(
        Rule::UnknownReference,
        &[("shared persona a", with("extends", json!("bse"))), ("+project persona base", json!({}))],
        &["error persona shared:a extends | shared:a → bse"],
    );
}

#[test]
fn an_error_of_a_base_is_reported_for_the_base() {
    let b = with("extends", json!("b"));
    let gone = with("extends", json!("gone"));
    check(
        Rule::UnknownReference,
        &[("project persona a", b.clone()), ("project persona b", gone.clone())],
        &["error persona project:b extends | project:b → gone"],
    );
    // If the base is not checked, the error is reported for the persona.
    check(
        Rule::UnknownReference,
        &[("project persona a", b), ("+project persona b", gone)],
        &["error persona project:a extends | project:a → project:b → gone"],
    );
}

#[test]
fn bases_must_not_go_in_a_circle() {
    check(
        Rule::BaseChain,
        &[("project persona a", with("extends", json!("a")))],
        &["error persona project:a extends | project:a → project:a"],
    );
    let found: &[&str] = &[
        "error persona project:a extends | project:a → project:b → project:a",
        "error persona project:b extends | project:b → project:a → project:b",
    ];
    let circle = [
        ("project persona a", with("extends", json!("b"))),
        ("project persona b", with("extends", json!("a"))),
        // This one leads into the circle and is not part of it.
        ("project persona c", with("extends", json!("a"))),
    ];
    check(Rule::BaseChain, &circle, found);
    // A namesake that exists and can be extended is suggested.
    let finding =
        |scope: &str, other: &str| format!("error persona {scope}:a extends{other} | {scope}:a → {scope}:a");
    for (scope, weaker) in [("project", "builtin"), ("project", "shared"), ("shared", "builtin")] {
        let key = format!("{scope} persona a");
        let namesake = format!("+{weaker} persona a");
        let entries = [
            (key.as_str(), with("extends", json!("a"))),
            (&namesake, json!({})),
            ("+global persona b", json!({})),
        ];
        let other = format!(" ~ {weaker}:a");
        check(Rule::BaseChain, &entries, &[&finding(scope, &other)]);
    }
    check(
        Rule::BaseChain,
        &[("shared persona a", with("extends", json!("a"))), ("+project persona a", json!({}))],
        &[&finding("shared", "")],
    );
    check(
        Rule::BaseChain,
        &[
            ("project persona a", with("extends", json!("global:a"))),
            ("global persona a", json!({ "summary": "s" })),
        ],
        &[],
    );
}

#[test]
fn bases_must_not_be_too_deep_or_in_a_stronger_scope() {
    let key = |at: usize| format!("project persona p{at}");
    let chain = |length: usize| -> Vec<(String, Value)> {
        let base =
            |at: usize| if at == 1 { json!({}) } else { with("extends", json!(format!("p{}", at - 1))) };
        (1..=length).map(|at| (key(at), base(at))).collect()
    };
    let entries = |chain: &[(String, Value)]| -> Vec<(String, Value)> { chain.to_vec() };
    let run = |length: usize| -> usize {
        let chain = entries(&chain(length));
        let chain: Vec<(&str, Value)> =
            chain.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let found = Shelf::read(&chain).lint(&LintSettings::default());
        found.iter().filter(|it| it.rule == Rule::BaseChain).count()
    };
    assert_eq!((run(16), run(17), run(18)), (0, 1, 2));
    check(
        Rule::BaseChain,
        &[
            ("shared persona a", with("extends", json!("project:b"))),
            ("project persona b", json!({ "summary": "s" })),
        ],
        &["error persona shared:a extends | shared:a → project:b"],
    );
}

#[test]
fn pieces_that_nothing_uses_are_found() {
    for (kind, fields) in [
        ("part", part()),
        ("trait", json!({ "trait_type": "social", "description": "d" })),
        ("skill", json!({ "content": "c" })),
        ("guardrail", json!({ "content": "c" })),
        ("arc", json!({ "stages": [{ "name": "one" }] })),
        ("tool_preset", json!({})),
        ("bias_profile", json!({})),
        ("context_preset", json!({})),
    ] {
        let expected = format!("warning {kind} project:x");
        check(Rule::Unused, &[(&format!("project {kind} x"), fields.clone())], &[&expected]);
        check(Rule::Unused, &[(&format!("builtin {kind} x"), fields.clone())], &[]);
        check(
            Rule::Unused,
            &[(&format!("global {kind} x"), fields), (&format!("!global {kind} x"), json!({}))],
            &[],
        );
    }
    check(
        Rule::Unused,
        &[("project persona p", json!({})), ("project test_input t", json!({ "content": "c" }))],
        &[],
    );
}

#[test]
fn a_hidden_definition_is_unused() {
    let persona = with("parts", json!([{ "name": "warm" }]));
    check(
        Rule::Unused,
        &[
            ("project persona a", persona.clone()),
            ("project part warm", part()),
            ("global part warm", part()),
        ],
        &["warning part global:warm"],
    );
    check(Rule::Unused, &[("project persona a", persona.clone()), ("global part warm", part())], &[]);
    check(
        Rule::Unused,
        &[("global persona a", persona), ("project part warm", part()), ("global part warm", part())],
        &["warning part project:warm"],
    );
    check(
        Rule::Unused,
        &[
            ("project arc a", json!({ "stages": [{ "name": "one", "parts": ["warm"] }] })),
            ("project part warm", part()),
            ("project persona p", json!({ "arc": "a" })),
        ],
        &[],
    );
    // To take a part away is not to use it.
    check(
        Rule::Unused,
        &[("project persona a", json!({ "remove_parts": ["warm"] })), ("project part warm", part())],
        &["warning part project:warm"],
    );
}

#[test]
fn references_to_unreadable_entities_are_not_reported() {
    let persona = json!({ "summary": "s", "extends": "base", "parts": [{ "name": "tone" }] });
    let unread = [
        ("project persona p", persona.clone()),
        ("?global persona base", json!({})),
        ("?project part tone", json!({})),
    ];
    check(Rule::UnknownReference, &unread, &[]);
    // A global definition does not see what the project has.
    let global = [
        ("global persona p", persona),
        ("?project persona base", json!({})),
        ("?project part tone", json!({})),
    ];
    check(
        Rule::UnknownReference,
        &global,
        &["error persona global:p extends | global:p → base", "error persona global:p parts \"tone\""],
    );
}
