//! Entity tags: reads that are not repeated, writes that do not overwrite.

use serde_json::{Value, json};

use super::{put, tone};
use crate::client::{Opened, open};
use crate::running::{Running, start};

const CALM: &str = "/api/library/part/calm";

async fn request(
    running: &Running,
    method: &str,
    path: &str,
    header: (&str, &str),
    body: Option<Value>,
) -> Opened {
    open(running.port, method, path, &[header], body.map(|body| body.to_string()).as_deref()).await
}

async fn tag_of(running: &Running, path: &str) -> String {
    let read = open(running.port, "GET", path, &[], None).await;
    assert_eq!(read.status, 200, "{path}");
    read.header("etag").expect("a tag").to_owned()
}

#[tokio::test]
async fn a_current_copy_is_not_sent_again() {
    let running = start().await;
    put(&running, CALM, &tone("Calm.")).await;
    put(&running, "/api/library/persona/guide", &json!({ "entity": { "summary": "You guide." } })).await;
    for path in
        [CALM, "/api/library/part", "/api/personas/guide", "/api/personas/guide/manifest", "/api/sessions"]
    {
        let tag = tag_of(&running, path).await;
        let again = request(&running, "GET", path, ("if-none-match", &tag), None).await;
        assert_eq!((again.status, again.header("etag")), (304, Some(tag.as_str())), "{path}");
        assert_eq!(again.text().await, "", "{path}");
        let other = request(&running, "GET", path, ("if-none-match", "\"other\""), None).await;
        assert_eq!(other.status, 200, "{path}");
    }
    let tag = tag_of(&running, CALM).await;
    assert!(tag.starts_with("\"shared:1:"), "{tag}");
    put(&running, CALM, &tone("Slow.")).await;
    let changed = request(&running, "GET", CALM, ("if-none-match", &tag), None).await;
    assert_eq!(changed.status, 200);
    assert!(changed.header("etag").is_some_and(|tag| tag.starts_with("\"shared:2:")), "{}", changed.head);
}

#[tokio::test]
async fn a_write_is_bound_to_the_version_that_was_read() {
    let running = start().await;
    put(&running, CALM, &tone("Calm.")).await;
    let first = tag_of(&running, CALM).await;
    let changed = request(&running, "PUT", CALM, ("if-match", &first), Some(tone("Slow."))).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"shared:2\"")));
    let patch = json!({ "entity": { "summary": "Other." } });
    for (method, path, body) in [
        ("PUT", CALM, Some(tone("Other."))),
        ("PATCH", CALM, Some(patch.clone())),
        ("DELETE", CALM, None),
        ("POST", "/api/library/part/calm/rollback", Some(json!({ "revision": 1 }))),
        ("POST", "/api/library/part/calm/rename", Some(json!({ "new_name": "slow" }))),
        ("POST", "/api/library/part/calm/duplicate", Some(json!({ "new_name": "slow" }))),
        ("POST", "/api/library/part/calm/promote", Some(json!({ "to": "project" }))),
    ] {
        let refused = request(&running, method, path, ("if-match", &first), body).await;
        assert_eq!((refused.status, refused.header("etag")), (412, Some("\"shared:2\"")), "{method}");
        let problem = refused.json().await;
        assert_eq!((&problem["status"], &problem["current_revision"]), (&json!(412), &json!(2)), "{problem}");
    }
    let current = tag_of(&running, CALM).await;
    let patched = request(&running, "PATCH", CALM, ("if-match", &current), Some(patch)).await;
    assert_eq!((patched.status, patched.json().await["revision"].clone()), (200, json!(3)));
    let contradicted = json!({ "entity": { "summary": "x" }, "if_revision": 7 });
    let refused = request(&running, "PATCH", CALM, ("if-match", "\"shared:3\""), Some(contradicted)).await;
    assert_eq!(refused.status, 400);
    for wrong in ["*", "3", "\"3\"", "\"nowhere:3\""] {
        let refused = request(&running, "DELETE", CALM, ("if-match", wrong), None).await;
        assert_eq!(refused.status, 400, "{wrong}");
    }
    let template = Some(json!({ "name": "slow" }));
    let refused =
        request(&running, "POST", "/api/templates/critic", ("if-match", "\"shared:3\""), template).await;
    assert_eq!(refused.status, 400, "a condition that is not checked must not look checked");
    let renamed = Some(json!({ "new_name": "slow" }));
    let rename = "/api/library/part/calm/rename";
    let renamed = request(&running, "POST", rename, ("if-match", "\"shared:3\""), renamed).await;
    assert_eq!(renamed.status, 200);
}

#[tokio::test]
async fn a_create_does_not_overwrite() {
    let running = start().await;
    let made = request(&running, "PUT", CALM, ("if-none-match", "*"), Some(tone("Calm."))).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"shared:1\"")));
    let again = request(&running, "PUT", CALM, ("if-none-match", "*"), Some(tone("Slow."))).await;
    assert_eq!(again.status, 412);
}
