//! Requests that cannot be met, and what is said to them.

use serde_json::{Value, json};

use super::{put, tone};
use crate::client::{ask, code, open};
use crate::running::{start, start_with_project};

/// Asks for what cannot be had of a library with the part `calm`: method, path, body, status and code.
async fn refused(requests: Vec<(&str, &str, Option<Value>, u16, &str)>) {
    let running = start().await;
    put(&running, "/api/library/part/calm", &tone("Calm.")).await;
    let mut wrong = Vec::new();
    for (method, path, body, status, expected) in requests {
        let (got, problem) = ask(running.port, method, path, body.as_ref()).await;
        let shown: String = body.unwrap_or(Value::Null).to_string().chars().take(80).collect();
        if (got, code(&problem)) != (status, expected) {
            wrong.push(format!("{method} {path} {shown}: not {status} {expected}, but {problem}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (_, calm) = ask(running.port, "GET", "/api/library/part/calm", None).await;
    assert_eq!(calm["revision"], 1, "nothing was changed");
}

#[tokio::test]
async fn an_invalid_address_is_refused() {
    refused(vec![
        ("GET", "/api/library/parts", None, 404, "unknown_word"),
        ("GET", "/api/library/Part/calm", None, 404, "unknown_word"),
        ("PUT", "/api/library/thing/x", Some(json!({ "entity": {} })), 404, "unknown_word"),
        ("GET", "/api/library/part/clam", None, 404, "not_found"),
        ("GET", "/api/library/part/clam/history", None, 404, "not_found"),
        ("GET", "/api/library/part/calm/diff", None, 404, "single_revision"),
        ("GET", "/api/library/part/calm/diff?from=7", None, 404, "unknown_revision"),
        ("GET", "/api/library/part/calm?revision=good", None, 404, "unknown_revision"),
        ("GET", "/api/library/part/two%20words", None, 400, "invalid_name"),
        ("GET", "/api/library/part?limit=many", None, 400, "invalid_value"),
        ("GET", "/api/library/part?tag=a", None, 400, "unknown_field"),
        ("GET", "/api/library/part?scope=team", None, 400, "unknown_word"),
        ("GET", "/api/library/part?scope=project", None, 400, "scope_not_open"),
        ("GET", "/api/library/part/calm?scope=project", None, 400, "scope_not_open"),
        ("GET", "/api/library/skill?kind=part", None, 400, "conflicting_fields"),
        ("GET", "/api/library/part/calm?scope=shared&scope=global", None, 400, "named_twice"),
        ("GET", "/api/library/part/calm?rev=1", None, 400, "unknown_field"),
        ("DELETE", "/api/library/part/calm?if_revision=x", None, 400, "invalid_value"),
        ("DELETE", "/api/library/part/calm?force=1", None, 400, "invalid_value"),
        ("DELETE", "/api/library/tool_preset/read_only", None, 403, "builtin_fixed"),
        ("GET", "/api/personas/mentor?types=tones", None, 400, "unknown_word"),
        ("GET", "/api/personas/mentor?detail=yes", None, 400, "invalid_value"),
        ("GET", "/api/lint?scope=shared", None, 400, "unknown_field"),
        ("GET", "/api/lint?scopes=project", None, 400, "scope_not_open"),
        ("GET", "/api/conflicts?kind=prat", None, 400, "unknown_word"),
        ("POST", "/api/conflicts/part/calm", Some(json!({})), 400, "missing_field"),
        (
            "POST",
            "/api/conflicts/part/calm",
            Some(json!({ "use": "shared", "take": {} })),
            400,
            "conflicting_fields",
        ),
        ("POST", "/api/conflicts/part/calm", Some(json!({ "use": "shared" })), 400, "no_conflict"),
        ("POST", "/api/conflicts/part/clam", Some(json!({ "use": "shared" })), 404, "not_found"),
    ])
    .await;
}

#[tokio::test]
async fn an_invalid_body_is_refused() {
    refused(vec![
        ("PUT", "/api/library/part/calm", Some(json!({})), 400, "missing_field"),
        ("PUT", "/api/library/part/calm", Some(json!({ "entity": [] })), 400, "invalid_value"),
        ("PUT", "/api/library/part/calm", Some(json!({ "part_type": "tone" })), 400, "unknown_field"),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "entity": { "part_type": "tone", "sumary": "x" } })),
            400,
            "unknown_field",
        ),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "entity": { "part_type": "tonn" } })),
            400,
            "unknown_word",
        ),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "kind": "skill", "entity": {} })),
            400,
            "conflicting_fields",
        ),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "name": "loud", "entity": {} })),
            400,
            "conflicting_fields",
        ),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "entity": { "name": "loud", "part_type": "tone" } })),
            400,
            "conflicting_fields",
        ),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "entity": {}, "if_revision": "1" })),
            400,
            "invalid_value",
        ),
        ("PUT", "/api/library/part/calm", Some(json!({ "entity": {}, "msg": "x" })), 400, "unknown_field"),
        (
            "PUT",
            "/api/library/part/calm",
            Some(json!({ "entity": { "part_type": "tone" }, "message": "x".repeat(2_049) })),
            400,
            "too_long",
        ),
        (
            "PUT",
            "/api/library/persona/guide",
            Some(json!({ "entity": { "parts": [{ "name": "clam", "order": 1 }] } })),
            404,
            "not_found",
        ),
        ("PUT", "/api/library/part/calm", Some(json!([])), 400, "invalid_json"),
        ("POST", "/api/library/part/calm/rollback", Some(json!({})), 400, "missing_field"),
        (
            "POST",
            "/api/library/part/calm/rollback",
            Some(json!({ "revision": 1, "because": "x" })),
            400,
            "unknown_field",
        ),
    ])
    .await;
}

