//! Explanations, and flat personas.

use persona::explain::{Explanation, Holders, explain, flat};
use persona::{Bundle, Kind, PartType, PieceScope, Scope};
use serde_json::json;

use crate::script::{name, read};

mod shifts;

fn explained(script: &str) -> Explanation {
    let bundle = read(script).0;
    let mut holders = Holders::default();
    for PieceScope { kind, name, scope } in &bundle.piece_scopes {
        holders.insert(*kind, name.clone(), vec![*scope]);
    }
    explain(&bundle, &holders)
}

/// Asserts where the parts are from: `type=name@order/priority from scope`, and what each replaced.
#[track_caller]
fn check_parts(script: &str, expected: &[&str]) {
    let parts = explained(script).parts.into_iter().map(|part| {
        let place = format!(
            "{}={}@{}/{}",
            part.part_type.map_or("?", PartType::as_str),
            part.name,
            part.order,
            part.priority
        );
        let replaced: Vec<String> =
            part.replaced.iter().map(|old| format!("{} of {}", old.name, old.from)).collect();
        let replaced =
            if replaced.is_empty() { String::new() } else { format!(" for {}", replaced.join(", ")) };
        format!("{place} {} in {}{replaced}", part.from, part.piece_scope.map_or("none", Scope::as_str))
    });
    assert_eq!(parts.collect::<Vec<_>>(), expected, "\n  script: {script}");
}

/// Asserts where the fields are from.
#[track_caller]
fn check_fields(script: &str, expected: &[&str]) {
    let fields = explained(script).fields.into_iter().map(|it| {
        let more = |what: &str, labels: &[String]| match labels {
            [] => String::new(),
            labels => format!(" {what} {}", labels.join(", ")),
        };
        let piece = it.piece_scope.map(|scope| format!(" in {scope}")).unwrap_or_default();
        let (below, over) = (more("below", &it.appends_to), more("over", &it.overrides));
        format!("{}={} {}{piece}{below}{over}", it.field, it.value, it.from)
    });
    assert_eq!(fields.collect::<Vec<_>>(), expected, "\n  script: {script}");
}

/// Asserts where the items of lists are from.
#[track_caller]
fn check_items(script: &str, expected: &[&str]) {
    let items = explained(script).items.into_iter().map(|it| {
        let over = if it.overrides.is_empty() {
            String::new()
        } else {
            format!(" over {}", it.overrides.join(", "))
        };
        let piece = it.piece_scope.map(|scope| format!(" in {scope}")).unwrap_or_default();
        format!("{}:{} {}{piece}{over}", it.list, it.name, it.from)
    });
    assert_eq!(items.collect::<Vec<_>>(), expected, "\n  script: {script}");
}

/// Asserts what was taken away.
#[track_caller]
fn check_removed(script: &str, expected: &[&str]) {
    let removed = explained(script).removed.into_iter();
    let removed = removed.map(|it| format!("{}:{} of {} by {}", it.list, it.name, it.from, it.by));
    assert_eq!(removed.collect::<Vec<_>>(), expected, "\n  script: {script}");
}

#[test]
fn layers_are_listed_root_first() {
    let explanation = explained(
        "scope builtin > scope shared 4 > scope project 7 | set arc=growth | stage tone=a | arc project",
    );
    assert_eq!((explanation.name.as_str(), explanation.scope), ("someone", Scope::Project));
    assert_eq!(
        json!(explanation.layers),
        json!([
            { "name": "base-1", "scope": "builtin", "revision": 0, "role": "base" },
            { "name": "base-2", "scope": "shared", "revision": 4, "role": "base" },
            { "name": "someone", "scope": "project", "revision": 7, "role": "own" },
            { "name": "growth/now", "scope": "project", "role": "stage" },
        ])
    );
    let alone = explained("scope global 2");
    assert_eq!(
        json!(alone),
        json!({
            "name": "someone", "scope": "global",
            "layers": [{ "name": "someone", "scope": "global", "revision": 2, "role": "own" }],
            "fields": [], "items": [], "parts": [], "removed": [],
        })
    );
}

#[test]
fn a_part_is_from_the_layer_that_links_it() {
    check_parts("own tone=warm@1/5", &["tone=warm@1/5 builtin:someone in builtin"]);
    check_parts(
        "scope shared | own tone=warm@1/5 > scope project | own goal=win@2",
        &["tone=warm@1/5 shared:base-1 in shared", "goal=win@2/0 project:someone in project"],
    );
    check_parts(
        "scope shared | own tone=warm | from part:warm=builtin > scope project",
        &["tone=warm@0/0 shared:base-1 in builtin"],
    );
}

