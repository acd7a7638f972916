//! Conversations that a process keeps: they never differ from the log.

use agent::Mode;
use app::Runtime;
use serde_json::Value;
use uuid::Uuid;

use super::stage::{Stage, on_stage, say};

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "read_file" }
text = "It is 42."
[[reply]]
when = { last_user = "read" }
say = [{ text = "I look." }, { tool = "read_file", input = { path = "notes.txt" } }]
[[reply]]
text = "Hello."
"#;

/// The messages of the last request after a message.
async fn sent(stage: &Stage<'_>, runtime: &Runtime, id: Uuid, content: &str) -> Value {
    say(runtime, id, content).await;
    stage.sent().last().expect("a request")["messages"].clone()
}

/// The user's messages of a request.
fn said(messages: &Value) -> Vec<&str> {
    let users = messages.as_array().expect("messages").iter().filter(|it| it["role"] == "user");
    users.filter_map(|it| it["content"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_conversation_is_sent_as_if_it_were_read_again() {
    on_stage(SCRIPT, async |stage| {
        let forgetful = stage.restarted_with(|options| options.conversation_bytes = 0).await;
        let [kept, read] = [stage.session(Mode::Build).await, stage.session(Mode::Build).await];
        for content in ["hello", "read it", "read again", "hello again", "read it"] {
            let from_memory = sent(stage, &stage.runtime, kept, content).await;
            let from_log = sent(stage, &forgetful, read, content).await;
            assert_eq!(without_ids(from_memory), without_ids(from_log), "{content}");
        }
    })
    .await;
}

/// Ids of calls differ between sessions.
fn without_ids(mut messages: Value) -> Value {
    for message in messages.as_array_mut().expect("messages") {
        message.as_object_mut().expect("a message").remove("tool_call_id");
        for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
            call.as_object_mut().expect("a call").remove("id");
        }
    }
    messages
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_of_another_process_are_added() {
    on_stage(SCRIPT, async |stage| {
        let other = stage.restarted().await;
        let id = stage.session(Mode::Build).await;
        sent(stage, &stage.runtime, id, "one").await;
        sent(stage, &other, id, "two").await;
        let third = sent(stage, &stage.runtime, id, "three").await;
        assert_eq!(said(&third), ["one", "two", "three"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_that_another_process_took_back_are_gone() {
    on_stage(SCRIPT, async |stage| {
        let other = stage.restarted().await;
        let id = stage.session(Mode::Build).await;
        for content in ["one", "two", "three"] {
            sent(stage, &stage.runtime, id, content).await;
        }
        for taken_back in ["three", "two"] {
            assert_eq!(other.undo(id).await.unwrap(), taken_back);
        }
        sent(stage, &other, id, "four").await;
        let fifth = sent(stage, &stage.runtime, id, "five").await;
        assert_eq!(said(&fifth), ["one", "four", "five"]);
        stage.runtime.undo(id).await.unwrap();
        assert_eq!(said(&sent(stage, &stage.runtime, id, "six").await), ["one", "four", "six"]);
    })
    .await;
}
