//! Requests that cannot be met, and what is said to them.

use serde_json::json;

use super::world::World;
use crate::client::{code, open, suggests};

const QUICK: &str = "[[reply]]\ntext = \"Quick as a flash.\"\n";
const UNKNOWN: &str = "/api/sessions/01900000-0000-7000-8000-000000000000";

#[tokio::test]
async fn a_missing_session_is_404_with_a_remedy() {
    let world = World::start(QUICK).await;
    let message = json!({ "content": "Hello?" });
    for session in [UNKNOWN, "/api/sessions/guide"] {
        for (method, path, body) in [
            ("GET", String::new(), None),
            ("GET", "/events".to_owned(), None),
            ("GET", "/plan".to_owned(), None),
            ("POST", "/messages".to_owned(), Some(&message)),
            ("POST", "/cancel".to_owned(), None),
            ("POST", "/undo".to_owned(), None),
            ("PATCH", "/mode".to_owned(), Some(&json!({ "mode": "plan" }))),
            ("POST", "/plan".to_owned(), Some(&json!({ "decision": "approve" }))),
            ("POST", "/approvals/toolu_1".to_owned(), Some(&json!({ "decision": "approve" }))),
        ] {
            let path = format!("{session}{path}");
            let opened = world.open(method, &path, body).await;
            assert_eq!(opened.header("content-type"), Some("application/problem+json"), "{method} {path}");
            let (status, problem) = (opened.status, opened.json().await);
            assert_eq!((status, &problem["status"]), (404, &json!(404)), "{method} {path}: {problem}");
            assert_eq!(code(&problem), "unknown_session", "{method} {path}: {problem}");
            assert_eq!(problem["remedies"], json!([{ "action": "list_sessions" }]), "{method} {path}");
        }
    }
    let (status, problem) = world.post("/api/sessions", &json!({ "persona": "guid" })).await;
    assert_eq!(status, 404);
    assert!(code(&problem) == "not_found" && suggests(&problem, "guide"), "{problem}");
}

#[tokio::test]
async fn an_invalid_request_is_400_with_its_cause() {
    let world = World::start(QUICK).await;
    let session = world.session().await;
    let (messages, mode) = (format!("{session}/messages"), format!("{session}/mode"));
    let mut wrong = Vec::new();
    for (method, path, body, expected) in [
        ("POST", "/api/sessions", json!({}), "missing_field"),
        ("POST", "/api/sessions", json!({ "persona": "guide", "mod": "plan" }), "unknown_field"),
        ("POST", "/api/sessions", json!({ "persona": "guide", "mode": "dream" }), "unknown_word"),
        ("POST", "/api/sessions", json!({ "persona": "guide", "model": "actor" }), "invalid_model"),
        (
            "POST",
            "/api/sessions",
            json!({ "persona": "guide", "model": "nowhere/actor" }),
            "unknown_provider",
        ),
        ("POST", "/api/sessions", json!({ "persona": "guide", "root": "nowhere" }), "invalid_root"),
        ("POST", "/api/sessions", json!({ "persona": 7 }), "invalid_value"),
        ("POST", &messages, json!({}), "missing_field"),
        ("POST", &messages, json!({ "content": " \n" }), "empty"),
        ("POST", &messages, json!({ "content": 7 }), "invalid_value"),
        ("POST", &messages, json!({ "content": "x".repeat(1024 * 1024 + 1) }), "too_long"),
        ("POST", &messages, json!({ "content": "Hello", "detach": true }), "unknown_field"),
        ("POST", &messages, json!({ "content": "Hello", "max_tool_rounds": 0 }), "out_of_range"),
        ("POST", &messages, json!({ "content": "Hello", "max_tool_rounds": 1001 }), "out_of_range"),
        ("POST", &messages, json!({ "content": "Hello", "max_tool_rounds": -1 }), "invalid_value"),
        ("PATCH", &mode, json!({ "mode": "dream" }), "unknown_word"),
        ("PATCH", &mode, json!({}), "missing_field"),
        ("PATCH", &mode, json!({ "mode": "plan", "now": true }), "unknown_field"),
        ("POST", &messages, json!(["Hello"]), "invalid_json"),
    ] {
        let (status, problem) = world.ask(method, path, Some(&body)).await;
        let shown: String = body.to_string().chars().take(80).collect();
        if (status, code(&problem)) != (400, expected) {
            wrong.push(format!("{method} {path} {shown}: not {expected}, but {problem}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(world.get(&session).await.1["turns"], json!([]), "nothing was said");
}

#[tokio::test]
async fn a_directory_outside_of_the_project_is_refused() {
    let world = World::start(QUICK).await;
    for root in ["..", "/"] {
        let (status, problem) =
            world.post("/api/sessions", &json!({ "persona": "guide", "root": root })).await;
        assert_eq!((status, code(&problem)), (403, "outside_project"), "{root}: {problem}");
    }
}

#[tokio::test]
async fn bodies_are_json_of_bounded_length() {
    let world = World::start(QUICK).await;
    let (port, session) = (world.served.port, world.session().await);
    let path = format!("{session}/messages");
    let plain = [("content-type", "text/plain")];
    for (headers, body, status, expected) in [
        (&plain[..], r#"{"content":"Hello"}"#, 415, "unsupported_media_type"),
        (&[], "", 400, "invalid_json"),
        (&[], r#"{"content":"#, 400, "invalid_json"),
    ] {
        let opened = open(port, "POST", &path, headers, Some(body)).await;
        assert_eq!(opened.status, status, "{body:?}");
        let problem = opened.json().await;
        assert_eq!(code(&problem), expected, "{body:?}: {problem}");
    }
    // Told by its length alone, before any of it is sent.
    let headers = [("content-type", "application/json"), ("content-length", "5000000")];
    let opened = open(port, "POST", &path, &headers, None).await;
    assert_eq!(opened.status, 413);
    assert_eq!(code(&opened.json().await), "body_too_large");
}

#[tokio::test]
async fn a_wrong_method_lists_the_allowed_ones() {
    let world = World::start(QUICK).await;
    let session = world.session().await;
    for (method, path, allowed) in
        [("PUT", "/api/sessions".to_owned(), "post"), ("GET", format!("{session}/messages"), "post")]
    {
        let opened = world.open(method, &path, None).await;
        assert_eq!(opened.status, 405, "{method} {path}");
        assert!(opened.header("allow").is_some_and(|allow| allow.contains(allowed)), "{}", opened.head);
        assert_eq!(code(&opened.json().await), "method_not_allowed");
    }
}

/// A page of another site could otherwise talk in the user's name.
#[tokio::test]
async fn pages_of_other_origins_are_kept_out() {
    let world = World::start(QUICK).await;
    let (port, session) = (world.served.port, world.session().await);
    let body = r#"{"content":"Hello"}"#;
    let foreign = [("origin", "http://evil.example.com")];
    for (method, path, body) in [
        ("POST", format!("{session}/messages"), Some(body)),
        ("GET", format!("{session}/events"), None),
        ("GET", "/api/sessions".to_owned(), None),
        ("DELETE", session.clone(), None),
    ] {
        let opened = open(port, method, &path, &foreign, body).await;
        assert_eq!(opened.status, 403, "{method} {path}");
    }
    assert_eq!(world.get(&session).await.0, 200);
    assert!(world.sent().is_empty());
}
