//! Tracks are stored, listed, found and deleted.

use std::time::Duration;

use conductor::Phase;
use database::now;
use persona::{AsReport as _, Code, ErrorKind};
use testkit::{on_each_engine, on_postgres};
use tracks::{Error, NewTrack, TrackRow};
use uuid::Uuid;

use crate::{append, appended, claimed, created, id, new_track, open, opened, resumed};

#[tokio::test(flavor = "multi_thread")]
async fn a_track_comes_back_as_it_was_stored() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let new = new_track("Ünder — \"quotes\"", "/p", now());
        tracks.create(&new).await.unwrap();
        let stored = tracks.get(new.id).await.unwrap().unwrap();
        assert_eq!(stored.definition, new.definition);
        let row = TrackRow {
            id: new.id,
            title: "Ünder — \"quotes\"".to_owned(),
            project: "/p".to_owned(),
            phase: Phase::New,
            last_seq: 0,
            created_at: new.created_at,
            updated_at: new.created_at,
        };
        assert_eq!(stored.row, row);
        let again = tracks.create(&new).await.unwrap_err();
        assert!(matches!(again, Error::TrackExists { id } if id == new.id), "{again}");
        let later = new.created_at + Duration::from_secs(9);
        for phase in [Phase::Running, Phase::Waiting, Phase::Paused, Phase::Finished, Phase::Cancelled] {
            let seq = tracks.last_seq(new.id).await.unwrap().unwrap();
            let events = [resumed("é")];
            let change = tracks::Append { at: later, phase, ..append(seq, &events, None) };
            appended(&tracks, new.id, &change).await;
            let row = tracks.get(new.id).await.unwrap().unwrap().row;
            assert_eq!((row.phase, row.last_seq, row.updated_at), (phase, seq + 1, later));
        }
        assert_eq!(tracks.get(Uuid::now_v7()).await.unwrap(), None);
        assert_eq!(tracks.last_seq(Uuid::now_v7()).await.unwrap(), None);
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_begin_with_the_newest_and_go_on_where_they_ended() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let start = now();
        let mut ids = Vec::new();
        for at in 0..7_u64 {
            let project = if at % 2 == 0 { "/even" } else { "/odd" };
            // Two of them at the same time.
            let new = new_track("T", project, start + Duration::from_secs(at / 2));
            tracks.create(&new).await.unwrap();
            ids.push(new.id);
        }
        ids.reverse();
        let (mut listed, mut cursor) = (Vec::new(), None);
        loop {
            let page = tracks.list(None, cursor.as_deref(), Some(3)).await.unwrap();
            assert!(page.items.len() <= 3);
            listed.extend(page.items.iter().map(|row| row.id));
            let Some(next) = page.next else { break };
            cursor = Some(next);
        }
        assert_eq!(listed, ids);
        let odd = tracks.list(Some("/odd"), None, None).await.unwrap();
        assert_eq!(odd.items.iter().map(|row| row.id).collect::<Vec<_>>(), [ids[1], ids[3], ids[5]]);
        assert_eq!(odd.next, None);
        assert!(tracks.list(Some("/none"), None, None).await.unwrap().items.is_empty());
        // A change moves a track to the front.
        let change = tracks::Append { at: start + Duration::from_secs(60), ..append(0, &[], None) };
        appended(&tracks, ids[6], &change).await;
        assert_eq!(tracks.list(None, None, Some(1)).await.unwrap().items[0].id, ids[6]);
        for cursor in ["", "before:1", "before:x:y", "before:9999999999999999999:x"] {
            let refused = tracks.list(None, Some(cursor), None).await.unwrap_err();
            assert_eq!((refused.code(), refused.kind()), (Code::InvalidCursor, ErrorKind::Invalid));
        }
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_track_is_found_by_either_end_of_its_id() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let new = |id: &str| NewTrack { id: Uuid::parse_str(id).unwrap(), ..new_track("T", "/p", now()) };
        let one = new("0123abcd-0123-7567-89ab-cdef01234567");
        let two = new("0123abcd-9999-7567-89ab-cdef0123ffff");
        tracks.create(&one).await.unwrap();
        tracks.create(&two).await.unwrap();
        let check = async |text: &str, expected: &[Uuid]| {
            assert_eq!(tracks.find(text).await.unwrap(), expected, "{text:?}");
        };
        check("0123abcd", &[two.id, one.id]).await;
        check("0123ABCD-01", &[one.id]).await;
        check("FFFF", &[two.id]).await;
        check("ab-cdef01234567", &[one.id]).await;
        check(&two.id.to_string(), &[two.id]).await;
        for text in ["", "-", "%", "x", "_fff", "7777", "0123abcd0123756789abcdef012345670"] {
            check(text, &[]).await;
        }
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_track_goes_with_all_that_belongs_to_it() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let (track, other) = (created(&tracks).await, created(&tracks).await);
        for id in [track, other] {
            appended(&tracks, id, &append(0, &[opened()], None)).await;
            let fence = claimed(&tracks, id, "T1").await;
            let reservation = crate::costs::reservation(&fence, 5);
            assert_eq!(tracks.reserve(&reservation).await.unwrap(), tracks::Reserved::Granted);
            let busy = tracks.delete(id).await.unwrap_err();
            assert!(matches!(busy, Error::TrackBusy { id: of } if of == id), "{busy}");
            assert!(tracks.release(&fence).await.unwrap());
        }
        assert!(tracks.delete(track).await.unwrap());
        assert!(!tracks.delete(track).await.unwrap());
        assert_eq!(tracks.get(track).await.unwrap(), None);
        for table in ["masque_track_events", "masque_track_claims", "masque_track_costs"] {
            let left = database.texts(&format!("SELECT CAST(track_id AS text) FROM {table}")).await;
            assert_eq!(left, [other.to_string()], "{table}");
        }
        let accounts =
            database.texts("SELECT DISTINCT CAST(track_id AS text) FROM masque_track_accounts").await;
        assert_eq!(accounts, [other.to_string()]);
        let events = [opened()];
        let missing = tracks.append(track, &append(1, &events, None)).await.unwrap_err();
        assert!(matches!(missing, Error::UnknownTrack { .. }), "{missing}");
        let missing = tracks.claim(track, Some(&id("T1")), &crate::holder("w")).await.unwrap_err();
        assert_eq!((missing.code(), missing.kind()), (Code::UnknownTrack, ErrorKind::Missing));
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_stored_is_refused() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let refused = async |new: NewTrack| tracks.create(&new).await.unwrap_err().code();
        assert_eq!(refused(new_track("a\0b", "/p", now())).await, Code::NulCharacter);
        assert_eq!(refused(new_track("a", "/p\0", now())).await, Code::NulCharacter);
        assert_eq!(refused(new_track(&"é".repeat(401), "/p", now())).await, Code::TooLong);
        assert_eq!(refused(new_track("a", &"x".repeat(4097), now())).await, Code::TooLong);
        let mut large = new_track("a", "/p", now());
        large.definition.goal = "x".repeat(tracks::DEFINITION_BYTES);
        assert_eq!(refused(large).await, Code::TooLong);
        assert!(tracks.list(None, None, None).await.unwrap().items.is_empty());
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_hears_of_changes_of_others() {
    on_postgres(async |database| {
        let (tracks, other) = (open(database).await, open(database).await);
        let mut changes = other.changes().await.unwrap().unwrap();
        let track = created(&tracks).await;
        assert_eq!(changes.next().await.unwrap(), Some(track));
        let fence = claimed(&tracks, track, "T1").await;
        appended(&tracks, track, &append(0, &[opened()], Some(&fence))).await;
        assert_eq!(changes.next().await.unwrap(), Some(track));
        assert_eq!(other.last_seq(track).await.unwrap(), Some(1));
        // Nothing was appended, so there is no news.
        tracks.append(track, &append(0, &[opened()], None)).await.unwrap();
        tracks.release(&fence).await.unwrap();
        assert_eq!(changes.next().await.unwrap(), Some(track));
        assert_eq!(changes.next().await.unwrap(), None);
        tracks.close().await;
        other.close().await;
    })
    .await;
}