/// A field that is overlooked may be the scope that was meant.
#[tokio::test]
async fn a_misplaced_field_is_refused() {
    let body = |fields: Value| Some(fields);
    refused(vec![
        ("PUT", "/api/library/part/calm?scope=global", body(tone("Loud.")), 400, "query_not_allowed"),
        (
            "POST",
            "/api/library/part/calm/rollback?revision=1",
            body(json!({ "revision": 1 })),
            400,
            "query_not_allowed",
        ),
        ("POST", "/api/personas/mentor/load?detail=true", body(json!({})), 400, "query_not_allowed"),
        (
            "POST",
            "/api/conflicts/part/calm?use=shared",
            body(json!({ "use": "shared" })),
            400,
            "query_not_allowed",
        ),
        ("DELETE", "/api/library/part/calm", body(json!({ "scope": "global" })), 400, "body_not_allowed"),
        ("DELETE", "/api/library/part/calm?force=true", body(json!({})), 400, "body_not_allowed"),
        ("PUT", "/api/library/part/calm", body(json!({ "entity": null })), 400, "missing_field"),
    ])
    .await;
}

#[tokio::test]
async fn what_others_use_is_not_deleted_unless_forced() {
    let running = start().await;
    put(&running, "/api/library/part/calm", &tone("Calm.")).await;
    put(
        &running,
        "/api/library/persona/guide",
        &json!({ "entity": { "parts": [{ "name": "calm", "order": 1 }] } }),
    )
    .await;
    let (status, problem) = ask(running.port, "DELETE", "/api/library/part/calm", None).await;
    assert_eq!((status, code(&problem)), (409, "in_use"), "{problem}");
    let (status, deleted) = ask(running.port, "DELETE", "/api/library/part/calm?force=true", None).await;
    assert_eq!((status, &deleted["unlinked"]), (200, &json!([{ "kind": "persona", "name": "guide" }])));
    assert_eq!(deleted.get("left_without"), None);
}

