//! Connections with fewer tools.

use serde_json::{Value, json};

use crate::wire::Fixture;

async fn names(wire: &mut crate::wire::Wire) -> Vec<String> {
    let list = wire.request("tools/list", json!({})).await.expect("the tools");
    assert_eq!(list["cacheScope"], "public");
    let tools = list["tools"].as_array().expect("tools");
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_connection_has_the_tools_that_it_chose() {
    let fixture = Fixture::new().await;
    for (tools, count) in [("load", 9), ("author", 42), ("all", 55), ("load,create_agent_part", 10)] {
        let mut wire = fixture.with_tools(tools).await;
        assert_eq!(names(&mut wire).await.len(), count, "{tools}");
    }
}

#[tokio::test]
async fn a_tool_that_was_not_chosen_is_not_there() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.with_tools("load").await;
    let call = json!({ "name": "delete_agent_persona", "arguments": { "name": "mentor" } });
    let error = wire.request("tools/call", call).await.expect_err("not chosen");
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().expect("text").contains("tools=all"), "{error}");
}

#[tokio::test]
async fn a_manifest_names_the_tools_of_its_connection() {
    let fixture = Fixture::new().await;
    let hints = |manifest: &Value| -> Vec<String> {
        manifest["on_demand_tools"].as_object().into_iter().flatten().map(|(tool, _)| tool.clone()).collect()
    };
    let mut wire = fixture.with_tools("load").await;
    let manifest = wire.call("get_persona_manifest", json!({ "name": "mentor" })).await;
    assert_eq!(hints(&manifest).len(), 5);
    let mut wire = fixture.with_tools("get_persona_manifest,get_agent_part").await;
    let manifest = wire.call("get_persona_manifest", json!({ "name": "mentor" })).await;
    assert_eq!(hints(&manifest), ["get_agent_part(name)"]);
    let mut wire = fixture.with_tools("get_persona_manifest").await;
    let manifest = wire.call("get_persona_manifest", json!({ "name": "mentor" })).await;
    assert!(manifest.get("on_demand_tools").is_none());
}
