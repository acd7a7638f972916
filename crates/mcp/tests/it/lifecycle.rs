//! A persona's whole life, in both eras.

use serde_json::{Value, json};

use crate::wire::{Fixture, Wire, offers};

#[tokio::test]
async fn a_whole_life_in_the_older_era() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.legacy().await;
    whole_life(&mut wire).await;
}

#[tokio::test]
async fn a_whole_life_in_the_newer_era() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    whole_life(&mut wire).await;
}

async fn whole_life(wire: &mut Wire) {
    create_pieces(wire).await;
    create_persona(wire).await;
    load(wire).await;
    walk_the_arc(wire).await;
    change_and_delete(wire).await;
}

async fn create_pieces(wire: &mut Wire) {
    let written = wire
        .call(
            "create_agent_part",
            json!({ "name": "warm-tone", "part_type": "tone", "summary": "Warm", "content": "Be warm." }),
        )
        .await;
    assert_eq!(written["kind"], "part");
    assert_eq!(written["scope"], "shared");
    wire.call(
        "create_agent_part",
        json!({ "name": "cold-tone", "part_type": "tone", "content": "Be cold." }),
    )
    .await;
    wire.call("create_agent_part", json!({ "name": "dry-tone", "part_type": "tone", "content": "Be dry." }))
        .await;
    wire.call(
        "create_agent_trait",
        json!({ "name": "curious-one", "trait_type": "personality", "instruction": "Ask." }),
    )
    .await;
    wire.call(
        "create_agent_skill",
        json!({ "name": "sewing", "description": "When cloth is torn", "content": "Sew." }),
    )
    .await;
    wire.call(
        "create_agent_guardrail",
        json!({ "name": "no-knives", "severity": "high", "content": "No knives.", "deny_tools": ["knife*"] }),
    )
    .await;
    let part = wire.call("get_agent_part", json!({ "name": "warm-tone" })).await;
    assert_eq!(part["content"], "Be warm.");
    assert_eq!(part["revision"], 1);
    let parts = wire.call("list_agent_parts", json!({ "part_type": "tone", "limit": 200 })).await;
    let names: Vec<&str> =
        parts["items"].as_array().expect("items").iter().filter_map(|item| item["name"].as_str()).collect();
    assert!(names.contains(&"warm-tone") && names.contains(&"dry-tone"), "{names:?}");
    for (list, get, name) in [
        ("list_agent_traits", "get_agent_trait", "curious-one"),
        ("list_agent_skills", "get_agent_skill", "sewing"),
        ("list_agent_guardrails", "get_agent_guardrail", "no-knives"),
    ] {
        let page = wire.call(list, json!({ "limit": 200 })).await;
        assert!(page["items"].as_array().expect("items").iter().any(|item| item["name"] == name), "{list}");
        assert_eq!(wire.call(get, json!({ "name": name })).await["name"], name);
    }
}

async fn create_persona(wire: &mut Wire) {
    let written = wire
        .call(
            "create_agent_persona",
            json!({
                "name": "tailor",
                "display_name": "The Tailor",
                "summary": "Mends what is torn",
                "system_prompt": "You are a tailor.",
                "tags": ["craft"],
                "parts": [
                    { "name": "warm-tone", "priority": 5 },
                    { "name": "mend", "part_type": "goal", "summary": "Mend", "content": "Mend everything." },
                ],
                "traits": ["curious-one"],
                "preferred_models": [{ "provider": "anthropic", "model": "claude", "temperature": 0.5 }],
            }),
        )
        .await;
    assert_eq!(written["created"], json!([{ "kind": "part", "name": "mend" }]));
    let linked = wire.call("add_persona_skill", json!({ "persona": "tailor", "skill": "sewing" })).await;
    assert_eq!(linked["changed"], true);
    let again = wire.call("add_persona_skill", json!({ "persona": "tailor", "skill": "sewing" })).await;
    assert_eq!((&again["changed"], &again["revision"]), (&json!(false), &linked["revision"]));
    wire.call("add_persona_guardrail", json!({ "persona": "tailor", "guardrail": "no-knives" })).await;
    wire.call("remove_persona_trait", json!({ "persona": "tailor", "trait": "curious-one" })).await;
    wire.call("add_persona_trait", json!({ "persona": "tailor", "trait": "curious-one" })).await;
    wire.call(
        "add_persona_part",
        json!({ "persona": "tailor", "part": "warm-tone", "part_order": 9, "priority": 7 }),
    )
    .await;
}

