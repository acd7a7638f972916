//! Rules for personas with their bases, parts and arcs, and for pieces that are too long or empty.

use persona::lint::{LintSettings, Rule};
use serde_json::{Value, json};

use super::{check, check_with};

fn part(part_type: &str) -> Value {
    json!({ "part_type": part_type, "content": "c" })
}

fn links(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "name": name })).collect()
}

#[test]
fn a_removed_entry_must_exist_in_a_base() {
    let base = || {
        (
            "global persona base",
            json!({
                "summary": "s", "parts": links(&["warm"]), "traits": ["calm"], "skills": ["sql"],
                "guardrails": ["safe"], "test_inputs": ["x"], "tags": ["t"],
            }),
        )
    };
    let warm = || ("global part warm", part("tone"));
    let own = |fields: Value| {
        let mut own = json!({ "extends": "base" });
        own.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        ("project persona a", own)
    };
    let all_there = json!({
        "remove_parts": ["warm"], "remove_traits": ["calm"], "remove_skills": ["sql"],
        "remove_guardrails": ["safe"], "remove_test_inputs": ["x"], "remove_tags": ["t"],
    });
    check(Rule::UselessRemoval, &[base(), warm(), own(all_there)], &[]);
    let none_there = json!({
        "remove_parts": ["cold"], "remove_traits": ["warm"], "remove_skills": ["go"],
        "remove_guardrails": ["lax"], "remove_test_inputs": ["y"], "remove_tags": ["u"],
    });
    check(
        Rule::UselessRemoval,
        &[base(), warm(), own(none_there)],
        &[
            r#"warning persona project:a remove_guardrails "lax""#,
            r#"warning persona project:a remove_parts "cold""#,
            r#"warning persona project:a remove_skills "go""#,
            r#"warning persona project:a remove_tags "u""#,
            r#"warning persona project:a remove_test_inputs "y""#,
            r#"warning persona project:a remove_traits "warm""#,
        ],
    );
}

#[test]
fn an_entry_that_a_nearer_base_removed_is_gone() {
    let entries = |middle: Value| {
        [
            ("project persona a", json!({ "extends": "b", "remove_parts": ["warm"] })),
            ("project persona b", middle),
            ("project persona c", json!({ "summary": "s", "parts": links(&["warm"]) })),
            ("project part warm", part("tone")),
            ("project part dry", part("tone")),
        ]
    };
    check(Rule::UselessRemoval, &entries(json!({ "extends": "c" })), &[]);
    let finding = r#"warning persona project:a remove_parts "warm""#;
    check(Rule::UselessRemoval, &entries(json!({ "extends": "c", "remove_parts": ["warm"] })), &[finding]);
    check(Rule::UselessRemoval, &entries(json!({ "extends": "c", "parts": links(&["dry"]) })), &[finding]);
    let appends = json!({ "extends": "c", "parts": links(&["dry"]), "parts_mode": "append" });
    check(Rule::UselessRemoval, &entries(appends), &[]);
}