#[tokio::test]
async fn what_a_project_uses_is_not_deleted_from_shared_unless_forced() {
    let running = start_with_project("[personas.guide]\nparts = [\"calm\"]\n").await;
    let mut calm = tone("Calm.");
    calm["scope"] = "shared".into();
    put(&running, "/api/library/part/calm", &calm).await;
    let (status, problem) = ask(running.port, "DELETE", "/api/library/part/calm", None).await;
    assert_eq!((status, code(&problem)), (409, "in_use"), "{problem}");
    let (status, deleted) = ask(running.port, "DELETE", "/api/library/part/calm?force=true", None).await;
    let guide = json!([{ "scope": "project", "kind": "persona", "name": "guide" }]);
    assert_eq!((status, &deleted["left_without"], deleted.get("unlinked")), (200, &guide, None));
}

#[tokio::test]
async fn bodies_are_json_of_bounded_length() {
    let running = start().await;
    let body = tone("Calm.").to_string();
    for (method, path) in [
        ("PUT", "/api/library/part/calm"),
        ("POST", "/api/library/part/calm/rollback"),
        ("POST", "/api/personas/mentor/load"),
        ("POST", "/api/conflicts/part/calm"),
    ] {
        let plain = [("content-type", "text/plain")];
        let opened = open(running.port, method, path, &plain, Some(&body)).await;
        assert_eq!(opened.status, 415, "{path}");
        assert_eq!(code(&opened.json().await), "unsupported_media_type", "{path}");
        let headers = [("content-type", "application/json"), ("content-length", "5000000")];
        let opened = open(running.port, method, path, &headers, None).await;
        assert_eq!(opened.status, 413, "{path}");
        assert_eq!(code(&opened.json().await), "body_too_large", "{path}");
        let opened = open(running.port, method, path, &[], Some("{\"entity\":")).await;
        assert_eq!(opened.status, 400, "{path}");
        assert_eq!(code(&opened.json().await), "invalid_json", "{path}");
    }
    let (status, _) = ask(running.port, "GET", "/api/library/part/calm", None).await;
    assert_eq!(status, 404, "nothing was written");
}

/// A page of another site could otherwise write in the user's name.
#[tokio::test]
async fn pages_of_other_origins_are_kept_out() {
    let running = start().await;
    put(&running, "/api/library/part/calm", &tone("Calm.")).await;
    let foreign = [("origin", "http://evil.example.com")];
    let body = tone("Loud.").to_string();
    for (method, path, body) in [
        ("PUT", "/api/library/part/calm", Some(body.as_str())),
        ("DELETE", "/api/library/part/calm", None),
        ("GET", "/api/library/part/calm", None),
        ("POST", "/api/conflicts/part/calm", Some("{}")),
        ("GET", "/api/personas/mentor", None),
        ("GET", "/api/lint", None),
    ] {
        let opened = open(running.port, method, path, &foreign, body).await;
        assert_eq!(opened.status, 403, "{method} {path}");
        assert_eq!(code(&opened.json().await), "foreign_origin", "{method} {path}");
    }
    let own = [("origin", "http://localhost:4747")];
    let opened = open(running.port, "GET", "/api/library/part/calm", &own, None).await;
    assert_eq!((opened.status, &opened.json().await["summary"]), (200, &json!("Calm.")));
}

#[tokio::test]
async fn a_wrong_method_lists_the_allowed_ones() {
    let running = start().await;
    for (method, path, allowed) in [
        ("POST", "/api/library/part/calm", "put"),
        ("DELETE", "/api/library/part", "get"),
        ("GET", "/api/library/part/calm/rollback", "post"),
        ("PUT", "/api/personas/mentor", "get"),
        ("POST", "/api/lint", "get"),
    ] {
        let opened = open(running.port, method, path, &[], None).await;
        assert_eq!(opened.status, 405, "{method} {path}");
        assert!(opened.header("allow").is_some_and(|allow| allow.contains(allowed)), "{}", opened.head);
    }
}
