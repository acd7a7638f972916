//! Logs grow without gaps, and only where their writer knows their end.

use std::sync::Arc;

use conductor::{Event, Recorded};
use persona::{AsReport as _, Code};
use testkit::on_each_engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tracks::{APPENDED, Appended, EVENT_BYTES, LOG_PAGE, LOG_PAGE_BYTES};
use uuid::Uuid;

use crate::{Opened, append, appended, claimed, created, open, opened, resumed};

async fn whole_log(tracks: &Opened, track: Uuid) -> Vec<Recorded> {
    let mut log: Vec<Recorded> = Vec::new();
    loop {
        let after = log.last().map_or(0, |last| last.seq);
        let page = tracks.log(track, after, LOG_PAGE).await.unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_back_in_their_order() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        assert_eq!(tracks.log(track, 0, 10).await.unwrap(), []);
        let events: Vec<Event> = (0..40).map(|at| resumed(&format!("\0 — é {at} \\u0000 \"}}"))).collect();
        let Appended::Stored(stored) = tracks.append(track, &append(0, &events, None)).await.unwrap() else {
            panic!("nothing was appended meanwhile");
        };
        assert_eq!(stored.iter().map(|it| it.seq).collect::<Vec<_>>(), (1..=40).collect::<Vec<u64>>());
        assert_eq!(stored.iter().map(|it| it.event.clone()).collect::<Vec<_>>(), events);
        assert_eq!(tracks.log(track, 0, 1_000_000).await.unwrap(), stored);
        assert_eq!(tracks.log(track, 7, 5).await.unwrap(), stored[7..12]);
        assert_eq!(tracks.log(track, 39, 5).await.unwrap(), stored[39..]);
        assert_eq!(tracks.log(track, 40, 5).await.unwrap(), []);
        assert_eq!(tracks.log(track, u64::MAX, 5).await.unwrap(), []);
        assert_eq!(tracks.log(Uuid::now_v7(), 0, 5).await.unwrap(), []);
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_a_newer_version_stays_as_it_is() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        let text = r#"{"type":"teleported","to":[1,0.1,18446744073709551615,{"deep":null}],"ticket":"T1"}"#;
        let newer: Event = serde_json::from_str(text).unwrap();
        assert!(matches!(newer, Event::Unknown(_)));
        appended(&tracks, track, &append(0, &[opened(), newer.clone()], None)).await;
        let log = tracks.log(track, 0, 10).await.unwrap();
        assert_eq!(log[1].event, newer);
        // So does one of a known name with another form.
        let events = format!(
            "INSERT INTO masque_track_events (track_id, seq, at, event) \
             VALUES ('{track}', 3, '2026-01-01T00:00:00.000000Z', '{{\"type\": \"resumed\", \"who\": 1}}')"
        );
        database.execute(&events).await;
        let log = tracks.log(track, 2, 10).await.unwrap();
        assert!(matches!(&log[0].event, Event::Unknown(value) if value["who"] == 1), "{log:?}");
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_behind_has_to_read_first() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        let track = created(&one).await;
        let events = [opened(), resumed("one")];
        appended(&one, track, &append(0, &events, None)).await;
        for based_on in [0, 1, 3, u64::MAX] {
            let late = two.append(track, &append(based_on, &events, None)).await.unwrap();
            assert_eq!(late, Appended::Behind { last_seq: 2 }, "{based_on}");
        }
        assert_eq!(appended(&two, track, &append(2, &events[1..], None)).await, 3);
        assert_eq!(whole_log(&one, track).await.len(), 3);
        one.close().await;
        two.close().await;
    })
    .await;
}