async fn load(wire: &mut Wire) {
    let summary = wire.call("get_agent_persona", json!({ "name": "tailor" })).await;
    assert_eq!(summary["summary"], "Mends what is torn");
    assert!(summary.get("system_prompt").is_none());
    let order: Vec<&Value> =
        summary["parts"].as_array().expect("parts").iter().map(|part| &part["name"]).collect();
    assert_eq!(order, ["mend", "warm-tone"]);
    let detail = wire
        .call(
            "get_agent_persona",
            json!({ "name": "tailor", "detail": true, "overrides": { "tone": "dry-tone" } }),
        )
        .await;
    assert_eq!(detail["system_prompt"], "You are a tailor.");
    assert_eq!(detail["parts"][1]["content"], "Be dry.");
    assert_eq!(detail["parts"][1]["from"], "override");
    assert_eq!(detail["guardrails"][0]["severity"], "high");
    let trimmed = wire
        .call(
            "get_agent_persona",
            json!({ "name": "tailor", "types": ["tone", "goal"], "limit": 1, "max_tokens": 4000 }),
        )
        .await;
    assert_eq!(trimmed["parts"].as_array().map(Vec::len), Some(1));
    assert!(trimmed["budget"]["left_out"]["part"]["mend"].is_number());
    let manifest = wire.call("get_persona_manifest", json!({ "name": "tailor" })).await;
    assert_eq!(manifest["on_demand_tools"].as_object().map(serde_json::Map::len), Some(5));
    assert!(manifest["parts"][0].get("content").is_none());
    let compiled = wire.call("compile_persona", json!({ "name": "tailor" })).await;
    assert!(compiled["compiled_detail"].as_str().expect("text").contains("Be warm."));
    let alone =
        wire.call("get_agent_persona", json!({ "name": "tailor", "compiled": true, "detail": true })).await;
    assert_eq!(alone["compiled_detail"], compiled["compiled_detail"]);
    let page = wire.call("list_agent_personas", json!({ "tags": ["craft"] })).await;
    assert_eq!(page["items"][0]["name"], "tailor");
    let found = wire.call("search_library", json!({ "query": "torn", "kinds": ["persona", "skill"] })).await;
    assert!(found["items"].as_array().expect("items").len() >= 2, "{found}");
}

async fn walk_the_arc(wire: &mut Wire) {
    wire.call("create_character_arc", json!({ "name": "ageing", "summary": "From warm to cold" })).await;
    wire.call(
        "add_arc_stage",
        json!({ "arc": "ageing", "name": "young", "stage_order": 1, "condition": "at first" }),
    )
    .await;
    wire.call("add_arc_stage", json!({ "arc": "ageing", "name": "old", "stage_order": 2 })).await;
    wire.call("add_stage_part", json!({ "arc": "ageing", "stage": "old", "part": "cold-tone" })).await;
    let arc = wire.call("get_character_arc", json!({ "name": "ageing" })).await;
    assert_eq!(arc["stages"][1]["parts"], json!(["cold-tone"]));
    let state = wire.call("assign_persona_arc", json!({ "persona": "tailor", "arc": "ageing" })).await;
    assert_eq!((&state["stage"], &state["position"], &state["of"]), (&json!("young"), &json!(1), &json!(2)));
    let state = wire.call("advance_persona_stage", json!({ "persona": "tailor" })).await;
    assert_eq!(state["stage"], "old");
    let loaded = wire.call("get_agent_persona", json!({ "name": "tailor", "detail": true })).await;
    let tone = loaded["parts"].as_array().expect("parts").iter().find(|part| part["part_type"] == "tone");
    assert_eq!(tone.map(|part| &part["from"]), Some(&json!("stage")));
    assert_eq!(loaded["compiled_stale"], true);
    assert_eq!(loaded["arc"]["stage"], "old");
    let past = wire.refusal("advance_persona_stage", json!({ "persona": "tailor" })).await;
    assert_eq!(past["code"], "last_stage", "{past}");
    wire.call("reset_persona_stage", json!({ "persona": "tailor" })).await;
    wire.call("remove_stage_part", json!({ "arc": "ageing", "stage": "old", "part": "cold-tone" })).await;
    wire.call("remove_arc_stage", json!({ "arc": "ageing", "stage": "old" })).await;
    wire.call("update_character_arc", json!({ "name": "ageing", "new_name": "growing" })).await;
    wire.call("list_character_arcs", json!({})).await;
    wire.call("unassign_persona_arc", json!({ "persona": "tailor" })).await;
    let deleted = wire.call("delete_character_arc", json!({ "name": "growing" })).await;
    assert_eq!(deleted["deleted"], true);
}