#[test]
fn a_part_lists_the_parts_it_replaces() {
    check_parts(
        "own tone=warm > own tone=dry",
        &["tone=dry@0/0 builtin:someone in builtin for warm of builtin:base-1"],
    );
    check_parts(
        "own tone=warm > append tone=dry",
        &["tone=warm@0/0 builtin:base-1 in builtin", "tone=dry@0/0 builtin:someone in builtin"],
    );
    check_parts(
        "own tone=warm@1 > append tone=warm@2",
        &["tone=warm@2/0 builtin:someone in builtin for warm of builtin:base-1"],
    );
    // All parts of a type come in place of all that the weaker layers have of it.
    check_parts(
        "own tone=a tone=b > own tone=c tone=d",
        &[
            "tone=c@0/0 builtin:someone in builtin for a of builtin:base-1, b of builtin:base-1",
            "tone=d@0/0 builtin:someone in builtin for a of builtin:base-1, b of builtin:base-1",
        ],
    );
    check_parts(
        "own tone=a > own tone=b > own tone=c",
        &["tone=c@0/0 builtin:someone in builtin for b of builtin:base-2, a of builtin:base-1"],
    );
    check_parts(
        "own tone=a > own tone=b > append tone=c",
        &[
            "tone=b@0/0 builtin:base-2 in builtin for a of builtin:base-1",
            "tone=c@0/0 builtin:someone in builtin",
        ],
    );
}

#[test]
fn a_stage_is_a_layer() {
    check_parts(
        "scope shared | own tone=warm@3/5 > scope project | set arc=growth | stage tone=cold goal=win | arc project",
        &[
            "tone=cold@3/5 project:growth/now in project for warm of shared:base-1",
            "goal=win@4/0 project:growth/now in project",
        ],
    );
    // The arc is the base's, which found it and the part in the builtins.
    check_parts(
        "scope shared | set arc=growth > scope project | own tone=dry | stage tone=cold | arc builtin",
        &["tone=cold@0/0 builtin:growth/now in builtin for dry of project:someone"],
    );
    // The names of a stage resolve from the arc, not from the persona.
    check_parts(
        "scope project | set arc=growth | own voice=x | from part:x=global | stage tone=x goal=y | arc shared y=builtin",
        &[
            "voice=x@0/0 project:someone in global",
            "tone=x@1/0 shared:growth/now in shared",
            "goal=y@2/0 shared:growth/now in builtin",
        ],
    );
}

#[test]
fn a_removed_entry_names_the_layer_that_removed_it() {
    check_removed("own tone=warm > remove parts:warm", &["parts:warm of builtin:base-1 by builtin:someone"]);
    check_removed(
        "own tone=warm > remove parts:warm > own tone=dry",
        &["parts:warm of builtin:base-1 by builtin:base-2"],
    );
    check_removed("own tone=warm > remove parts:absent", &[]);
    check_removed("own tone=warm@1 > remove parts:warm | append tone=warm@2", &[]);
    check_removed(
        "traits calm | skills sql | guardrails safe | inputs x | tags t \
         > remove traits:calm skills:sql guardrails:safe inputs:x tags:t",
        &[
            "traits:calm of builtin:base-1 by builtin:someone",
            "skills:sql of builtin:base-1 by builtin:someone",
            "guardrails:safe of builtin:base-1 by builtin:someone",
            "test_inputs:x of builtin:base-1 by builtin:someone",
            "tags:t of builtin:base-1 by builtin:someone",
        ],
    );
    check_parts("own tone=warm > remove parts:warm", &[]);
}

