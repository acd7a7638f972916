//! Several viewers of one session, and viewers that go away.

use std::time::Duration;

use serde_json::json;
use tokio::time::{sleep, timeout};

use super::world::World;
use crate::client::{Event, names, only, open, stop_reason, streamed};
use crate::running::PATIENCE;

/// A reply that takes about two seconds.
const SLOW: &str = r#"
pace_ms = 20
[[reply]]
text = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100"
"#;
/// One that is done in no time.
const QUICK: &str = "[[reply]]\ntext = \"Quick as a flash.\"\n";

/// How soon a run without viewers ends.
const PROMPT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_second_viewer_sees_what_the_first_sees() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut second = world.watch(&session, None).await;
    assert_eq!(second.header("content-type"), Some("text/event-stream"));
    let first = world.say(&session, "Count.").await.rest().await;
    let seen = second.until("done").await;
    assert_eq!((seen[0].name.as_str(), &seen[0].data["content"]), ("user", &json!("Count.")));
    assert_eq!(seen[1..], first[..], "the rest is the same, ids included");
}

/// A viewer that joins in the middle gets the current text from its beginning.
#[tokio::test]
async fn a_late_viewer_misses_nothing_of_the_reply() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut first = world.say(&session, "Count.").await;
    let begun = first.until("text_delta").await;
    let mut second = world.watch(&session, Some("0")).await;
    let seen = second.until("done").await;
    let rest = first.rest().await;
    let whole: Vec<Event> = begun.into_iter().chain(rest).collect();
    assert_eq!(seen[1..], whole[..]);
}

#[tokio::test]
async fn a_dropped_viewer_comes_back_and_misses_nothing() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut whole = world.watch(&session, None).await;
    let mut dropped = world.watch(&session, None).await;
    let message = world.say(&session, "Count.").await;
    let mut seen = Vec::new();
    while seen.len() < 10 {
        seen.push(dropped.next().await.expect("an event"));
    }
    drop(dropped);
    sleep(Duration::from_millis(200)).await;
    let last = seen.last().expect("an event").id.clone();
    assert!(last.contains('.'), "in the middle of a text: {last}");
    let mut back = world.watch(&session, Some(&last)).await;
    assert!(back.head.contains("text/event-stream"));
    seen.extend(back.until("done").await);
    assert_eq!(seen, whole.until("done").await, "none is missing, and none comes twice");
    drop(message);
    // Later, and after a restart, viewers get the stored entries, but no passing text.
    let world = world.restart().await;
    let mut again = world.watch(&session, Some(&last)).await;
    let kept: Vec<Event> = seen.iter().filter(|event| !event.id.contains('.')).cloned().collect();
    let told = again.until("done").await;
    assert_eq!(told, kept[kept.len() - told.len()..]);
    assert_eq!(names(&told), ["text_complete", "usage", "done"]);
}

#[tokio::test]
async fn a_place_may_stand_in_the_address() {
    let world = World::start(QUICK).await;
    let session = world.session().await;
    let told = world.hear(&session, "Go.").await;
    let path = format!("{session}/events?after=0");
    let mut opened = open(world.served.port, "GET", &path, &[], None).await;
    assert_eq!(opened.status, 200);
    let kept: Vec<Event> = told.into_iter().filter(|event| !event.id.contains('.')).collect();
    assert_eq!(opened.until("done").await[1..], kept[..]);
    for (path, headers) in [
        (format!("{session}/events?after=x"), vec![]),
        (format!("{session}/events"), vec![("last-event-id", "nonsense")]),
        (format!("{session}/events"), vec![("last-event-id", "-4")]),
    ] {
        let opened = open(world.served.port, "GET", &path, &headers, None).await;
        assert_eq!(opened.status, 400, "{path} {headers:?}");
        let problem = opened.json().await;
        assert_eq!(problem["code"], "invalid_value", "{problem}");
    }
    // A place that the session has not reached is an error.
    let last = world.get(&session).await.1["last_seq"].as_i64().expect("a place");
    for (place, status) in [(last, 200), (last + 1, 400), (i64::MAX, 400)] {
        let path = format!("{session}/events?after={place}");
        let opened = open(world.served.port, "GET", &path, &[], None).await;
        assert_eq!(opened.status, status, "{path}");
        if status == 400 {
            let problem = opened.json().await;
            assert_eq!(problem["code"], "out_of_range", "{problem}");
            let detail = problem["detail"].as_str().expect("text");
            assert!(detail.contains(&place.to_string()) && detail.contains(&last.to_string()), "{problem}");
        }
    }
}

