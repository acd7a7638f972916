//! References, bases, and what nothing refers to.

use persona::lint::{Rule, Settings};
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
        &[r#"error: persona project:coder, parts: unknown part "clam-tone"; did you mean "calm-tone"?"#],
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
    for (field, value, kind) in [
        ("parts", json!([{ "name": "x" }]), "part"),
        ("traits", json!(["x"]), "trait"),
        ("skills", json!(["x"]), "skill"),
        ("guardrails", json!(["x"]), "guardrail"),
        ("arc", json!("x"), "arc"),
        ("tool_preset", json!("x"), "tool preset"),
        ("bias_profile", json!("x"), "bias profile"),
        ("context_preset", json!("x"), "context preset"),
        ("test_inputs", json!(["x"]), "test input"),
    ] {
        let expected = format!("error: persona project:a, {field}: unknown {kind} \"x\"");
        check(Rule::UnknownReference, &[("project persona a", with(field, value))], &[&expected]);
    }
    check(
        Rule::UnknownReference,
        &[("project persona a", with("plan_persona", json!({ "tool_preset": "x" })))],
        &[r#"error: persona project:a, plan_persona.tool_preset: unknown tool preset "x""#],
    );
    check(
        Rule::UnknownReference,
        &[("project arc a", json!({ "stages": [{ "name": "one", "parts": ["x"] }, { "name": "two" }] }))],
        &[r#"error: arc project:a, stages.one.parts: unknown part "x""#],
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
        &[
            r#"error: persona shared:a, parts: unknown part "warm"; there is one in project, but a shared definition sees shared and weaker scopes only"#,
        ],
    );
    // Names of stronger scopes are not suggested either.
    check(
        Rule::UnknownReference,
        &[("shared persona a", with("parts", json!([{ "name": "wram" }]))), ("project part warm", part())],
        &[r#"error: persona shared:a, parts: unknown part "wram""#],
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
        &[r#"error: arc project:a, stages.one.parts: unknown part "x""#],
    );
}

#[test]
fn a_name_of_another_kind_is_marked() {
    let calm = || ("project trait calm", json!({ "trait_type": "social", "description": "d" }));
    check(
        Rule::WrongKind,
        &[("project persona a", with("parts", json!([{ "name": "calm" }]))), calm()],
        &[r#"error: persona project:a, parts: "calm" is a trait, not a part; name it under "traits""#],
    );
    check(
        Rule::WrongKind,
        &[("project arc a", json!({ "stages": [{ "name": "one", "parts": ["calm"] }] })), calm()],
        &[r#"error: arc project:a, stages.one.parts: "calm" is a trait, not a part; a stage has parts only"#],
    );
    check(
        Rule::WrongKind,
        &[("project persona a", with("skills", json!(["growth"]))), ("+project arc growth", json!({}))],
        &[r#"error: persona project:a, skills: "growth" is an arc, not a skill; name it under "arc""#],
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
        &[
            r#"error: persona project:a, extends: project:a → bse: there is no such persona; did you mean "base"?"#,
        ],
    );
    check(
        Rule::UnknownReference,
        &[("project persona a", with("extends", json!("shared:a")))],
        &["error: persona project:a, extends: project:a → shared:a: there is no such persona"],
    );
    check(
        Rule::UnknownReference,
        &[("project persona a", with("extends", json!("base"))), ("+shared persona base", json!({}))],
        &[],
    );
}

#[test]
fn a_base_that_is_meant_is_there_and_may_be_extended() {
    let finding = |hint: &str| {
        format!(
            "error: persona project:coder, extends: project:coder → global:coder: there is no such persona{hint}"
        )
    };
    let coder = ("project persona coder", with("extends", json!("global:coder")));
    check(Rule::UnknownReference, std::slice::from_ref(&coder), &[&finding("")]);
    check(
        Rule::UnknownReference,
        &[coder.clone(), ("+builtin persona coder", json!({}))],
        &[&finding("; did you mean \"builtin:coder\"?")],
    );
    check(
        Rule::UnknownReference,
        &[coder, ("project persona coder2", json!({}))],
        &[&finding("; did you mean \"coder2\"?")],
    );
    check(
        Rule::UnknownReference,
        &[("shared persona a", with("extends", json!("bse"))), ("+project persona base", json!({}))],
        &["error: persona shared:a, extends: shared:a → bse: there is no such persona"],
    );
}

#[test]
fn an_error_of_a_base_is_reported_for_the_base() {
    let b = with("extends", json!("b"));
    let gone = with("extends", json!("gone"));
    check(
        Rule::UnknownReference,
        &[("project persona a", b.clone()), ("project persona b", gone.clone())],
        &["error: persona project:b, extends: project:b → gone: there is no such persona"],
    );
    // If the base is not checked, the error is reported for the persona.
    check(
        Rule::UnknownReference,
        &[("project persona a", b), ("+project persona b", gone)],
        &["error: persona project:a, extends: project:a → project:b → gone: there is no such persona"],
    );
}

#[test]
fn bases_must_not_go_in_a_circle() {
    check(
        Rule::BaseChain,
        &[("project persona a", with("extends", json!("a")))],
        &[
            r#"error: persona project:a, extends: project:a extends itself: project:a → project:a; remove one of the extends"#,
        ],
    );
    let found: &[&str] = &[
        r#"error: persona project:a, extends: project:a extends itself: project:a → project:b → project:a; remove one of the extends"#,
        r#"error: persona project:b, extends: project:b extends itself: project:b → project:a → project:b; remove one of the extends"#,
    ];
    let circle = [
        ("project persona a", with("extends", json!("b"))),
        ("project persona b", with("extends", json!("a"))),
        // This one leads into the circle and is not part of it.
        ("project persona c", with("extends", json!("a"))),
    ];
    check(Rule::BaseChain, &circle, found);
    // A namesake that exists and can be extended is suggested.
    let finding = |scope: &str, hint: &str| {
        format!(
            "error: persona {scope}:a, extends: {scope}:a extends itself: {scope}:a → {scope}:a; remove one of the extends{hint}"
        )
    };
    for (scope, weaker) in [("project", "builtin"), ("project", "shared"), ("shared", "builtin")] {
        let key = format!("{scope} persona a");
        let namesake = format!("+{weaker} persona a");
        let entries = [
            (key.as_str(), with("extends", json!("a"))),
            (&namesake, json!({})),
            ("+global persona b", json!({})),
        ];
        let hint = format!(", or name another scope, for example \"{weaker}:a\"");
        check(Rule::BaseChain, &entries, &[&finding(scope, &hint)]);
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
        let found = Shelf::read(&chain).lint(&Settings::default());
        found.iter().filter(|it| it.rule == Rule::BaseChain).count()
    };
    assert_eq!((run(16), run(17), run(18)), (0, 1, 2));
    check(
        Rule::BaseChain,
        &[
            ("shared persona a", with("extends", json!("project:b"))),
            ("project persona b", json!({ "summary": "s" })),
        ],
        &[
            "error: persona shared:a, extends: shared:a → project:b: a persona cannot extend one of a stronger scope; promote it to shared first",
        ],
    );
}

#[test]
fn pieces_that_nothing_uses_are_found() {
    for (kind, fields, users) in [
        ("part", part(), "no persona and no arc uses"),
        ("trait", json!({ "trait_type": "social", "description": "d" }), "no persona uses"),
        ("skill", json!({ "content": "c" }), "no persona uses"),
        ("guardrail", json!({ "content": "c" }), "no persona uses"),
        ("arc", json!({ "stages": [{ "name": "one" }] }), "no persona uses"),
        ("tool_preset", json!({}), "no persona uses"),
        ("bias_profile", json!({}), "no persona uses"),
        ("context_preset", json!({}), "no persona uses"),
    ] {
        let spoken = kind.replace('_', " ");
        let expected = format!("warning: {spoken} project:x: {users} this {spoken}");
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
        &["warning: part global:warm: no persona and no arc uses this part"],
    );
    check(Rule::Unused, &[("project persona a", persona.clone()), ("global part warm", part())], &[]);
    check(
        Rule::Unused,
        &[("global persona a", persona), ("project part warm", part()), ("global part warm", part())],
        &["warning: part project:warm: no persona and no arc uses this part"],
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
        &["warning: part project:warm: no persona and no arc uses this part"],
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
        &[
            "error: persona global:p, extends: global:p → base: there is no such persona",
            "error: persona global:p, parts: unknown part \"tone\"",
        ],
    );
}
