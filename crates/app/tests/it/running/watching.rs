//! Viewers of a session: second ones, ones that come back, slow ones, ones in another process.

use std::sync::Arc;

use agent::{End, Event, Mode};
use app::running::{EventId, Reported, SendOptions, Subscription};

use super::stage::{PATIENCE, end, hear, names, on_stage, to_the_end};

const TALKS: &str = r#"
[[reply]]
when = { tool_result_of = "read_file" }
text = "nine ten eleven twelve thirteen fourteen"
pace_ms = 30
[[reply]]
when = { last_user = "long" }
text = "{{last_user}}"
[[reply]]
say = [
    { text = "one two three four five six seven eight" },
    { tool = "read_file", input = { path = "notes.txt" } },
]
pace_ms = 30
"#;

async fn next(events: &mut Subscription) -> Arc<Reported> {
    tokio::time::timeout(PATIENCE, events.next()).await.expect("in time").unwrap().expect("more")
}

async fn to_done(events: &mut Subscription) -> Vec<Arc<Reported>> {
    let mut heard = Vec::new();
    while !heard.last().is_some_and(|told: &Arc<Reported>| told.event.is_last()) {
        heard.push(next(events).await);
    }
    heard
}

fn detached() -> SendOptions {
    SendOptions { detached: true, ..SendOptions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_viewer_sees_everything_the_text_on_its_way_included() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut early = stage.runtime.events(id, None).await.unwrap();
        let mut first = stage.runtime.send(id, "talk".to_owned(), detached()).await.unwrap();
        hear(&mut first, "text_delta", 3).await;
        // It comes in the middle of a text, and gets what was said of it already.
        let mut late = stage.runtime.events(id, None).await.unwrap();
        let early = to_done(&mut early).await;
        let late = to_done(&mut late).await;
        assert_eq!(early[0].event.name(), "user");
        let from = early.iter().position(|told| told.id == late[0].id).unwrap();
        assert_eq!(early[from..], late);
        let said: String = late
            .iter()
            .take_while(|told| told.event.name() == "text_delta")
            .map(|told| match &told.event {
                Event::TextDelta { content } => content.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(said, "one two three four five six seven eight");
        // Everything was in its place.
        assert!(early.windows(2).all(|two| two[0].id < two[1].id));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_reconnects_gets_every_event_once() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut steady = stage.runtime.events(id, None).await.unwrap();
        let mut dropping = stage.runtime.events(id, None).await.unwrap();
        drop(stage.runtime.send(id, "talk".to_owned(), detached()).await.unwrap());
        let mut heard: Vec<Arc<Reported>> = Vec::new();
        // It goes away after every third event.
        while !heard.last().is_some_and(|told| told.event.is_last()) {
            for _ in 0..3 {
                if heard.last().is_some_and(|told| told.event.is_last()) {
                    break;
                }
                heard.push(next(&mut dropping).await);
            }
            let last = heard.last().unwrap().id;
            // Clients send the id back as text.
            let last: EventId = last.to_string().parse().unwrap();
            drop(dropping);
            dropping = stage.runtime.events(id, Some(last)).await.unwrap();
        }
        assert_eq!(heard, to_done(&mut steady).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_back_late_reads_the_log() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say(id, "talk").await;
        assert_eq!(end(&events), Some(End::EndTurn));
        let mut late = stage.runtime.events(id, Some(EventId::default())).await.unwrap();
        let heard: Vec<Event> = to_done(&mut late).await.iter().map(|told| told.event.clone()).collect();
        let kept: Vec<Event> = events.into_iter().filter(|event| event.name() != "text_delta").collect();
        assert_eq!(heard[0].name(), "user");
        assert_eq!(heard[1..], kept);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_lags_reads_the_log_and_then_keeps_up() {
    let script = r#"
        [[reply]]
        when = { tool_result_of = "list_files" }
        text = "{{tool_result}} The end."
        [[reply]]
        say = [{ text = "{{last_user}}" }, { tool = "list_files", input = {} }]
        pace_ms = 3
    "#;
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut lagging = stage.runtime.events(id, None).await.unwrap();
        // More events than are kept for viewers. A busy machine joins deltas, so one message may be too few.
        let (mut all, mut messages) = (Vec::new(), 0);
        while all.len() <= 1_100 {
            assert!(messages < 20, "{} events", all.len());
            let events = stage.runtime.send(id, "word ".repeat(1_500), detached()).await.unwrap();
            all.extend(to_the_end(events).await);
            messages += 1;
        }
        let mut heard = Vec::new();
        for _ in 0..messages {
            heard.extend(to_done(&mut lagging).await);
        }
        assert!(heard.len() < all.len());
        let is_kept = |event: &&Event| event.name() != "text_delta" && event.name() != "user";
        let theirs: Vec<&Event> = heard.iter().map(|told| &told.event).filter(is_kept).collect();
        assert_eq!(theirs, all.iter().filter(is_kept).collect::<Vec<_>>());
        assert_eq!(heard.iter().filter(|told| told.event.name() == "user").count(), messages);
        assert!(heard.windows(2).all(|two| two[0].id < two[1].id));
        // It keeps up from there.
        stage.say(id, "short").await;
        let heard = to_done(&mut lagging).await;
        assert!(heard.iter().any(|told| told.event.name() == "text_delta"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_in_another_process_follows() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let other = stage.restarted().await;
        let mut theirs = other.events(id, None).await.unwrap();
        let events = stage.say(id, "talk").await;
        stage.runtime.set_mode(id, Mode::Plan).await.unwrap();
        let mut heard: Vec<Event> = Vec::new();
        while !heard.iter().any(|event| event.name() == "mode_changed") {
            heard.push(next(&mut theirs).await.event.clone());
        }
        assert_eq!(heard.remove(0).name(), "user");
        let kept: Vec<Event> = events.into_iter().filter(|event| event.name() != "text_delta").collect();
        assert_eq!(names(&heard), format!("{} mode_changed", names(&kept)));
        assert_eq!(heard[..kept.len()], kept);
        // A viewer elsewhere keeps nothing from going on, and its going away stops nothing.
        drop(theirs);
        assert_eq!(end(&stage.say(id, "talk").await), Some(End::EndTurn));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn discarded_turns_are_reported() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        stage.say(id, "long: one").await;
        let mut here = stage.runtime.events(id, None).await.unwrap();
        let other = stage.restarted().await;
        let mut there = other.events(id, None).await.unwrap();
        let mut expected = Vec::new();
        for message in ["long: two", "long: three"] {
            stage.say(id, message).await;
            let turns: Vec<_> = stage.view(id).await.turns.iter().rev().take(2).map(|turn| turn.id).collect();
            expected.push(turns.into_iter().rev().collect::<Vec<_>>());
        }
        // One that saw the messages, and was away when they were taken back.
        let away = to_done(&mut here).await.last().unwrap().id;
        to_done(&mut here).await;
        for _ in 0..2 {
            to_done(&mut there).await;
        }
        let of = |told: &Reported| match &told.event {
            Event::TextDiscarded { turn_ids } => turn_ids.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(stage.runtime.undo(id).await.unwrap(), "long: three");
        assert_eq!(of(&*next(&mut here).await), expected[1]);
        assert_eq!(of(&*next(&mut there).await), expected[1]);
        assert_eq!(stage.runtime.undo(id).await.unwrap(), "long: two");
        let both: Vec<_> = expected.concat();
        assert_eq!(of(&*next(&mut here).await), both);
        let mut back = other.events(id, Some(away)).await.unwrap();
        assert_eq!(of(&*next(&mut back).await), both, "all that it may have seen");
        assert_eq!(stage.view(id).await.turns.len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_session_ends_its_streams() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut here = stage.runtime.events(id, None).await.unwrap();
        let other = stage.restarted().await;
        let mut there = other.events(id, None).await.unwrap();
        let waiting = tokio::spawn(async move { here.next().await.unwrap() });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(stage.runtime.delete_session(id).await.unwrap());
        let soon = std::time::Duration::from_millis(500);
        assert_eq!(tokio::time::timeout(soon, waiting).await.expect("at once").unwrap(), None);
        assert_eq!(tokio::time::timeout(PATIENCE, there.next()).await.expect("in time").unwrap(), None);
    })
    .await;
}

/// Viewers here get the entries of another process in their place.
#[tokio::test(flavor = "multi_thread")]
async fn entries_of_other_processes_arrive_in_order() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let other = stage.restarted().await;
        let mut events = stage.runtime.send(id, "talk".to_owned(), Default::default()).await.unwrap();
        let mut heard = hear(&mut events, "text_delta", 2).await;
        other.set_mode(id, Mode::Plan).await.unwrap();
        heard.extend(to_the_end(events).await);
        let places = ["mode_changed", "text_complete"].map(|name| {
            heard.iter().position(|event| event.name() == name).unwrap_or_else(|| panic!("{}", names(&heard)))
        });
        assert!(places[0] < places[1], "{}", names(&heard));
    })
    .await;
}
