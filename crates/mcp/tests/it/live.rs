//! Files that change on disk: clients are told, see it at once, and stay connected.

use serde_json::{Value, json};

use crate::http_client::Server;
use crate::wire::{Fixture, Wire, save};

fn guide(prompt: &str) -> String {
    format!(
        "[personas.guide]\nsystem_prompt = \"{prompt}\"\nparts = [\"calm\"]\n\n[parts.calm]\npart_type = \"tone\"\ncontent = \"Be calm.\"\n"
    )
}

async fn prompt_of(wire: &mut Wire, name: &str) -> Value {
    wire.call("get_agent_persona", json!({ "name": name, "detail": true })).await["system_prompt"].clone()
}

#[tokio::test]
async fn a_session_hears_of_edits_by_hand() {
    let fixture = Fixture::with_project(&guide("You guide.")).await;
    let mut wire = fixture.legacy().await;
    let uri = "persona://guide/compiled";
    wire.request("resources/subscribe", json!({ "uri": uri })).await.expect("subscribed");
    assert_eq!(prompt_of(&mut wire, "guide").await, "You guide.");
    for number in 0..3 {
        let prompt = format!("You guide, {number}.");
        save(&fixture.project_file(), &guide(&prompt));
        let told = wire.notification("notifications/resources/updated").await;
        assert_eq!(told["params"]["uri"], uri);
        assert_eq!(prompt_of(&mut wire, "guide").await, prompt);
    }
    let lists = |wire: &Wire| {
        let changed =
            |message: &&Value| message["method"].as_str().is_some_and(|m| m.ends_with("list_changed"));
        wire.seen().iter().filter(changed).count()
    };
    assert_eq!(lists(&wire), 0, "no list changed: {:?}", wire.seen());
    save(&fixture.project_file(), &format!("{}\n[personas.new]\nextends = \"guide\"\n", guide("You guide.")));
    wire.notification("notifications/prompts/list_changed").await;
    wire.notification("notifications/resources/list_changed").await;
    assert_eq!(prompt_of(&mut wire, "new").await, "You guide.");
    std::fs::remove_file(fixture.project_file()).expect("removed");
    wire.notification("notifications/prompts/list_changed").await;
    wire.refusal("get_agent_persona", json!({ "name": "guide" })).await;
}

#[tokio::test]
async fn a_stream_reports_edits_by_hand() {
    let fixture = Fixture::with_project(&guide("You guide.")).await;
    let mut watcher = fixture.modern().await;
    let filter = json!({
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["persona://guide", "part://calm"],
    });
    let id = watcher.start("subscriptions/listen", json!({ "notifications": filter })).await;
    watcher.notification("notifications/subscriptions/acknowledged").await;
    save(&fixture.project_file(), &guide("You guide.").replace("Be calm.", "Be calmer."));
    let mut told = Vec::new();
    for _ in 0..2 {
        let update = watcher.notification("notifications/resources/updated").await;
        assert_eq!(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        told.push(update["params"]["uri"].as_str().expect("a uri").to_owned());
    }
    told.sort_unstable();
    assert_eq!(told, ["part://calm", "persona://guide"]);
    let part = watcher.call("get_agent_part", json!({ "name": "calm" })).await;
    assert_eq!((&part["content"], &part["scope"]), (&json!("Be calmer."), &json!("project")));
    // The user's file is not there yet; it counts from when it is.
    save(&fixture.user_file(), "[personas.another]\nsystem_prompt = \"You are another.\"\n");
    watcher.notification("notifications/prompts/list_changed").await;
    watcher.notification("notifications/resources/list_changed").await;
    assert_eq!(prompt_of(&mut watcher, "another").await, "You are another.");
}

#[tokio::test]
async fn personas_that_extend_a_changed_one_are_notified() {
    let heirs = "[personas.middle]\nextends = \"base\"\n\n[personas.heir]\nextends = \"middle\"\n\n[personas.loner]\n";
    let text = |prompt: &str| format!("[personas.base]\nsystem_prompt = \"{prompt}\"\n\n{heirs}");
    let fixture = Fixture::with_project(&text("Old.")).await;
    let mut wire = fixture.legacy().await;
    for uri in ["persona://heir", "persona://heir/compiled", "persona://loner"] {
        wire.request("resources/subscribe", json!({ "uri": uri })).await.expect("subscribed");
    }
    save(&fixture.project_file(), &text("New."));
    for uri in ["persona://heir", "persona://heir/compiled"] {
        let told = wire.notification("notifications/resources/updated").await;
        assert_eq!(told["params"]["uri"], uri);
    }
    assert_eq!(prompt_of(&mut wire, "heir").await, "New.");
    let loner = |message: &Value| message["params"]["uri"] == "persona://loner";
    assert!(!wire.seen().iter().any(loner), "nothing of it changed: {:?}", wire.seen());
}

#[tokio::test]
async fn connections_over_http_outlive_a_reload() {
    let fixture = Fixture::with_project(&guide("You guide.")).await;
    let server = Server::start(fixture.library.clone()).await;
    let filter = json!({ "notifications": { "resourceSubscriptions": ["persona://guide"] } });
    let mut modern = server.modern("/mcp", "subscriptions/listen", filter).open().await;
    assert_eq!(modern.message().await["method"], "notifications/subscriptions/acknowledged");
    let session = server.initialize("/mcp").await;
    let subscribe = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": "persona://guide" } });
    assert_eq!(server.session("/mcp", &session, &subscribe).send().await.status, 200);
    let mut legacy = server.request("GET", "/mcp").header("mcp-session-id", &session).open().await;
    let call = json!({ "name": "get_agent_persona", "arguments": { "name": "guide", "detail": true } });
    for prompt in ["You guide well.", "You guide better."] {
        save(&fixture.project_file(), &guide(prompt));
        for stream in [&mut modern, &mut legacy] {
            let told = stream.message().await;
            assert_eq!(
                (&told["method"], &told["params"]["uri"]),
                (&json!("notifications/resources/updated"), &json!("persona://guide"))
            );
        }
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call });
        let answer = server.session("/mcp", &session, &message).send().await.json();
        assert_eq!(answer["result"]["structuredContent"]["system_prompt"], prompt);
        let answer = server.modern("/mcp", "tools/call", call.clone()).send().await.json();
        assert_eq!(answer["result"]["structuredContent"]["system_prompt"], prompt);
    }
}
