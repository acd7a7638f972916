//! How a chat ends, and what happens to it without its client.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::world::{on_each, results, types};
use crate::client::open;
use crate::running::PATIENCE;

const STOPS: &str = r#"
[[reply]]
when = { last_user = "long" }
text = "And so on and"
stop = "max_tokens"
[[reply]]
when = { last_user = "bad" }
text = "No."
stop = "refusal"
[[reply]]
when = { last_user = "broken" }
fault = { status = 400, message = "the model is not in the mood" }
[[reply]]
when = { last_user = "loop" }
say = [{ tool = "get_persona", input = {} }]
[[reply]]
when = { tool_result = "" }
say = [{ tool = "get_persona", input = {} }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn any_other_end_is_an_error() {
    on_each(STOPS, async |world| {
        for message in ["long", "bad", "broken", "loop"] {
            let events = world.tell("ada", message).await;
            let last = events.last().expect("an event");
            assert_eq!(last["type"], "error", "{message}: {events:?}");
            assert!(last["message"].as_str().is_some_and(|text| !text.is_empty()), "{last}");
            let ends = types(&events).iter().filter(|kind| ["done", "error"].contains(kind)).count();
            assert_eq!(ends, 1, "{message}: {events:?}");
        }
    })
    .await;
}

const SLOW: &str = r#"
[[reply]]
when = { tool_result_of = "update_persona_name" }
text = "Done."
[[reply]]
first_token_ms = 400
say = [{ tool = "update_persona_name", id = "toolu_1", input = { name = "Grace" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_leaves_no_edit_half_done() {
    on_each(SLOW, async |world| {
        let body = json!({ "personaId": "ada", "message": "Call her Grace" });
        let opened = world.open(&body).await;
        assert_eq!(opened.status, 200);
        drop(opened);
        // A second message waits for its turn.
        let (status, problem) = world.ask("POST", "/api/persona-agent/chat", Some(&body)).await;
        assert_eq!((status, &problem["code"]), (409, &json!("session_busy")), "{problem}");
        // So does an undo.
        let persona = json!({ "personaId": "ada" });
        let (status, problem) = world.ask("POST", "/api/persona-agent/undo", Some(&persona)).await;
        assert_eq!((status, &problem["code"]), (409, &json!("session_busy")), "{problem}");
        let finished = async {
            while world.history("ada").await.len() < 4 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, finished).await.expect("it goes on");
        assert_eq!(world.stored("ada").await["name"], "Grace");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_is_one_message() {
    on_each(SLOW, async |world| {
        let body = json!({ "personaId": "ada", "message": "Call her Grace" }).to_string();
        let send = async || {
            let headers = [("idempotency-key", "0b44cf3c-once")];
            let mut opened = open(world.port, "POST", "/api/persona-agent/chat", &headers, Some(&body)).await;
            assert_eq!(opened.status, 200, "{}", opened.head);
            let replayed = opened.header("idempotency-replayed").is_some();
            let events: Vec<Value> = opened.rest().await.into_iter().map(|event| event.data).collect();
            (replayed, events)
        };
        let (first, again) = (send().await, send().await);
        assert_eq!((first.0, again.0), (false, true));
        assert_eq!(results(&first.1), results(&again.1));
        assert_eq!(again.1.last().expect("an event")["type"], "done");
        assert_eq!(world.history("ada").await.len(), 4, "no turn is doubled");
        assert_eq!(world.entity("persona/ada").await["revision"], 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clearing_stops_the_old_conversation() {
    on_each(SLOW, async |world| {
        let opened = world.open(&json!({ "personaId": "ada", "message": "Call her Grace" })).await;
        assert_eq!(opened.status, 200);
        world.clear("ada").await;
        let mut opened = opened;
        let events: Vec<Value> = opened.rest().await.into_iter().map(|event| event.data).collect();
        assert_eq!(events.last().expect("an event")["type"], "error");
        assert_eq!(world.stored("ada").await["name"], "Ada");
    })
    .await;
}
