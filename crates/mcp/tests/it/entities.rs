//! Entities of any kind through the four tools that take them all.

use serde_json::{Value, json};

use crate::wire::{Fixture, Wire, offers};

async fn names(wire: &mut Wire, kind: &str) -> Vec<String> {
    let page = wire.call("list_library", json!({ "kind": kind, "limit": 200 })).await;
    let items = page["items"].as_array().expect("items");
    assert!(items.iter().all(|item| item["kind"] == kind && item["scope"].is_string()), "{page}");
    items.iter().filter_map(|item| item["name"].as_str().map(str::to_owned)).collect()
}

/// Kinds that have no tools of their own, each with a lawful entity.
fn entities() -> [(&'static str, Value); 4] {
    [
        (
            "tool_preset",
            json!({
                "description": "Look, do not touch",
                "categories": { "files": [{ "name": "read_*", "approval": "auto", "weight": 5 }] },
            }),
        ),
        ("bias_profile", json!({ "multipliers": { "search": 2.5 } })),
        (
            "context_preset",
            json!({ "entries": [{ "glob": "src/**", "view": "skeleton" }], "token_budget": 900 }),
        ),
        ("test_input", json!({ "content": "Who are you?", "expectations": ["says its name"] })),
    ]
}

#[tokio::test]
async fn presets_and_test_inputs_live_and_die() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    for (kind, entity) in entities() {
        let save = json!({ "kind": kind, "name": "mine", "entity": entity, "if_revision": 0 });
        let written = wire.call("save_entity", save.clone()).await;
        assert_eq!(
            (&written["kind"], &written["scope"], &written["changed"]),
            (&json!(kind), &json!("shared"), &json!(true))
        );
        let again = wire.refusal("save_entity", save).await;
        assert_eq!(again["code"], "already_exists", "{again}");
        assert!(names(&mut wire, kind).await.contains(&"mine".to_owned()), "{kind}");
        let got = wire.call("get_entity", json!({ "kind": kind, "name": "mine" })).await;
        for (field, value) in entity.as_object().expect("fields") {
            assert_eq!(&got[field], value, "{kind}.{field}");
        }
        assert_eq!((&got["scope"], &got["name"]), (&json!("shared"), &json!("mine")));
        // An unchanged entity can be sent back.
        let same = json!({ "kind": kind, "name": "mine", "entity": got, "if_revision": got["revision"] });
        assert_eq!(wire.call("save_entity", same).await["changed"], false, "{kind}");
        let mut other = entity.clone();
        other["description"] = json!("Another");
        let update = json!({ "kind": kind, "name": "mine", "entity": other, "message": "for a change" });
        assert_eq!(wire.call("save_entity", update).await["changed"], true, "{kind}");
        let first = wire.call("get_entity", json!({ "kind": kind, "name": "mine", "revision": 1 })).await;
        assert_eq!(first.get("description"), entity.get("description"), "{kind}");
        let delete = json!({ "kind": kind, "name": "mine" });
        assert_eq!(wire.call("delete_entity", delete.clone()).await["deleted"], true, "{kind}");
        assert_eq!(wire.call("delete_entity", delete.clone()).await["deleted"], false, "{kind}");
        let gone = wire.refusal("get_entity", delete).await;
        assert_eq!((&gone["code"], &gone["subject"]["name"]), (&json!("not_found"), &json!("mine")));
    }
}

#[tokio::test]
async fn builtin_presets_are_there() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    for (kind, expected) in [
        ("tool_preset", ["read_only", "editor", "full"]),
        ("bias_profile", ["balanced", "discovery_heavy", "execution_focused"]),
        ("context_preset", ["codebase_full", "codebase_skeleton", "docs_only"]),
    ] {
        let names = names(&mut wire, kind).await;
        assert!(expected.iter().all(|name| names.iter().any(|known| known == name)), "{kind}: {names:?}");
        for name in expected {
            let got = wire.call("get_entity", json!({ "kind": kind, "name": name })).await;
            assert_eq!(got["scope"], "builtin");
        }
    }
}

#[tokio::test]
async fn every_kind_goes_through_the_same_door() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    for (kind, entity) in [
        ("part", json!({ "part_type": "tone", "content": "Be calm." })),
        ("trait", json!({ "trait_type": "social", "instruction": "Listen." })),
        ("skill", json!({ "content": "Sew." })),
        ("guardrail", json!({ "severity": "high", "content": "No." })),
        ("arc", json!({ "stages": [{ "name": "young", "order": 1 }] })),
        ("persona", json!({ "system_prompt": "You are.", "traits": ["x1"], "parts": [{ "name": "x1" }] })),
        // As in a file, a part may be its bare name.
        ("persona", json!({ "system_prompt": "You were.", "traits": ["x1"], "parts": ["x1"] })),
    ] {
        let written = wire.call("save_entity", json!({ "kind": kind, "name": "x1", "entity": entity })).await;
        assert_eq!(written["changed"], true, "{kind}");
        let got = wire.call("get_entity", json!({ "kind": kind, "name": "x1" })).await;
        assert_eq!(got["name"], "x1");
    }
    let persona = wire.call("get_agent_persona", json!({ "name": "x1", "detail": true })).await;
    assert_eq!(persona["parts"][0]["content"], "Be calm.");
    let used = wire.refusal("delete_entity", json!({ "kind": "part", "name": "x1" })).await;
    assert!(used["code"] == "in_use" && offers(&used, "use_force"), "{used}");
    let deleted = wire.call("delete_entity", json!({ "kind": "part", "name": "x1", "force": true })).await;
    assert_eq!(deleted["unlinked"], json!([{ "kind": "persona", "name": "x1" }]));
}

#[tokio::test]
async fn mistakes_are_named() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    let mut wrong = Vec::new();
    for (tool, arguments, code) in [
        ("get_entity", json!({ "kind": "tool_presets", "name": "x" }), "unknown_word"),
        ("list_library", json!({}), "missing_field"),
        ("get_entity", json!({ "kind": "tool_preset", "name": "read_onyl" }), "not_found"),
        (
            "save_entity",
            json!({ "kind": "test_input", "name": "x", "entity": { "contents": "?" } }),
            "unknown_field",
        ),
        (
            "save_entity",
            json!({ "kind": "bias_profile", "name": "x", "entity": { "multipliers": { "search": 11 } } }),
            "invalid_field",
        ),
        (
            "save_entity",
            json!({ "kind": "test_input", "name": "x", "entity": { "name": "y" } }),
            "conflicting_fields",
        ),
        ("save_entity", json!({ "kind": "test_input", "name": "x", "entity": [] }), "invalid_value"),
        (
            "save_entity",
            json!({ "kind": "test_input", "name": "x", "entity": {}, "scope": "builtin" }),
            "builtin_fixed",
        ),
    ] {
        let refusal = wire.refusal(tool, arguments.clone()).await;
        if refusal["code"] != code {
            wrong.push(format!("{arguments}: not {code}, but {refusal}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
