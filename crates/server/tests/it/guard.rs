//! The guard, and the paths behind it.

use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::running::{PATIENCE, get, send, start};

#[tokio::test]
async fn every_route_is_guarded() {
    let running = start().await;
    for path in [
        "/healthz",
        "/api/events",
        "/api/sessions",
        "/api/models",
        "/api/library/part",
        "/api/library/part/calm",
        "/api/personas/mentor",
        "/api/lint",
        "/api/conflicts",
        "/mcp",
        "/nowhere",
    ] {
        let answer = get(running.port, path, "evil.example.com").await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        assert!(answer.contains("127.0.0.1"), "{path}: {answer}");
    }
    let answer = get(running.port, "/nowhere", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains("application/problem+json") && answer.contains("/healthz"), "{answer}");
    assert!(answer.contains("/api/library/") && answer.contains("/api/sessions"), "{answer}");
}

/// A page from elsewhere could otherwise read along.
#[tokio::test]
async fn pages_of_other_origins_follow_no_changes() {
    let running = start().await;
    let request = "GET /api/events HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example.com\r\nconnection: close\r\n\r\n";
    let mut stream = send(running.port, request).await;
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer)).await.expect("in time").expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("Origin"), "{answer}");
}