#[tokio::test]
async fn a_second_message_is_refused_while_one_is_answered() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut first = world.say(&session, "Count.").await;
    first.until("text_delta").await;
    let (status, problem) = world.post(&format!("{session}/messages"), &json!({ "content": "Stop!" })).await;
    assert_eq!((status, &problem["status"]), (409, &json!(409)));
    assert_eq!(problem["code"], "session_busy", "{problem}");
    assert_eq!(stop_reason(&first.rest().await), "end_turn", "the first is not disturbed");
}

#[tokio::test]
async fn a_run_is_cancelled_by_request() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Count.").await;
    let mut events = Vec::new();
    while !streamed(&events).ends_with(" 5") {
        events.push(opened.next().await.expect("an event"));
    }
    let (status, answer) = world.ask("POST", &format!("{session}/cancel"), None).await;
    assert_eq!((status, answer), (200, json!({ "cancelled": true })));
    events.extend(opened.rest().await);
    assert_eq!(stop_reason(&events), "cancelled");
    let said = streamed(&events);
    assert!(said.starts_with("1 2 3 4 5") && !said.contains("100"), "{said}");
    // The text so far is stored.
    let (_, view) = world.get(&session).await;
    assert_eq!((&view["status"], &view["turns"][1]["content"]), (&json!("idle"), &json!(said)));
    let (status, answer) = world.ask("POST", &format!("{session}/cancel"), None).await;
    assert_eq!((status, answer), (200, json!({ "cancelled": false })));
}

/// A client that hangs up takes its run with it, as soon as that is known.
#[tokio::test]
async fn a_run_is_cancelled_when_its_client_is_gone() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Count.").await;
    opened.until("text_delta").await;
    assert_eq!(world.get(&session).await.1["status"], "running");
    drop(opened);
    world.idle_within(&session, PROMPT).await;
    let events = world.watch(&session, Some("0")).await.until("done").await;
    assert_eq!(stop_reason(&events), "cancelled");
    let hung_up = async {
        while world.model.abandoned_streams() != 1 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, hung_up).await.expect("the model is not asked any longer");
}

/// A silent model does not keep a run without viewers alive: reading detects the hang-up.
#[tokio::test]
async fn a_client_that_is_gone_is_noticed_in_silence() {
    let world = World::start("[[reply]]\nfirst_token_ms = 30000\ntext = \"Late.\"\n").await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Hello?").await;
    opened.until("model_selected").await;
    drop(opened);
    world.idle_within(&session, PROMPT).await;
    let events = world.watch(&session, Some("0")).await.until("done").await;
    assert_eq!(stop_reason(&events), "cancelled");
}

#[tokio::test]
async fn a_run_continues_while_one_viewer_remains() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut viewer = world.watch(&session, None).await;
    let mut opened = world.say(&session, "Count.").await;
    opened.until("text_delta").await;
    drop(opened);
    assert_eq!(stop_reason(&viewer.until("done").await), "end_turn");
}

#[tokio::test]
async fn a_detached_run_continues_without_viewers() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let message = json!({ "content": "Count.", "detached": true });
    let mut opened = world.open("POST", &format!("{session}/messages"), Some(&message)).await;
    opened.until("text_delta").await;
    drop(opened);
    world.idle_within(&session, PATIENCE).await;
    let events = world.watch(&session, Some("0")).await.until("done").await;
    assert_eq!(stop_reason(&events), "end_turn");
    assert!(only(&events, "text_complete")["content"].as_str().expect("text").ends_with(" 100"));
}

/// Streams do not end with a run: the next message is heard on them too.
#[tokio::test]
async fn a_viewer_sees_one_run_after_the_other() {
    let world = World::start(QUICK).await;
    let session = world.session().await;
    let mut viewer = world.watch(&session, None).await;
    for content in ["One.", "Two.", "Three."] {
        world.hear(&session, content).await;
        let seen = viewer.until("done").await;
        assert_eq!(only(&seen, "user")["content"], content);
        assert_eq!(streamed(&seen), "Quick as a flash.");
    }
}
