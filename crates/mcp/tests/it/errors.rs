//! Error results.

use serde_json::json;

use crate::wire::{Fixture, suggests};

#[tokio::test]
async fn bad_input_says_what_to_do() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    for (tool, arguments, code, field) in [
        ("get_agent_persona", json!({}), "missing_field", "name"),
        ("get_agent_persona", json!({ "name": "mentor", "detial": true }), "unknown_field", "detial"),
        ("get_agent_persona", json!({ "name": "mentor", "types": ["tonne"] }), "unknown_word", "types[0]"),
        ("get_agent_persona", json!({ "name": "mentor", "limit": -1 }), "invalid_value", "limit"),
        ("create_agent_part", json!({ "name": "x y", "part_type": "tone" }), "invalid_name", "name"),
    ] {
        let error = wire.refusal(tool, arguments).await;
        assert_eq!((&error["code"], &error["subject"]["field"]), (&json!(code), &json!(field)), "{error}");
    }
}

#[tokio::test]
async fn near_names_are_suggested() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    let said = wire.refusal("get_agent_persona", json!({ "name": "mentro" })).await;
    assert!(suggests(&said, "mentor"), "{said}");
    wire.call(
        "create_agent_part",
        json!({ "name": "calm-tone-x", "part_type": "tone", "content": "Be calm." }),
    )
    .await;
    let arguments = json!({ "name": "mentor", "overrides": { "tone": "clam-tone-x" } });
    let said = wire.refusal("get_agent_persona", arguments).await;
    assert!(said["subject"]["field"] == "overrides.tone" && suggests(&said, "calm-tone-x"), "{said}");
    let arguments = json!({ "name": "mentor", "overrides": { "goal": "calm-tone-x" } });
    let said = wire.refusal("get_agent_persona", arguments).await;
    assert_eq!(said["code"], "wrong_part_type", "{said}");
}

#[tokio::test]
async fn nothing_is_half_written() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    let arguments = json!({
        "name": "half",
        "parts": [{ "name": "half-part", "part_type": "tone", "content": "x" }],
        "traits": ["no-such-trait-anywhere"],
    });
    let said = wire.refusal("create_agent_persona", arguments).await;
    assert_eq!(said["subject"]["name"], "no-such-trait-anywhere", "{said}");
    wire.refusal("get_agent_persona", json!({ "name": "half" })).await;
    wire.refusal("get_agent_part", json!({ "name": "half-part" })).await;
}

#[tokio::test]
async fn an_invalid_request_is_a_protocol_error() {
    let fixture = Fixture::new().await;
    for mut wire in [fixture.legacy().await, fixture.modern().await] {
        let unknown = json!({ "name": "get_agent_persna", "arguments": {} });
        let error = wire.request("tools/call", unknown).await.expect_err("unknown");
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().expect("text").contains("get_agent_persona"), "{error}");
        let error = wire.request("tools/call", json!({ "arguments": {} })).await.expect_err("no name");
        assert_eq!(error["code"], -32602, "{error}");
        let error = wire.request("no/such/method", json!({})).await.expect_err("unknown");
        assert_eq!(error["code"], -32601, "{error}");
        let error = wire.request("tools/list", json!({ "cursor": "x" })).await.expect_err("one page");
        assert_eq!(error["code"], -32602, "{error}");
    }
}

#[tokio::test]
async fn null_members_count_as_absent() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    let arguments =
        json!({ "name": "mentor", "detail": null, "overrides": null, "limit": null, "compiled": null });
    wire.call("get_agent_persona", arguments).await;
}