#[test]
fn a_field_is_from_the_strongest_layer_that_sets_it() {
    check_fields("set summary=S", &[r#"summary="S" builtin:someone"#]);
    check_fields(
        "set summary=S > set detail=D",
        &[r#"summary="S" builtin:base-1"#, r#"detail="D" builtin:someone"#],
    );
    check_fields(
        "set summary=a > set summary=b > set summary=c",
        &[r#"summary="c" builtin:someone over builtin:base-1, builtin:base-2"#],
    );
    check_fields(
        "set author=Ann license=MIT > set author=Ben",
        &[r#"author="Ben" builtin:someone over builtin:base-1"#, r#"license="MIT" builtin:base-1"#],
    );
    check_fields(
        "set models=m aggregation=full rounds=9 plan.instruction=i plan.model=m arc=growth > set plan.model=n tool_preset=t",
        &[
            r#"preferred_models=[{"model":"m","provider":"p"}] builtin:base-1"#,
            r#"tool_preset="t" builtin:someone"#,
            r#"aggregation_strategy="full" builtin:base-1"#,
            "max_tool_rounds=9 builtin:base-1",
            r#"plan_persona.instruction="i" builtin:base-1"#,
            r#"plan_persona.model="n" builtin:someone over builtin:base-1"#,
            r#"arc="growth" builtin:base-1"#,
        ],
    );
    check_fields(
        "scope project | set tool_preset=editor | from tool_preset:editor=builtin",
        &[r#"tool_preset="editor" project:someone in builtin"#],
    );
}

#[test]
fn a_prompt_lists_the_layers_it_follows_and_replaces() {
    check_fields("prompt a > prompt b", &[r#"system_prompt="b" builtin:someone over builtin:base-1"#]);
    check_fields("prompt a > prompt+ b", &[r#"system_prompt="b" builtin:someone below builtin:base-1"#]);
    check_fields(
        "prompt a > prompt b > prompt+ c",
        &[r#"system_prompt="c" builtin:someone below builtin:base-2 over builtin:base-1"#],
    );
    check_fields("prompt a > prompt+ b >", &[r#"system_prompt="b" builtin:base-2 below builtin:base-1"#]);
    check_fields("prompt+ a", &[r#"system_prompt="a" builtin:someone"#]);
}

#[test]
fn a_prompt_that_says_nothing_is_not_appended() {
    check_fields("prompt a > prompt+ _", &[r#"system_prompt="a" builtin:base-1"#]);
    check_fields("prompt _ > prompt+ b", &[r#"system_prompt="b" builtin:someone over builtin:base-1"#]);
    check_fields(
        "prompt a > prompt+ _ > prompt+ c",
        &[r#"system_prompt="c" builtin:someone below builtin:base-1"#],
    );
    for (script, whole) in [
        ("prompt a > prompt+ _", "a"),
        ("prompt _ > prompt+ b", "b"),
        ("prompt a > prompt+ _ > prompt+ c", "a\n\nc"),
        ("prompt a > prompt _", " "),
    ] {
        assert_eq!(flat(&read(script).0).system_prompt.as_deref(), Some(whole), "{script}");
    }
}

#[test]
fn a_long_text_is_cut() {
    let script = format!("prompt {}", "é".repeat(500));
    let explanation = explained(&script);
    let value = explanation.fields[0].value.as_str().expect("a text");
    assert_eq!(value.chars().count(), 201);
    assert!(value.ends_with("é…"));
}

#[test]
fn an_item_is_from_the_strongest_layer_that_lists_it() {
    check_items(
        "traits calm > traits kind",
        &["traits:calm builtin:base-1 in builtin", "traits:kind builtin:someone in builtin"],
    );
    check_items(
        "scope shared | traits calm > scope project | traits calm",
        &["traits:calm project:someone in project over shared:base-1"],
    );
    check_items(
        "scope shared | skills sql | from skill:sql=builtin > scope project",
        &["skills:sql shared:base-1 in builtin"],
    );
    check_items(
        "tags a > tags b a",
        &["tags:a builtin:someone over builtin:base-1", "tags:b builtin:someone"],
    );
    check_items("traits a > remove traits:a > traits a", &["traits:a builtin:someone in builtin"]);
    check_items("inputs x", &["test_inputs:x builtin:someone"]);
}

#[test]
fn an_item_that_was_not_found_has_no_scope() {
    let (mut bundle, _) = read("scope shared | traits calm > scope project | traits calm kind");
    bundle.traits.clear();
    let explanation = explain(&bundle, &Holders::default());
    let items: Vec<_> =
        explanation.items.iter().map(|it| (it.name.as_str(), it.from.as_str(), it.piece_scope)).collect();
    // The base's piece stays in force, as in the assembly.
    assert_eq!(items, [("calm", "shared:base-1", Some(Scope::Shared)), ("kind", "project:someone", None)]);
    assert_eq!(bundle.assembled().traits.len(), 1);
}

#[test]
fn an_explanation_is_read_as_it_is_written() {
    let explanation = explained(
        "scope shared 3 | own tone=a | traits calm | prompt p | tags t \
         > scope project 4 | own tone=b | prompt+ q | remove tags:t | set arc=growth | stage tone=c",
    );
    let text = serde_json::to_string(&explanation).expect("JSON");
    assert_eq!(serde_json::from_str::<Explanation>(&text).expect("what was written"), explanation);
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn a_flat_persona_is_written_out() {
    let (bundle, _) = read(
        "scope shared | own tone=warm@1/5 identity=who@2 | traits calm kind | prompt Be_kind. | set summary=Kind \
         > own tone=dry@3/7 | remove traits:kind | traits wry | prompt+ Be_brief. | set plan.model=m | inputs x",
    );
    let persona = flat(&bundle);
    assert_eq!(
        serde_json::to_value(&persona).expect("JSON"),
        json!({
            "name": "someone", "summary": "Kind", "system_prompt": "Be kind.\n\nBe brief.",
            "system_prompt_mode": "replace", "preferred_models": [], "plan_persona": { "model": "m" },
            "parts": [{ "name": "who", "order": 2, "priority": 0 }, { "name": "dry", "order": 3, "priority": 7 }],
            "parts_mode": "replace", "traits": ["calm", "wry"], "skills": [], "guardrails": [],
            "test_inputs": ["x"], "tags": [],
        })
    );
    // A stage is state, and is not written out.
    let (staged, _) = read("own tone=warm | stage tone=cold");
    assert_eq!(flat(&staged).parts[0].name.as_str(), "warm");
}

/// A script's bundle without the parts of these names, in whichever layer: the links lead nowhere.
fn lacking(script: &str, lost: &[&str]) -> Bundle {
    let (mut bundle, _) = read(script);
    let Bundle { parts, bases, .. } = &mut bundle;
    for parts in bases.iter_mut().map(|base| &mut base.parts).chain([parts]) {
        parts.retain(|part| !lost.contains(&part.name.as_str()));
    }
    bundle
}

#[test]
fn a_link_to_a_missing_part_keeps_its_place() {
    for (script, lost, told) in [
        ("own tone=warm@1 goal=win@3 flaw=gone@2/7", &["gone"][..], "warm@1 gone@2? win@3"),
        ("own tone=gone@1 > own tone=dry@2", &["gone"], "gone@1? dry@2"),
        ("own tone=gone@1 > append tone=gone@5", &["gone"], "gone@5?"),
        ("own tone=gone@1 > remove parts:gone", &["gone"], ""),
        ("own tone=gone | stage tone=cold", &["gone"], "gone@0? cold@1"),
    ] {
        let bundle = lacking(script, lost);
        let explanation = explain(&bundle, &Holders::default());
        let parts = explanation.parts.iter().map(|part| {
            assert_eq!(
                (part.part_type.is_none(), part.piece_scope.is_none()),
                (part.not_found, part.not_found)
            );
            format!("{}@{}{}", part.name, part.order, if part.not_found { "?" } else { "" })
        });
        assert_eq!(parts.collect::<Vec<_>>().join(" "), told, "{script}");
        let removed: Vec<&str> = explanation.removed.iter().map(|gone| gone.name.as_str()).collect();
        assert_eq!(removed == ["gone"], script.contains("remove"), "{script}");
        // The flat persona keeps the link, so that fixing the name restores it. It has no stage.
        let links: Vec<String> =
            flat(&bundle).parts.iter().map(|link| format!("{}@{}", link.name, link.order)).collect();
        let told: Vec<String> = told.split(' ').map(|part| part.replace('?', "")).collect();
        let told: Vec<String> =
            told.into_iter().filter(|part| !part.is_empty() && !part.starts_with("cold")).collect();
        assert_eq!(links, told, "{script}");
    }
}

#[test]
fn an_unknown_name_is_marked() {
    let (bundle, _) = read(
        "scope shared | set tool_preset=tools arc=path > scope project | set bias_profile=bold | inputs hello bye | tags t",
    );
    let mut holders = Holders::default();
    for (kind, known, scopes) in [
        // Stronger than the layer that names it: not seen from there.
        (Kind::ToolPreset, "tools", vec![Scope::Project]),
        (Kind::Arc, "path", vec![Scope::Project, Scope::Builtin]),
        (Kind::BiasProfile, "bold", vec![Scope::Global, Scope::Shared]),
        (Kind::TestInput, "bye", vec![Scope::Project]),
    ] {
        holders.insert(kind, name(known), scopes);
    }
    let explanation = explain(&bundle, &holders);
    let fields: Vec<_> =
        explanation.fields.iter().map(|it| (it.field.as_str(), it.piece_scope, it.not_found)).collect();
    assert_eq!(
        fields,
        [
            ("tool_preset", None, true),
            ("bias_profile", Some(Scope::Global), false),
            ("arc", Some(Scope::Builtin), false),
        ]
    );
    let items: Vec<_> =
        explanation.items.iter().map(|it| (it.name.as_str(), it.piece_scope, it.not_found)).collect();
    assert_eq!(items, [("hello", None, true), ("bye", Some(Scope::Project), false), ("t", None, false)]);
}
