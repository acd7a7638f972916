//! Calls that need approval.

use std::time::Duration;

use serde_json::json;
use tokio::time::{sleep, timeout};

use super::world::World;
use crate::client::{names, only, stop_reason};
use crate::running::PATIENCE;

const WRITE: &str = r#"
[[reply]]
when = { tool_result_of = "write_file", last_user = "twice", call = 2 }
say = [{ tool = "write_file", id = "toolu_w2", input = { path = "second.txt", content = "2" } }]
[[reply]]
when = { tool_result_of = "write_file" }
text = "{{tool_result}}"
[[reply]]
say = [{ tool = "write_file", id = "toolu_w", input = { path = "new.txt", content = "fresh" } }]
"#;

/// Nothing waits for the answer but rows: it may come from another process, after a restart.
#[tokio::test]
async fn an_answer_may_come_after_a_restart() {
    let world = World::start(WRITE).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Write it down.").await;
    let events = opened.until("approval_request").await;
    let last = events.last().expect("an event").id.clone();
    drop(opened);
    let world = world.restart().await;
    let (_, view) = world.get(&session).await;
    assert_eq!((&view["status"], &view["approvals"][0]["call_id"]), (&json!("waiting"), &json!("toolu_w")));
    let (status, preview) = world.get(&format!("{session}/approvals/toolu_w")).await;
    let change = json!({ "path": "new.txt", "exists": false, "after": "fresh" });
    assert_eq!((status, &preview["tool_name"], &preview["change"]), (200, &json!("write_file"), &change));
    let (status, unknown) = world.get(&format!("{session}/approvals/toolu_x")).await;
    assert_eq!((status, &unknown["code"]), (404, &json!("unknown_approval")), "{unknown}");
    let mut watched = world.watch(&session, Some(&last)).await;
    let (status, view) =
        world.post(&format!("{session}/approvals/toolu_w"), &json!({ "decision": "approve" })).await;
    assert_eq!(status, 200, "{view}");
    let events = watched.until("done").await;
    assert_eq!(names(&events)[0], "approval_answered");
    assert_eq!((only(&events, "tool_result").get("isError"), stop_reason(&events)), (None, "end_turn"));
    assert_eq!(std::fs::read_to_string(world.project_file("new.txt")).expect("a file"), "fresh");
}

/// Without a viewer there is no user to ask, unless the message has a policy.
#[tokio::test]
async fn a_call_without_a_viewer_is_refused() {
    let late = WRITE.replace("[[reply]]\nsay", "[[reply]]\nfirst_token_ms = 1000\nsay");
    let world = World::start(&late).await;
    let say = async |approve: Option<&str>, stays: bool| {
        let session = world.session().await;
        let mut message = json!({ "content": "Write it down.", "detached": true });
        if let Some(approve) = approve {
            message["approve"] = json!(approve);
        }
        let mut opened = world.open("POST", &format!("{session}/messages"), Some(&message)).await;
        opened.until("model_selected").await;
        let watches = stays.then_some(opened);
        let settled = async {
            while world.get(&session).await.1["status"] == "running" {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, settled).await.expect("it ends, or waits");
        drop(watches);
        world.get(&session).await.1
    };
    for (approve, stays) in [(None, false), (Some("read"), true)] {
        let view = say(approve, stays).await;
        assert_eq!(view["status"], "idle", "{approve:?}");
        assert!(view["turns"].to_string().contains("\"refusal\":\"nobody_to_ask\""), "{view}");
    }
    for (approve, stays) in [(None, true), (Some("ask"), false)] {
        let view = say(approve, stays).await;
        let asked = (&view["status"], &view["approvals"][0]["call_id"]);
        assert_eq!(asked, (&json!("waiting"), &json!("toolu_w")), "{approve:?}");
    }
    assert!(!world.project_file("new.txt").exists());
    assert_eq!(say(Some("all"), false).await["status"], "idle");
    assert_eq!(std::fs::read_to_string(world.project_file("new.txt")).expect("a file"), "fresh");
    let (status, refused) = world
        .post(&format!("{}/messages", world.session().await), &json!({ "content": "x", "approve": "none" }))
        .await;
    assert_eq!(status, 400, "{refused}");
}

#[tokio::test]
async fn a_refusal_reaches_the_model_with_its_reason() {
    let world = World::start(WRITE).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Write it down.").await;
    opened.until("approval_request").await;
    let refusal = json!({ "reject": true, "reason": "not on a Friday" });
    assert_eq!(world.post(&format!("{session}/approvals/toolu_w"), &refusal).await.0, 200);
    let events = opened.rest().await;
    let result = only(&events, "tool_result");
    assert_eq!(result["isError"], true);
    assert!(result["output"].as_str().expect("text").contains("not on a Friday"), "{result}");
    assert!(!world.project_file("new.txt").exists());
    assert!(world.sent()[1].to_string().contains("not on a Friday"));
}

#[tokio::test]
async fn a_remembered_approval_is_not_asked_again() {
    let world = World::start(WRITE).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Write it twice.").await;
    opened.until("approval_request").await;
    let approval = json!({ "approve": true, "remember": true });
    assert_eq!(world.post(&format!("{session}/approvals/toolu_w"), &approval).await.0, 200);
    let events = opened.rest().await;
    assert!(!names(&events).contains(&"approval_request"), "{events:#?}");
    assert_eq!(stop_reason(&events), "end_turn");
    assert!(world.project_file("new.txt").exists() && world.project_file("second.txt").exists());
}

#[tokio::test]
async fn answers_without_a_request_are_refused() {
    let world = World::start(WRITE).await;
    let session = world.session().await;
    let path = format!("{session}/approvals/toolu_w");
    let approve = json!({ "decision": "approve" });
    let (status, problem) = world.post(&path, &approve).await;
    assert_eq!(status, 404, "{problem}");
    let mut opened = world.say(&session, "Write it down.").await;
    opened.until("approval_request").await;
    for (body, code, field) in [
        (json!({}), "missing_field", "decision"),
        (json!({ "decision": "perhaps" }), "unknown_word", "decision"),
        (json!({ "decision": "approve", "approve": true }), "conflicting_fields", "decision"),
        (json!({ "decision": "approve", "remembr": true }), "unknown_field", "remembr"),
    ] {
        let (status, problem) = world.post(&path, &body).await;
        let found = (status, &problem["code"], &problem["subject"]["field"]);
        assert_eq!(found, (400, &json!(code), &json!(field)), "{body}: {problem}");
    }
    // A message cannot overtake the question.
    let (status, problem) = world.post(&format!("{session}/messages"), &json!({ "content": "Well?" })).await;
    assert_eq!((status, &problem["code"]), (409, &json!("approval_pending")), "{problem}");
    assert_eq!(world.post(&path, &approve).await.0, 200);
    opened.rest().await;
    let (status, problem) = world.post(&path, &approve).await;
    assert_eq!((status, &problem["code"]), (409, &json!("already_decided")), "{problem}");
}

/// A session that waits can be cancelled too, and leaves no call without a result.
#[tokio::test]
async fn a_run_that_waits_can_be_cancelled() {
    let world = World::start(WRITE).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Write it down.").await;
    opened.until("approval_request").await;
    let (status, answer) = world.ask("POST", &format!("{session}/cancel"), None).await;
    assert_eq!((status, answer), (200, json!({ "cancelled": true })));
    let events = opened.rest().await;
    assert_eq!((stop_reason(&events), &only(&events, "tool_result")["isError"]), ("cancelled", &json!(true)));
    world.idle_within(&session, Duration::from_secs(1)).await;
    assert!(!world.project_file("new.txt").exists());
}