/// Many append to one log at once: each event is stored once, at the place where its writer saw the end.
#[tokio::test(flavor = "multi_thread")]
async fn writers_take_turns() {
    const WRITERS: usize = 8;
    const EACH: usize = 6;
    on_each_engine(async |database| {
        let stores = [open(database).await, open(database).await];
        let track = created(&stores[0]).await;
        let together = Arc::new(Barrier::new(WRITERS));
        let mut tasks = JoinSet::new();
        for at in 0..WRITERS {
            let (tracks, together) = (stores[at % 2].tracks.clone(), together.clone());
            tasks.spawn(async move {
                together.wait().await;
                let mut seq = 0;
                for round in 0..EACH {
                    let events = [resumed(&format!("{at}-{round}")), resumed(&format!("{at}-{round}"))];
                    loop {
                        match tracks.append(track, &append(seq, &events, None)).await.unwrap() {
                            Appended::Stored(stored) => break seq = stored[1].seq,
                            Appended::Behind { last_seq } => {
                                assert!(last_seq > seq);
                                seq = last_seq;
                            }
                            Appended::Fenced => panic!("there is no claim"),
                        }
                    }
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        let log = whole_log(&stores[1], track).await;
        assert_eq!(log.len(), WRITERS * EACH * 2);
        assert!(log.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        assert!(log.chunks(2).all(|pair| pair[0].event == pair[1].event), "both or none, next to each other");
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_events_come_in_short_pages() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        let mut seq = 0;
        for length in [EVENT_BYTES - 100, 10, EVENT_BYTES - 100, EVENT_BYTES - 100, 10, 10] {
            seq = appended(&tracks, track, &append(seq, &[resumed(&"x".repeat(length))], None)).await;
        }
        let page = tracks.log(track, 0, 100).await.unwrap();
        assert_eq!(page.len(), 3);
        let bytes: usize = page.iter().map(|it| serde_json::to_string(&it.event).unwrap().len()).sum();
        assert!(bytes <= LOG_PAGE_BYTES);
        assert_eq!(whole_log(&tracks, track).await.len(), 6);
        // One that is longer than a page, as another version may have written it.
        let sql = format!(
            "UPDATE masque_track_events SET event = '{{\"type\":\"x\",\"y\":\"{}\"}}' WHERE seq = 4",
            "y".repeat(LOG_PAGE_BYTES)
        );
        database.execute(&sql).await;
        assert_eq!(tracks.log(track, 3, 100).await.unwrap().len(), 1);
        assert_eq!(whole_log(&tracks, track).await.len(), 6);

        let code = async |events: &[Event]| {
            tracks.append(track, &append(seq, events, None)).await.unwrap_err().code()
        };
        assert_eq!(code(&[resumed(&"x".repeat(EVENT_BYTES))]).await, Code::TooLong);
        assert_eq!(code(&vec![Event::Finished; APPENDED + 1]).await, Code::TooLong);
        assert_eq!(
            appended(&tracks, track, &append(seq, &vec![Event::Finished; APPENDED], None)).await,
            1_006
        );
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_its_claim_fails() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let (track, other) = (created(&tracks).await, created(&tracks).await);
        let fence = claimed(&tracks, track, "T1").await;
        let events = [opened()];
        assert_eq!(appended(&tracks, track, &append(0, &events, Some(&fence))).await, 1);
        let fenced = async |track: Uuid, fence: &tracks::Fence| {
            let refused = tracks.append(track, &append(0, &events, Some(fence))).await.unwrap();
            assert_eq!(refused, Appended::Fenced, "also if it is behind");
        };
        fenced(other, &fence).await;
        fenced(track, &tracks::Fence { ticket: None, ..fence.clone() }).await;
        fenced(track, &tracks::Fence { ticket: Some(crate::id("t1")), ..fence.clone() }).await;
        fenced(track, &tracks::Fence { token: fence.token + 1, ..fence.clone() }).await;
        tracks.release(&fence).await.unwrap();
        fenced(track, &fence).await;
        let next = claimed(&tracks, track, "T1").await;
        assert!(next.token > fence.token);
        fenced(track, &fence).await;
        assert_eq!(appended(&tracks, track, &append(1, &events, Some(&next))).await, 2);
        assert_eq!(appended(&tracks, track, &append(2, &events, None)).await, 3, "people need no claim");
        assert_eq!(tracks.last_seq(other).await.unwrap(), Some(0));
        tracks.close().await;
    })
    .await;
}