async fn change_and_delete(wire: &mut Wire) {
    let before = wire.call("get_agent_persona", json!({ "name": "tailor" })).await;
    let revision = before["revision"].as_i64().expect("a revision");
    let update = json!({ "name": "tailor", "new_name": "master-tailor", "description": "Older", "if_revision": revision });
    let written = wire.call("update_agent_persona", update).await;
    assert_eq!(written["name"], "master-tailor");
    let stale = json!({ "name": "master-tailor", "description": "Younger", "if_revision": revision });
    let stale = wire.refusal("update_agent_persona", stale).await;
    assert!(stale["code"] == "stale_revision" && offers(&stale, "read_again"), "{stale}");
    for (tool, name) in [
        ("update_agent_part", "warm-tone"),
        ("update_agent_trait", "curious-one"),
        ("update_agent_skill", "sewing"),
        ("update_agent_guardrail", "no-knives"),
    ] {
        assert_eq!(
            wire.call(tool, json!({ "name": name, "description": "New" })).await["changed"],
            true,
            "{tool}"
        );
    }
    let used = wire.refusal("delete_agent_part", json!({ "name": "warm-tone" })).await;
    assert!(used["code"] == "in_use" && offers(&used, "use_force"), "{used}");
    let deleted = wire.call("delete_agent_part", json!({ "name": "warm-tone", "force": true })).await;
    assert_eq!(deleted["unlinked"], json!([{ "kind": "persona", "name": "master-tailor" }]));
    wire.call("remove_persona_skill", json!({ "persona": "master-tailor", "skill": "sewing" })).await;
    wire.call("remove_persona_guardrail", json!({ "persona": "master-tailor", "guardrail": "no-knives" }))
        .await;
    wire.call("remove_persona_part", json!({ "persona": "master-tailor", "part": "mend" })).await;
    for (tool, name) in [
        ("delete_agent_persona", "master-tailor"),
        ("delete_agent_trait", "curious-one"),
        ("delete_agent_skill", "sewing"),
        ("delete_agent_guardrail", "no-knives"),
    ] {
        assert_eq!(wire.call(tool, json!({ "name": name })).await["deleted"], true, "{tool}");
        assert_eq!(wire.call(tool, json!({ "name": name })).await["deleted"], false, "{tool} twice");
    }
}

/// The builtins match the schemas as well.
#[tokio::test]
async fn builtins_fit_their_schemas() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    let page = wire.call("list_agent_personas", json!({})).await;
    let names: Vec<Value> =
        page["items"].as_array().expect("items").iter().map(|item| item["name"].clone()).collect();
    assert!(!names.is_empty(), "a new library is not empty");
    for name in names {
        wire.call("get_agent_persona", json!({ "name": name })).await;
        wire.call("get_agent_persona", json!({ "name": name, "detail": true })).await;
        wire.call("get_persona_manifest", json!({ "name": name })).await;
        wire.call("compile_persona", json!({ "name": name })).await;
    }
}
