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
    // Streams end as they should, they are not cut off.
    let (world, _, _) = tokio::join!(world.restart(), viewer.rest(), opened.rest());
    world.idle_within(&session, Duration::from_secs(5)).await;
    let events = world.watch(&session, Some("0")).await.until("done").await;
    assert_eq!(stop_reason(&events), "cancelled");
    let (_, view) = world.get(&session).await;
    assert!(view["turns"][1]["content"].as_str().expect("a text").starts_with("word"), "{view}");
}