#[test]
fn without_a_base_there_is_nothing_to_take_away() {
    check(
        Rule::UselessRemoval,
        &[("project persona a", json!({ "summary": "s", "remove_tags": ["t"] }))],
        &[r#"warning persona project:a remove_tags "t""#],
    );
    // For a missing base, only the base itself is reported.
    check(
        Rule::UselessRemoval,
        &[("project persona a", json!({ "extends": "gone", "remove_tags": ["t"] }))],
        &[],
    );
    // A part that a base links and that is nowhere may be taken away.
    check(
        Rule::UselessRemoval,
        &[
            ("project persona a", json!({ "extends": "global:a", "remove_parts": ["gone"] })),
            ("global persona a", json!({ "parts": links(&["gone"]) })),
        ],
        &[],
    );
}

#[test]
fn two_parts_of_a_single_type_speak_at_once() {
    for single in ["identity", "tone", "voice", "archetype"] {
        check(
            Rule::ConflictingParts,
            &[
                ("project persona a", json!({ "parts": links(&["x", "y"]) })),
                ("project part x", part(single)),
                ("project part y", part(single)),
            ],
            &[&format!("warning persona project:a parts | 2 {single} parts | x, y")],
        );
    }
    for several in ["goal", "flaw", "skill", "context", "relationship"] {
        check(
            Rule::ConflictingParts,
            &[
                ("project persona a", json!({ "parts": links(&["x", "y"]) })),
                ("project part x", part(several)),
                ("project part y", part(several)),
            ],
            &[],
        );
    }
    check(
        Rule::ConflictingParts,
        &[
            ("project persona a", json!({ "parts": links(&["x", "y"]) })),
            ("project part x", part("tone")),
            ("project part y", part("voice")),
        ],
        &[],
    );
}

#[test]
fn a_conflict_with_a_base_is_seen_after_the_layers() {
    let entries = |mode: &str| {
        [
            ("project persona a", json!({ "extends": "b", "parts": links(&["dry"]), "parts_mode": mode })),
            ("global persona b", json!({ "parts": links(&["warm"]) })),
            ("project part dry", part("tone")),
            ("global part warm", part("tone")),
        ]
    };
    check(Rule::ConflictingParts, &entries("replace"), &[]);
    check(
        Rule::ConflictingParts,
        &entries("append"),
        &["warning persona project:a parts | 2 tone parts | warm, dry"],
    );
    // A conflict within a base is reported for the base alone.
    check(
        Rule::ConflictingParts,
        &[
            ("project persona a", json!({ "extends": "b" })),
            ("project persona b", json!({ "parts": links(&["dry", "warm"]) })),
            ("project part dry", part("tone")),
            ("project part warm", part("tone")),
        ],
        &["warning persona project:b parts | 2 tone parts | dry, warm"],
    );
}

fn arc(stages: Value) -> (&'static str, Value) {
    let mut arc = json!({});
    arc["stages"] = stages;
    ("project arc growth", arc)
}

#[test]
fn a_stage_with_two_tones_conflicts() {
    check(
        Rule::ConflictingParts,
        &[
            arc(json!([{ "name": "one", "parts": ["x", "y"] }, { "name": "two", "parts": ["x"] }])),
            ("project part x", part("tone")),
            ("project part y", part("tone")),
        ],
        &["warning arc project:growth stages.one.parts | 2 tone parts | x, y"],
    );
}

#[test]
fn a_stage_part_of_a_type_that_no_persona_has_adds() {
    let persona = ("project persona a", json!({ "parts": links(&["warm"]), "arc": "growth" }));
    let warm = ("project part warm", part("tone"));
    let low = ("project part low", part("voice"));
    let cold = ("project part cold", part("tone"));
    let finding = r#""low" | voice | tone"#;
    let only_adds = arc(json!([{ "name": "one", "parts": ["low"] }]));
    let base = [persona.clone(), warm.clone(), low.clone(), cold.clone()];
    let with = |more: &[(&'static str, Value)]| [&base[..], more].concat();
    check(
        Rule::StagePartAdds,
        &with(std::slice::from_ref(&only_adds)),
        &[&format!("warning arc project:growth stages.one.parts | {finding}")],
    );
    // Beside one that replaces it is worth a note.
    check(
        Rule::StagePartAdds,
        &with(&[arc(json!([{ "name": "one", "parts": ["cold", "low"] }]))]),
        &[&format!("note arc project:growth stages.one.parts | {finding}")],
    );
    check(Rule::StagePartAdds, &with(&[arc(json!([{ "name": "one", "parts": ["cold"] }]))]), &[]);
    // One persona that has such a part suffices, by inheritance too.
    let other = ("project persona b", json!({ "extends": "a", "parts": links(&["low"]) }));
    check(Rule::StagePartAdds, &with(&[only_adds.clone(), other]), &[]);
    // Personas that are not looked at may have one.
    check(Rule::StagePartAdds, &with(&[only_adds.clone(), ("!project arc growth", json!({}))]), &[]);
    // Of a persona whose base is not there, it is not known what it has.
    let broken = ("project persona c", json!({ "extends": "gone", "arc": "growth" }));
    check(Rule::StagePartAdds, &with(&[only_adds.clone(), broken]), &[]);
    // An arc without personas, or one that brings all parts, replaces nothing by design.
    check(Rule::StagePartAdds, &[only_adds.clone(), low.clone()], &[]);
    check(Rule::StagePartAdds, &[only_adds, low, ("project persona a", json!({ "arc": "growth" }))], &[]);
}

#[test]
fn a_persona_that_says_nothing_is_found() {
    let finding = "warning persona project:a";
    check(Rule::NoPrompt, &[("project persona a", json!({}))], &[finding]);
    check(
        Rule::NoPrompt,
        &[("project persona a", json!({ "display_name": "A", "summary": " ", "tags": ["t"] }))],
        &[finding],
    );
    check(
        Rule::NoPrompt,
        &[("project persona a", json!({ "extends": "b" })), ("+project persona b", json!({}))],
        &[finding],
    );
    for (field, value) in [
        ("summary", json!("s")),
        ("description", json!("d")),
        ("detail", json!("d")),
        ("system_prompt", json!("p")),
        ("parts", links(&["x"])),
        ("traits", json!(["x"])),
        ("skills", json!(["x"])),
        ("guardrails", json!(["x"])),
        ("arc", json!("x")),
    ] {
        check(Rule::NoPrompt, &[("project persona a", json!({ field: value }))], &[]);
        check(
            Rule::NoPrompt,
            &[
                ("project persona a", json!({ "extends": "b" })),
                ("+project persona b", json!({ field: value })),
            ],
            &[],
        );
    }
    check(Rule::NoPrompt, &[("project persona a", json!({ "extends": "gone" }))], &[]);
}

#[test]
fn pieces_with_nothing_in_them_are_found() {
    for (key, empty, finding, full) in [
        (
            "project trait x",
            json!({ "trait_type": "social", "description": " " }),
            "warning trait project:x instruction",
            json!({ "trait_type": "social", "description": "d" }),
        ),
        (
            "project skill x",
            json!({ "description": "d" }),
            "warning skill project:x content",
            json!({ "content": "c" }),
        ),
        (
            "project guardrail x",
            json!({}),
            "warning guardrail project:x content",
            json!({ "deny_tools": ["shell"] }),
        ),
        (
            "project arc x",
            json!({}),
            "warning arc project:x stages",
            json!({ "stages": [{ "name": "one" }] }),
        ),
        (
            "project test_input x",
            json!({ "expectations": ["e"] }),
            "warning test_input project:x content",
            json!({ "content": "c" }),
        ),
    ] {
        check(Rule::EmptyPiece, &[(key, empty)], &[finding]);
        check(Rule::EmptyPiece, &[(key, full)], &[]);
    }
    check(Rule::EmptyPiece, &[("project guardrail x", json!({ "description": "d" }))], &[]);
    check(
        Rule::EmptyPiece,
        &[("project trait x", json!({ "trait_type": "social", "instruction": "i" }))],
        &[],
    );
    check(
        Rule::EmptyPiece,
        &[("project tool_preset x", json!({})), ("project bias_profile y", json!({}))],
        &[],
    );
}

#[test]
fn a_part_over_the_threshold_is_long() {
    let settings = LintSettings { part_tokens: 10, ..LintSettings::default() };
    let of = |tokens: usize| {
        [("project part x", json!({ "part_type": "goal", "content": "tok ".repeat(tokens) }))]
    };
    check_with(&settings, Rule::LongPart, &of(10), &[]);
    check_with(
        &settings,
        Rule::LongPart,
        &of(11),
        &["warning part project:x content | 11 tokens | toks | 10"],
    );
    check(Rule::LongPart, &of(1_500), &[]);
    assert_eq!(LintSettings::default().part_tokens, 1_500);
    check(Rule::LongPart, &[("project skill x", json!({ "content": "tok ".repeat(2_000) }))], &[]);
}

#[test]
fn long_pieces_need_a_summary_where_the_persona_has_one() {
    let long = json!("One.\nTwo.");
    let pieces = || {
        [
            ("project part steps", json!({ "part_type": "goal", "content": long })),
            ("project part told", json!({ "part_type": "goal", "content": long, "summary": "Both." })),
            ("project part brief", json!({ "part_type": "goal", "content": "x".repeat(160) })),
            ("project part wide", json!({ "part_type": "goal", "content": "x".repeat(161) })),
            ("project trait calm", json!({ "trait_type": "social", "instruction": long })),
            ("project skill sql", json!({ "content": long })),
            ("project guardrail safe", json!({ "content": long })),
        ]
    };
    let persona = |fields: Value| {
        let mut persona = json!({
            "parts": links(&["steps", "told", "brief", "wide"]), "traits": ["calm"], "skills": ["sql"], "guardrails": ["safe"],
        });
        persona.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        persona
    };
    let found = |name: &str| {
        [
            ("guardrails", "safe", "description"),
            ("parts", "steps, wide", "summary"),
            ("skills", "sql", "description"),
            ("traits", "calm", "description"),
        ]
        .map(|(field, piece, missing)| format!("note persona project:{name} {field} | : {piece} | {missing}"))
    };
    let checked = |personas: Vec<(&str, Value)>, expected: &[String]| {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(Rule::NoSummary, &[pieces().to_vec(), personas].concat(), &expected);
    };
    checked(vec![("project persona a", persona(json!({ "system_prompt": "You." })))], &[]);
    checked(vec![("project persona a", persona(json!({ "summary": "You." })))], &found("a"));
    // Inherited pieces are those of the base if that has a summary, too.
    let heir = |fields: Value| ("project persona b", fields);
    checked(
        vec![
            ("project persona a", persona(json!({ "summary": "You." }))),
            heir(json!({ "extends": "a", "summary": "Me." })),
        ],
        &found("a"),
    );
    checked(
        vec![("project persona a", persona(json!({}))), heir(json!({ "extends": "a", "summary": "Me." }))],
        &found("b"),
    );
}
