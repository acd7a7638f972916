//! Writes with an `Idempotency-Key`.

use serde_json::{Value, json};

use super::tone;
use crate::client::{Opened, ask, code, open};
use crate::running::{Running, start};

const PATH: &str = "/api/library/part/calm";

async fn put(running: &Running, key: &str, body: &Value) -> Opened {
    open(running.port, "PUT", PATH, &[("idempotency-key", key)], Some(&body.to_string())).await
}

fn is_replayed(opened: &Opened) -> bool {
    opened.header("idempotency-replayed") == Some("true")
}

async fn revision(running: &Running) -> Value {
    ask(running.port, "GET", PATH, None).await.1["revision"].clone()
}

#[tokio::test]
async fn a_repeated_write_gets_the_first_answer() {
    let running = start().await;
    let first = put(&running, "k1", &tone("Calm.")).await;
    assert_eq!((first.status, is_replayed(&first)), (201, false));
    let headers = ["etag", "location", "content-type"].map(|name| first.header(name).map(str::to_owned));
    let body = first.json().await;
    // Another client changes it in between.
    put(&running, "k2", &tone("Calmer.")).await;
    let again = put(&running, "k1", &tone("Calm.")).await;
    assert_eq!((again.status, is_replayed(&again)), (201, true));
    assert_eq!(
        ["etag", "location", "content-type"].map(|name| again.header(name).map(str::to_owned)),
        headers
    );
    assert_eq!(again.json().await, body);
    assert_eq!(revision(&running).await, 2, "it ran once");
}

#[tokio::test]
async fn a_key_of_another_request_is_refused() {
    let running = start().await;
    put(&running, "k", &tone("Calm.")).await;
    let other = put(&running, "k", &tone("Calmer.")).await;
    assert_eq!(other.status, 422);
    let problem = other.json().await;
    assert_eq!((code(&problem), &problem["may_have_happened"]), ("key_reused", &json!(false)));
    let deleted = open(running.port, "DELETE", PATH, &[("idempotency-key", "k")], None).await;
    assert_eq!(deleted.status, 422);
    let long = put(&running, &"x".repeat(256), &tone("Calm.")).await;
    assert_eq!((long.status, code(&long.json().await)), (400, "invalid_value"));
    assert_eq!(revision(&running).await, 1);
}

#[tokio::test]
async fn a_refused_request_frees_its_key() {
    let running = start().await;
    let create = json!({ "entity": { "part_type": "tone", "summary": "Calm." }, "if_revision": 1 });
    let refused = put(&running, "k", &create).await;
    assert_eq!((refused.status, is_replayed(&refused)), (409, false));
    put(&running, "other", &tone("Calm.")).await;
    let changed = json!({ "entity": { "part_type": "tone", "summary": "Calmer." }, "if_revision": 1 });
    assert_eq!(put(&running, "k", &changed).await.status, 200, "the key is free for any request");
    let deleted = async || open(running.port, "DELETE", PATH, &[("idempotency-key", "d")], None).await;
    let (first, second) = (deleted().await, deleted().await);
    assert_eq!((first.status, is_replayed(&first)), (200, false));
    assert_eq!((second.status, is_replayed(&second)), (200, true));
    assert_eq!(
        (first.json().await["deleted"].clone(), second.json().await["deleted"].clone()),
        (true.into(), true.into())
    );
}

/// Two at once: one runs, the other waits for its turn and then gets the same answer.
#[tokio::test]
async fn a_request_under_way_is_not_repeated() {
    let running = start().await;
    let database = running.database();
    let waiting = "INSERT INTO masque_requests (key, fingerprint, claim, claimed_until, expires_at) \
                   SELECT 'k', fingerprint, claim, claimed_until, expires_at FROM masque_requests WHERE key = 'p'";
    let probe = put(&running, "p", &tone("Calm.")).await;
    assert_eq!(probe.status, 201);
    // The same request, claimed by another process that has not answered yet.
    database.execute(waiting).await;
    let busy = put(&running, "k", &tone("Calm.")).await;
    assert_eq!((busy.status, busy.header("retry-after")), (409, Some("1")));
    let problem = busy.json().await;
    assert_eq!((code(&problem), &problem["may_have_happened"]), ("request_under_way", &json!(true)));
    // That process died.
    database.execute("UPDATE masque_requests SET claimed_until = 0 WHERE key = 'k'").await;
    let unknown = put(&running, "k", &tone("Calm.")).await;
    assert_eq!(unknown.status, 409);
    let problem = unknown.json().await;
    assert_eq!((code(&problem), &problem["may_have_happened"]), ("outcome_unknown", &json!(true)));
    assert_eq!(revision(&running).await, 1);
}
