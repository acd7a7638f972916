//! Answers to messages: replies, tools, order, memory.

use serde_json::json;

use super::world::{World, conversation, offered, system};
use crate::client::{names, only, redact, redacted, stop_reason, streamed};

const READ: &str = r#"
[[reply]]
when = { tool_result_of = "read_file" }
text = "It says: {{tool_result}}"
[[reply]]
when = { last_user = "notes" }
say = [
  { text = "I look it up." },
  { tool = "read_file", id = "toolu_1", input = { path = "notes.txt" } },
]
[[reply]]
text = "Hello to you."
"#;

#[tokio::test]
async fn basic_reply() {
    let world = World::start(READ).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Hello!").await;
    assert_eq!(opened.header("content-type"), Some("text/event-stream"));
    assert_eq!(opened.header("cache-control"), Some("no-store"));
    assert_eq!(opened.header("x-accel-buffering"), Some("no"));
    let events = opened.rest().await;
    insta::assert_snapshot!("basic_reply", redacted(&events));
    assert_eq!(streamed(&events), "Hello to you.");
    let sent = world.sent();
    assert_eq!(sent.len(), 1);
    assert!(system(&sent[0])[0].starts_with("You guide."), "{sent:?}");
    assert_eq!(conversation(&sent[0]), ["user: Hello!"]);
    // The stored turns are the reported ones.
    let (status, mut view) = world.get(&session).await;
    assert_eq!((status, &view["status"], &view["title"]), (200, &json!("idle"), &json!("Hello!")));
    redact(&mut view);
    insta::assert_snapshot!("session_after_a_reply", serde_json::to_string_pretty(&view).expect("JSON"));
}

#[tokio::test]
async fn read_tool() {
    let world = World::start(READ).await;
    let session = world.session().await;
    let events = world.hear(&session, "What is in the notes?").await;
    insta::assert_snapshot!("read_tool", redacted(&events));
    let sent = world.sent();
    assert_eq!(sent.len(), 2);
    assert!(offered(&sent[0]).contains(&"read_file") && offered(&sent[0]).contains(&"write_file"));
    assert_eq!(
        conversation(&sent[1]),
        [
            "user: What is in the notes?",
            "assistant: I look it up.",
            "assistant: tool_use",
            "user: tool_result"
        ]
    );
}

const WRITE: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Done: {{tool_result}}"
[[reply]]
say = [{ tool = "write_file", id = "toolu_w", input = { path = "new.txt", content = "fresh" } }]
"#;

/// A call without approval: the run waits, and continues in the same stream after the approval.
#[tokio::test]
async fn write_tool() {
    let world = World::start(WRITE).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Write it down.").await;
    let mut events = opened.until("approval_request").await;
    let request = only(&events, "approval_request");
    assert_eq!((&request["toolName"], &request["toolUseId"]), (&json!("write_file"), &json!("toolu_w")));
    assert!(session.ends_with(request["sessionId"].as_str().expect("an id")));
    let (_, view) = world.get(&session).await;
    assert_eq!((&view["status"], &view["approvals"][0]["call_id"]), (&json!("waiting"), &json!("toolu_w")));
    assert!(!world.project_file("new.txt").exists());
    let approval = format!("{session}/approvals/toolu_w");
    let (status, view) = world.post(&approval, &json!({ "decision": "approve" })).await;
    assert_eq!((status, view["approvals"].as_array().map(Vec::len)), (200, Some(0)), "{view}");
    events.extend(opened.rest().await);
    assert_eq!(std::fs::read_to_string(world.project_file("new.txt")).expect("a file"), "fresh");
    insta::assert_snapshot!("write_tool", redacted(&events));
}

const SEVERAL: &str = r#"
[[reply]]
when = { call = 2 }
text = "Both are read."
[[reply]]
say = [
  { text = "Two things." },
  { tool = "read_file", id = "toolu_1", input = { path = "notes.txt" } },
  { tool = "list_files", id = "toolu_2", input = {} },
]
"#;

#[tokio::test]
async fn several_tools_in_one_turn() {
    let world = World::start(SEVERAL).await;
    let session = world.session().await;
    let events = world.hear(&session, "Look around.").await;
    assert_eq!(stop_reason(&events), "end_turn");
    let (_, view) = world.get(&session).await;
    let turns = view["turns"].as_array().expect("turns");
    let types: Vec<&str> = turns.iter().filter_map(|turn| turn["type"].as_str()).collect();
    assert_eq!(
        types,
        ["user", "assistant_text", "tool_call", "tool_call", "tool_result", "tool_result", "assistant_text"]
    );
    let result = |id: &str| {
        let found = events.iter().find(|event| event.name == "tool_result" && event.data["toolUseId"] == id);
        found.expect("a result").data["output"].as_str().expect("text").to_owned()
    };
    assert!(result("toolu_1").contains("the answer is 42"));
    assert!(result("toolu_2").contains("notes.txt"));
    assert_eq!(
        conversation(&world.sent()[1])[1..],
        [
            "assistant: Two things.",
            "assistant: tool_use",
            "assistant: tool_use",
            "user: tool_result",
            "user: tool_result"
        ]
    );
}

