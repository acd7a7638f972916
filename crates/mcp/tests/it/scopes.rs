//! The scopes of answers and writes.

use serde_json::json;

use crate::wire::Fixture;

const PROJECT: &str = r#"# Reviewed like code.
[personas.coder]
system_prompt = "You write the project's code."
parts = ["calm"]

[parts.calm]
part_type = "tone"
content = "Be calm in the project."
"#;

#[tokio::test]
async fn the_strongest_scope_answers_with_its_name() {
    let fixture = Fixture::with_project(PROJECT).await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_persona", json!({ "name": "coder", "system_prompt": "You write all code." }))
        .await;
    for (scope, expected, prompt) in [
        (None, "project", "You write the project's code."),
        (Some("project"), "project", "You write the project's code."),
        (Some("shared"), "shared", "You write all code."),
    ] {
        let persona =
            wire.call("get_agent_persona", json!({ "name": "coder", "detail": true, "scope": scope })).await;
        assert_eq!((&persona["scope"], &persona["system_prompt"]), (&json!(expected), &json!(prompt)));
        let manifest = wire.call("get_persona_manifest", json!({ "name": "coder", "scope": scope })).await;
        assert_eq!(manifest["scope"], expected);
        let compiled = wire.call("compile_persona", json!({ "name": "coder", "scope": scope })).await;
        assert_eq!(compiled["scope"], expected);
        assert!(compiled["compiled_detail"].as_str().expect("text").contains(prompt), "{compiled}");
    }
    let part = wire.call("get_agent_part", json!({ "name": "calm" })).await;
    assert_eq!(part["scope"], "project");
    let elsewhere = wire.refusal("get_agent_part", json!({ "name": "calm", "scope": "shared" })).await;
    assert_eq!(elsewhere["code"], "in_other_scope", "{elsewhere}");
    let unknown = wire.refusal("get_agent_part", json!({ "name": "calm", "scope": "projet" })).await;
    assert_eq!(unknown["subject"]["field"], "scope", "{unknown}");
}

#[tokio::test]
async fn lists_and_searches_keep_to_a_scope() {
    let fixture = Fixture::with_project(PROJECT).await;
    let mut wire = fixture.modern().await;
    let page = wire.call("list_agent_personas", json!({ "scope": "project" })).await;
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1), "{page}");
    assert_eq!((&page["items"][0]["name"], &page["items"][0]["scope"]), (&json!("coder"), &json!("project")));
    let found = wire.call("search_library", json!({ "query": "calm project", "scope": "project" })).await;
    assert!(found["items"].as_array().expect("items").iter().any(|item| item["name"] == "calm"), "{found}");
    let found = wire.call("search_library", json!({ "query": "calm project", "scope": "shared" })).await;
    assert_eq!(found["items"], json!([]));
}

#[tokio::test]
async fn writes_go_where_they_are_sent() {
    let fixture = Fixture::with_project(PROJECT).await;
    let mut wire = fixture.modern().await;
    let created = wire.call("create_agent_persona", json!({ "name": "plain", "summary": "Plain." })).await;
    assert_eq!(created["scope"], "shared", "without a scope, a new persona is shared");
    let created = wire
        .call(
            "create_agent_persona",
            json!({ "name": "helper", "extends": "coder", "parts_mode": "append", "scope": "project" }),
        )
        .await;
    assert_eq!(created["scope"], "project");
    let created =
        wire.call("create_agent_skill", json!({ "name": "sew", "content": "Sew.", "scope": "global" })).await;
    assert_eq!(created["scope"], "global");
    assert!(std::fs::read_to_string(fixture.user_file()).expect("a file").contains("[skills.sew]"));
    let text = std::fs::read_to_string(fixture.project_file()).expect("a file");
    assert!(text.starts_with(PROJECT) && text.contains("[personas.helper]"), "{text}");
    let updated =
        wire.call("update_agent_persona", json!({ "name": "coder", "system_prompt": "You test." })).await;
    assert_eq!(updated["scope"], "project", "a change goes where the name is found");
    let linked = wire.call("add_persona_skill", json!({ "persona": "coder", "skill": "sew" })).await;
    assert_eq!(linked["scope"], "project");
    let helper = wire.call("get_agent_persona", json!({ "name": "helper", "detail": true })).await;
    assert_eq!(
        (&helper["system_prompt"], &helper["skills"][0]["name"]),
        (&json!("You test."), &json!("sew"))
    );
    let text = std::fs::read_to_string(fixture.project_file()).expect("a file");
    assert!(text.starts_with("# Reviewed like code.") && text.contains("You test."), "{text}");
}

#[tokio::test]
async fn a_delete_names_the_definition_now_in_force() {
    let fixture = Fixture::with_project(PROJECT).await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_persona", json!({ "name": "coder", "summary": "Codes." })).await;
    let deleted = wire.call("delete_agent_persona", json!({ "name": "coder" })).await;
    assert_eq!(
        (&deleted["scope"], &deleted["deleted"], &deleted["in_force"]),
        (&json!("project"), &json!(true), &json!("shared"))
    );
    let left = wire.call("get_agent_persona", json!({ "name": "coder" })).await;
    assert_eq!(left["scope"], "shared");
    let denied = wire.refusal("create_agent_skill", json!({ "name": "x", "scope": "builtin" })).await;
    assert_eq!(denied["code"], "builtin_fixed", "{denied}");
}

#[tokio::test]
async fn stages_are_walked_in_their_scope() {
    let fixture = Fixture::with_project(PROJECT).await;
    let mut wire = fixture.modern().await;
    let arc = json!({
        "name": "growth", "scope": "project",
        "stages": [{ "name": "young", "order": 1 }, { "name": "old", "order": 2, "parts": ["calm"] }],
    });
    wire.call("create_character_arc", arc).await;
    let state = wire.call("assign_persona_arc", json!({ "persona": "coder", "arc": "growth" })).await;
    assert_eq!((&state["scope"], &state["stage"]), (&json!("project"), &json!("young")));
    let state = wire.call("advance_persona_stage", json!({ "persona": "coder", "scope": "project" })).await;
    assert_eq!((&state["scope"], &state["stage"]), (&json!("project"), &json!("old")));
    let text = std::fs::read_to_string(fixture.project_file()).expect("a file");
    assert!(!text.contains("compiled"), "state is not written into files: {text}");
    let state = wire.call("reset_persona_stage", json!({ "persona": "coder", "scope": "project" })).await;
    assert_eq!(state["stage"], "young");
    let missing = wire.refusal("reset_persona_stage", json!({ "persona": "coder", "scope": "shared" })).await;
    assert_eq!(missing["code"], "in_other_scope", "{missing}");
}
