//! `/healthz`.

use serde_json::{Value, json};
use tokio::time::{Duration, sleep, timeout};

use crate::running::{PATIENCE, get, idle_runtime, start, start_with_project};

#[tokio::test]
async fn health_follows_the_database() {
    let running = start().await;
    let answer = get(running.port, "/healthz", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#""status":"ok""#) && answer.contains(env!("CARGO_PKG_VERSION")), "{answer}");
    running.library.close().await;
    let answer = get(running.port, "/healthz", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains(r#""reason":"#), "{answer}");
}

/// The JSON of a healthy answer.
async fn healthy(port: u16) -> Value {
    let answer = get(port, "/healthz", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

#[tokio::test]
async fn files_are_named_with_their_state() {
    let running = start().await;
    assert_eq!(healthy(running.port).await["files"], json!([]));
    let running = start_with_project("[personas.guide]\n").await;
    let path = running.project_file().display().to_string();
    let files = |ok: bool| json!([{ "scope": "project", "path": path, "ok": ok }]);
    assert_eq!(healthy(running.port).await["files"], files(true));
    std::fs::write(running.project_file(), "[personas.guide\n").expect("a file");
    let broken = async {
        while healthy(running.port).await["files"] != files(false) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, broken).await.expect("in time");
    // The last valid version is served, so the server itself is healthy.
    assert_eq!(healthy(running.port).await["status"], "ok");
}

/// Routes without a known address show no paths.
#[tokio::test]
async fn paths_are_shown_over_loopback_alone() {
    let running = start_with_project("[personas.guide]\n").await;
    let router = server::router(idle_runtime(running.library.clone()), server::ServerOptions::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let bare = tokio::spawn(async move { axum::serve(listener, axum::Router::from(router)).await });
    let body = healthy(port).await;
    assert_eq!((body.get("files"), &body["status"]), (None, &json!("ok")));
    bare.abort();
}
