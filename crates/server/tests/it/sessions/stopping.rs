//! Sessions when the server stops.

use std::time::Duration;

use super::world::World;
use crate::client::stop_reason;

#[tokio::test]
async fn a_stop_ends_streams_and_runs_and_keeps_their_text() {
    let words = "word ".repeat(300);
    let world = World::start(&format!("[[reply]]\npace_ms = 20\ntext = \"{words}\"\n")).await;
    let session = world.session().await;
    let mut viewer = world.watch(&session, None).await;
    let mut opened = world.say(&session, "Talk.").await;
    opened.until("text_delta").await;
    // Streams end as they should, they are not cut off, and say how the run ended.
    let (world, watched, heard) = tokio::join!(world.restart(), viewer.rest(), opened.rest());
    for events in [watched, heard] {
        assert_eq!(stop_reason(&events), "cancelled");
        assert_eq!(events.last().map(|event| event.name.as_str()), Some("done"));
    }
    world.idle_within(&session, Duration::from_secs(5)).await;
    let events = world.watch(&session, Some("0")).await.until("done").await;
    assert_eq!(stop_reason(&events), "cancelled");
    let (_, view) = world.get(&session).await;
    assert!(view["turns"][1]["content"].as_str().expect("a text").starts_with("word"), "{view}");
}

/// A reply that is almost complete is not cut off by a stop.
#[tokio::test]
async fn a_stop_waits_for_a_reply_that_ends_soon() {
    let words = "word ".repeat(30);
    let world = World::start(&format!("[[reply]]\npace_ms = 20\ntext = \"{words}\"\n")).await;
    let session = world.session().await;
    let mut viewer = world.watch(&session, None).await;
    let mut opened = world.say(&session, "Talk.").await;
    opened.until("text_delta").await;
    let (_, watched, heard) = tokio::join!(world.served.stop(), viewer.rest(), opened.rest());
    for events in [watched, heard] {
        assert_eq!(stop_reason(&events), "end_turn");
    }
}

/// A viewer of a session at rest does not delay a stop.
#[tokio::test]
async fn a_stop_does_not_wait_for_idle_viewers() {
    let world = World::start("[[reply]]\ntext = \"Hello.\"\n").await;
    let session = world.session().await;
    let mut viewer = world.watch(&session, None).await;
    let started = std::time::Instant::now();
    let (_, events) = tokio::join!(world.served.stop(), viewer.rest());
    assert!(events.is_empty(), "{events:?}");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}
