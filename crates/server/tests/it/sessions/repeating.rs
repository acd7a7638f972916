//! Messages and sessions with an `Idempotency-Key`.

use serde_json::json;

use super::world::World;
use crate::client::{Opened, code, names, open, stop_reason, streamed};

const SCRIPT: &str = "[[reply]]\ntext = \"Hello to you.\"\n";

async fn post(world: &World, path: &str, key: &str, body: &serde_json::Value) -> Opened {
    open(world.served.port, "POST", path, &[("idempotency-key", key)], Some(&body.to_string())).await
}

fn is_replayed(opened: &Opened) -> bool {
    opened.header("idempotency-replayed") == Some("true")
}

#[tokio::test]
async fn a_session_is_created_once() {
    let mut world = World::start(SCRIPT).await;
    let create = json!({ "persona": "guide" });
    let first = post(&world, "/api/sessions", "s", &create).await;
    assert_eq!((first.status, is_replayed(&first)), (201, false));
    let (location, session) = (first.header("location").map(str::to_owned), first.json().await);
    // The answer outlives the process.
    world = world.restart().await;
    let again = post(&world, "/api/sessions", "s", &create).await;
    assert_eq!((again.status, is_replayed(&again)), (201, true));
    assert_eq!((again.header("location").map(str::to_owned), again.json().await), (location, session));
    let (_, sessions) = world.get("/api/sessions").await;
    assert_eq!(sessions["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_message_is_sent_once_and_its_run_is_streamed_again() {
    let mut world = World::start(SCRIPT).await;
    let session = world.session().await;
    let (path, message) = (format!("{session}/messages"), json!({ "content": "Hello!" }));
    let mut first = post(&world, &path, "m", &message).await;
    assert_eq!((first.status, is_replayed(&first)), (200, false));
    let said = first.rest().await;
    assert_eq!((streamed(&said).as_str(), stop_reason(&said)), ("Hello to you.", "end_turn"));
    world.hear(&session, "And again.").await;
    for _ in 0..2 {
        let mut again = post(&world, &path, "m", &message).await;
        assert_eq!((again.status, is_replayed(&again)), (200, true));
        let events = again.rest().await;
        let kept = |events: &[crate::client::Event]| -> Vec<_> {
            events.iter().filter(|event| !event.id.contains('.')).cloned().collect()
        };
        assert_eq!(kept(&events), kept(&said), "the stored events of the first run, and no others");
        assert_eq!(names(&events).last(), Some(&"done"));
        world = world.restart().await;
    }
    assert_eq!(world.sent().len(), 2, "the model was asked once for each message");
    let other = post(&world, &path, "m", &json!({ "content": "Something else." })).await;
    assert_eq!((other.status, code(&other.json().await)), (422, "key_reused"));
}

/// A message that was taken back has no run to stream.
#[tokio::test]
async fn a_message_that_was_undone_ends_at_once() {
    let world = World::start(SCRIPT).await;
    let session = world.session().await;
    let (path, message) = (format!("{session}/messages"), json!({ "content": "Hello!" }));
    post(&world, &path, "m", &message).await.rest().await;
    let (status, undone) = world.post(&format!("{session}/undo"), &json!({})).await;
    assert_eq!((status, &undone["content"]), (200, &json!("Hello!")));
    let mut again = post(&world, &path, "m", &message).await;
    assert!(is_replayed(&again));
    let events = again.rest().await;
    assert!(!names(&events).contains(&"text_complete"), "{events:?}");
    assert_eq!(world.sent().len(), 1);
}