#[tokio::test]
async fn streaming_order() {
    let world = World::start(READ).await;
    let session = world.session().await;
    let events = world.hear(&session, "notes, please").await;
    let told: Vec<&str> = names(&events);
    let told: Vec<&str> =
        told.into_iter().filter(|name| !matches!(*name, "model_selected" | "usage")).collect();
    assert_eq!(
        told,
        ["text_delta", "text_complete", "tool_call", "tool_result", "text_delta", "text_complete", "done"]
    );
    let first = events.iter().position(|event| event.name == "text_complete").expect("a text");
    assert_eq!(streamed(&events[..first]), events[first].data["content"].as_str().expect("text"));
    // Ids go up, so that any of them is a place to go on from.
    let places: Vec<(i64, u32)> = events
        .iter()
        .map(|event| {
            let (seq, delta) = event.id.split_once('.').unwrap_or((&event.id, "0"));
            (seq.parse().expect("a number"), delta.parse().expect("a number"))
        })
        .collect();
    assert!(places.is_sorted() && places.windows(2).all(|two| two[0] < two[1]), "{places:?}");
}

#[tokio::test]
async fn persistence_across_requests() {
    let world = World::start(READ).await;
    let session = world.session().await;
    world.hear(&session, "Hello!").await;
    world.hear(&session, "Still there?").await;
    let world = world.restart().await;
    world.hear(&session, "And now?").await;
    let sent = world.sent();
    assert_eq!(
        conversation(&sent[2]),
        [
            "user: Hello!",
            "assistant: Hello to you.",
            "user: Still there?",
            "assistant: Hello to you.",
            "user: And now?",
        ]
    );
    let (_, view) = world.get(&session).await;
    assert_eq!(view["turns"].as_array().map(Vec::len), Some(6));
}

#[tokio::test]
async fn a_fresh_session_remembers_nothing() {
    let world = World::start(READ).await;
    let first = world.session().await;
    world.hear(&first, "My name is Ada.").await;
    let second = world.session().await;
    world.hear(&second, "Who am I?").await;
    let sent = world.sent();
    assert_eq!(conversation(&sent[1]), ["user: Who am I?"]);
    assert!(!sent[1].to_string().contains("Ada"), "{}", sent[1]);
}

const MISSING: &str = r#"
[[reply]]
when = { tool_result = "answer is 42" }
text = "Found it."
[[reply]]
when = { tool_result_of = "read_file" }
say = [{ tool = "read_file", id = "toolu_2", input = { path = "notes.txt" } }]
[[reply]]
say = [{ tool = "read_file", id = "toolu_1", input = { path = "nowhere.txt" } }]
"#;

#[tokio::test]
async fn tool_error_and_recovery() {
    let world = World::start(MISSING).await;
    let session = world.session().await;
    let events = world.hear(&session, "Find the answer.").await;
    let results: Vec<_> = events.iter().filter(|event| event.name == "tool_result").collect();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].data["isError"], true);
    assert_eq!(results[1].data.get("isError"), None);
    assert_eq!((streamed(&events).as_str(), stop_reason(&events)), ("Found it.", "end_turn"));
    let result = &world.sent()[1]["messages"][2]["content"][0];
    assert_eq!((&result["type"], &result["is_error"]), (&json!("tool_result"), &json!(true)), "{result}");
}

/// A limit of one message comes before the persona's own, and holds for that message alone.
#[tokio::test]
async fn a_message_may_limit_the_rounds_with_tools() {
    let world = World::start(MISSING).await;
    world.persona(json!({ "name": "ranger", "summary": "Ranges.", "max_tool_rounds": 5 })).await;
    let session = world.session_with(&json!({ "persona": "ranger" })).await;
    let input = json!({ "content": "Find the answer.", "max_tool_rounds": 1 });
    let events = world.open("POST", &format!("{session}/messages"), Some(&input)).await.rest().await;
    assert_eq!(stop_reason(&events), "max_tool_rounds");
    assert_eq!(stop_reason(&world.hear(&session, "Find it.").await), "end_turn");
}

/// A model's final failure is an event with a code.
#[tokio::test]
async fn a_failing_model_is_reported() {
    let world = World::start("[[reply]]\nfault = { status = 401 }\n").await;
    let session = world.session().await;
    let events = world.hear(&session, "Hello!").await;
    assert_eq!(only(&events, "error")["code"], "unauthorized");
    assert_eq!(stop_reason(&events), "failed");
}
