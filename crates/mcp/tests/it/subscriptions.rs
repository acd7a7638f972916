//! Notifications of changes, in both eras.

use serde_json::json;

use crate::wire::Fixture;

#[tokio::test]
async fn a_session_hears_of_changes() {
    let fixture = Fixture::new().await;
    let mut watcher = fixture.legacy().await;
    let mut writer = fixture.legacy().await;
    writer.call("create_agent_part", json!({ "name": "p1", "part_type": "tone", "content": "Old" })).await;
    writer.call("create_agent_persona", json!({ "name": "watched", "parts": ["p1"] })).await;
    watcher.notification("notifications/prompts/list_changed").await;
    watcher.notification("notifications/resources/list_changed").await;
    for uri in ["persona://watched/compiled", "part://p1"] {
        watcher.request("resources/subscribe", json!({ "uri": uri })).await.expect("subscribed");
    }
    writer.call("update_agent_part", json!({ "name": "p1", "content": "New" })).await;
    let mut told = Vec::new();
    for _ in 0..2 {
        let update = watcher.notification("notifications/resources/updated").await;
        told.push(update["params"]["uri"].as_str().expect("a uri").to_owned());
    }
    told.sort_unstable();
    assert_eq!(told, ["part://p1", "persona://watched/compiled"]);
    watcher.request("resources/unsubscribe", json!({ "uri": "part://p1" })).await.expect("unsubscribed");
    writer.call("update_agent_persona", json!({ "name": "watched", "description": "New" })).await;
    let update = watcher.notification("notifications/resources/updated").await;
    assert_eq!(update["params"]["uri"], "persona://watched/compiled");
    let error =
        watcher.request("resources/subscribe", json!({ "uri": "file:///x" })).await.expect_err("not ours");
    assert_eq!(error["code"], -32002);
}

#[tokio::test]
async fn a_session_watches_so_much_and_no_more() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.legacy().await;
    for number in 0..256 {
        wire.request("resources/subscribe", json!({ "uri": format!("persona://p{number}") }))
            .await
            .expect("subscribed");
    }
    wire.request("resources/subscribe", json!({ "uri": "persona://p0" })).await.expect("twice is once");
    let error =
        wire.request("resources/subscribe", json!({ "uri": "persona://more" })).await.expect_err("too many");
    assert!(error["message"].as_str().expect("text").contains("256"), "{error}");
}

#[tokio::test]
async fn a_stream_reports_its_subscriptions() {
    let fixture = Fixture::new().await;
    let mut watcher = fixture.modern().await;
    let mut writer = fixture.modern().await;
    let filter = json!({
        "toolsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["persona://watched", "file:///x"],
    });
    let id = watcher.start("subscriptions/listen", json!({ "notifications": filter })).await;
    let acknowledged = watcher.notification("notifications/subscriptions/acknowledged").await;
    let accepted = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["persona://watched"] });
    assert_eq!(acknowledged["params"]["notifications"], accepted);
    writer.call("create_agent_persona", json!({ "name": "watched", "summary": "Waits." })).await;
    for method in ["notifications/resources/list_changed", "notifications/resources/updated"] {
        let told = watcher.notification(method).await;
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{told}");
    }
    writer.call("update_agent_persona", json!({ "name": "watched", "description": "New" })).await;
    watcher.notification("notifications/resources/updated").await;
    let prompts =
        watcher.seen().iter().any(|message| message["method"] == "notifications/prompts/list_changed");
    assert!(!prompts, "the client did not subscribe to prompts");
    watcher
        .send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        )
        .await;
}

#[tokio::test]
async fn each_era_keeps_to_its_own_way() {
    let fixture = Fixture::new().await;
    let mut modern = fixture.modern().await;
    let error =
        modern.request("resources/subscribe", json!({ "uri": "persona://mentor" })).await.expect_err("gone");
    assert_eq!(error["code"], -32601);
    let mut legacy = fixture.legacy().await;
    let error =
        legacy.request("subscriptions/listen", json!({ "notifications": {} })).await.expect_err("not yet");
    assert_eq!(error["code"], -32601);
}
