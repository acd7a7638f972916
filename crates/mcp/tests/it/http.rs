//! One endpoint for both eras, and what it refuses.

use serde_json::{Value, json};

use crate::http_client::Server;
use crate::wire::Fixture;

#[tokio::test]
async fn both_eras_share_one_endpoint() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let call = json!({ "name": "get_agent_persona", "arguments": { "name": "mentor" } });
    let modern = server.modern("/mcp", "tools/call", call.clone()).send().await;
    assert_eq!((modern.status, modern.header("content-type")), (200, Some("application/json")));
    let result = &modern.json()["result"];
    assert_eq!(
        (&result["resultType"], &result["structuredContent"]["name"]),
        (&json!("complete"), &json!("mentor"))
    );
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "masque");
    let session = server.initialize("/mcp").await;
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call });
    let legacy = server.session("/mcp", &session, &message).send().await;
    let result = &legacy.json()["result"];
    assert_eq!(result["structuredContent"]["name"], "mentor");
    assert!(result.get("resultType").is_none() && result.get("_meta").is_none());
    let closed = server.request("DELETE", "/mcp").header("mcp-session-id", &session).send().await;
    assert_eq!(closed.status, 204);
    let gone = server.session("/mcp", &session, &message).send().await;
    assert_eq!((gone.status, &gone.json()["error"]["code"]), (404, &json!(-32001)));
}

#[tokio::test]
async fn discovery_says_what_there_is() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let result = server.modern("/mcp", "server/discover", json!({})).send().await.json()["result"].clone();
    assert!(result["supportedVersions"].as_array().expect("versions").contains(&json!("2026-07-28")));
    assert!(result["instructions"].as_str().expect("text").contains("get_persona_manifest"));
    let capabilities = &result["capabilities"];
    assert_eq!(capabilities["prompts"], json!({ "listChanged": true }));
    assert_eq!(capabilities["resources"], json!({ "subscribe": true, "listChanged": true }));
    assert_eq!(capabilities["tools"], json!({}));
    assert!(capabilities.get("logging").is_none());
}

#[tokio::test]
async fn the_address_chooses_the_tools_in_both_eras() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let count = |response: Value| response["result"]["tools"].as_array().map(Vec::len);
    for (path, tools) in [("/mcp", 55), ("/mcp?tools=load", 9), ("/mcp?tools=load,create_agent_part", 10)] {
        let modern = server.modern(path, "tools/list", json!({})).send().await.json();
        assert_eq!(count(modern), Some(tools), "{path}");
        let session = server.initialize(path).await;
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        let legacy = server.session(path, &session, &list).send().await.json();
        assert_eq!(count(legacy), Some(tools), "{path}");
    }
    let manifest = json!({ "name": "get_persona_manifest", "arguments": { "name": "mentor" } });
    let manifest =
        server.modern("/mcp?tools=get_persona_manifest", "tools/call", manifest).send().await.json();
    assert!(manifest["result"]["structuredContent"].get("on_demand_tools").is_none());
    let wrong = server.modern("/mcp?tools=laod", "tools/list", json!({})).send().await;
    assert_eq!(wrong.status, 400);
    let error = wrong.json()["error"].clone();
    assert_eq!(error["data"]["error"]["code"], "invalid_value", "{error}");
}

#[tokio::test]
async fn strangers_are_refused() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let request = || server.modern("/mcp", "tools/list", json!({}));
    for (name, value) in [
        ("host", "evil.example.com"),
        ("host", "127.0.0.1.evil.example:80"),
        ("origin", "http://evil.example.com"),
        ("origin", "null"),
    ] {
        let response = request().header(name, value).send().await;
        assert_eq!(response.status, 403, "{name}: {value}");
        assert_eq!(response.json()["error"]["code"], -32600);
    }
    for (name, value) in [("host", "localhost"), ("host", "[::1]:4747"), ("origin", "http://localhost:5173")]
    {
        assert_eq!(request().header(name, value).send().await.status, 200, "{name}: {value}");
    }
    let get = server.request("GET", "/mcp").header("host", "evil.example.com").send().await;
    assert_eq!(get.status, 403);
}

#[tokio::test]
async fn bodies_must_be_json_and_short() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let post = || server.request("POST", "/mcp");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for other in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let response = post().header("content-type", other).json(&message).send().await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (415, &json!(-32600)), "{other}");
    }
    let response = post().body(vec![b' '; 4 * 1024 * 1024 + 1]).send().await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (413, &json!(-32600)));
    for (body, code) in [("{\"jsonrpc\":", -32700), ("[]", -32600), ("{\"a\":1}", -32600), ("", -32700)] {
        let response = post().body(body.as_bytes().to_vec()).send().await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    let response = post().header("accept", "text/html").json(&message).send().await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (406, &json!(-32600)));
    let response = server.modern("/mcp", "tools/list", json!({})).header("accept", "*/*").send().await;
    assert_eq!(response.status, 200);
    let response = server.request("PUT", "/mcp").json(&message).send().await;
    assert_eq!((response.status, response.header("allow")), (405, Some("GET, POST, DELETE")));
    assert_eq!(response.json()["error"]["code"], -32600);
}

#[tokio::test]
async fn the_newer_era_is_strict_about_its_headers() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let call = || server.modern("/mcp", "tools/list", json!({}));
    let mismatch = call().header("mcp-method", "prompts/list").send().await;
    assert_eq!((mismatch.status, &mismatch.json()["error"]["code"]), (400, &json!(-32020)));
    let unknown = server.modern("/mcp", "no/such/method", json!({})).send().await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
    let ping = server.modern("/mcp", "ping", json!({})).send().await;
    assert_eq!((ping.status, &ping.json()["error"]["code"]), (404, &json!(-32601)));
    let get = server.request("GET", "/mcp").header("mcp-protocol-version", "2026-07-28").send().await;
    assert_eq!(get.status, 405);
}

#[tokio::test]
async fn streams_tell_of_changes_in_both_eras() {
    let fixture = Fixture::new().await;
    let server = Server::start(fixture.library.clone()).await;
    let filter = json!({ "notifications": { "promptsListChanged": true } });
    let mut modern = server.modern("/mcp", "subscriptions/listen", filter).open().await;
    assert_eq!(modern.response.header("content-type"), Some("text/event-stream"));
    assert_eq!(modern.response.header("x-accel-buffering"), Some("no"));
    assert_eq!(modern.message().await["method"], "notifications/subscriptions/acknowledged");
    let session = server.initialize("/mcp").await;
    let mut legacy = server.request("GET", "/mcp").header("mcp-session-id", &session).open().await;
    let create =
        json!({ "name": "create_agent_persona", "arguments": { "name": "news", "summary": "Tells." } });
    assert_eq!(server.modern("/mcp", "tools/call", create).send().await.status, 200);
    assert_eq!(modern.message().await["method"], "notifications/prompts/list_changed");
    assert_eq!(legacy.message().await["method"], "notifications/prompts/list_changed");
    assert_eq!(legacy.message().await["method"], "notifications/resources/list_changed");
}
