//! All or nothing: what is not committed never was.

use std::collections::BTreeMap;
use std::time::Duration;

use persona::{AsReport as _, Code};
use persona::{CharacterArc, Kind, Part, Persona};
use store::{Action, Change, Store};
use testkit::{Database, on_each_engine};

use crate::samples::{
    arc, begin, full_persona, held, keep, keep_pieces, link, linking, name, open, persona, stage, tone,
};

const TABLES: [&str; 9] = [
    "agent_personas",
    "agent_parts",
    "character_arcs",
    "arc_stages",
    "arc_stage_parts",
    "agent_persona_parts",
    "persona_arc",
    "agent_revisions",
    "library_search",
];

async fn counts(database: &Database) -> BTreeMap<&'static str, String> {
    let mut counts = BTreeMap::new();
    for table in TABLES {
        let rows = database.texts(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await;
        counts.insert(table, rows[0].clone());
    }
    counts
}

async fn found(store: &Store, query: &str) -> usize {
    store.search(query, &[], None, None).await.unwrap().items.len()
}

/// A full disk makes SQLite undo the whole transaction by itself, as this trigger does.
#[tokio::test(flavor = "multi_thread")]
async fn writing_goes_on_once_the_disk_has_room_again() {
    let database = Database::sqlite();
    let store = open(&database).await;
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON agent_revisions BEGIN SELECT RAISE(ROLLBACK, 'full'); END";
    database.execute(full).await;
    for _ in 0..3 {
        let refused = begin(&store).await.insert(&tone("warm"), Action::Create).await.unwrap_err();
        assert_eq!(refused.code(), Code::DatabaseFailed, "{refused}");
    }
    database.execute("DROP TRIGGER full").await;
    assert_eq!(keep(&store, &tone("warm")).await.meta.revision, 1);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_write_leaves_no_trace() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &full_persona("guide")).await;
        let before = counts(database).await;
        let mut changes = store.changes();

        let mut write = begin(&store).await;
        write.insert(&tone("xylophone"), Action::Create).await.unwrap();
        write.insert(&arc("other", vec![stage("one", 1, &["xylophone"])]), Action::Create).await.unwrap();
        let guide = held::<Persona>(&mut write, "guide").await;
        let changed = linking("renamed", &["xylophone"]);
        write.replace(&guide, &changed, Action::Rename).await.unwrap();
        let path = held::<CharacterArc>(&mut write, "path").await;
        write.remove(&path).await.unwrap();
        assert!(write.has(Kind::Persona, &name("renamed")).await.unwrap());
        drop(write);

        assert_eq!(counts(database).await, before);
        assert_eq!(found(&store, "xylophone").await, 0);
        assert!(store.get::<Persona>(&name("renamed")).await.unwrap().is_none());
        let guide = store.get::<Persona>(&name("guide")).await.unwrap().unwrap();
        assert_eq!((guide.entity, guide.meta.revision), (full_persona("guide"), 1));
        // The next writer starts afresh, and what was dropped is not announced.
        keep(&store, &tone("later")).await;
        let later = Change::Entity { kind: Kind::Part, name: name("later"), listed: true };
        let mut announced = Vec::new();
        while announced.last() != Some(&later) {
            let next = tokio::time::timeout(Duration::from_secs(60), changes.recv()).await;
            announced.push(next.unwrap().unwrap());
        }
        for dropped in ["xylophone", "other", "renamed"] {
            let of =
                |change: &Change| matches!(change, Change::Entity { name, .. } if name.as_str() == dropped);
            assert!(!announced.iter().any(of), "{announced:?}");
        }
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_write_leaves_no_trace() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &persona("guide")).await;
        let before = counts(database).await;
        for turn in 0..4 {
            let mut write = begin(&store).await;
            write.insert(&tone("new"), Action::Create).await.unwrap();
            let error = match turn {
                0 => write.insert(&tone("warm"), Action::Create).await.map(drop),
                1 => write.insert(&linking("half", &["new", "gone"]), Action::Create).await.map(drop),
                2 => {
                    let warm = held::<Part>(&mut write, "warm").await;
                    write.replace(&warm, &tone("cold"), Action::Rename).await.map(drop)
                }
                _ => {
                    let guide = held::<Persona>(&mut write, "guide").await;
                    let mut half = guide.stored.entity.clone();
                    half.parts = vec![link("new", 0, 0), link("gone", 1, 0)];
                    write.replace(&guide, &half, Action::Link).await.map(drop)
                }
            };
            let error = error.unwrap_err();
            let expected = if turn % 2 == 0 { Code::AlreadyExists } else { Code::ChangedMeanwhile };
            assert_eq!(error.code(), expected, "{turn}: {error}");
            drop(write);
            assert_eq!(counts(database).await, before, "{turn}");
        }
        keep(&store, &tone("new")).await;
        store.close().await;
    })
    .await;
}

/// A caller that ignores an error cannot commit the steps before it.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_write_cannot_be_committed() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        let before = counts(database).await;
        let mut write = begin(&store).await;
        write.insert(&linking("half", &["warm", "gone"]), Action::Create).await.unwrap_err();
        let committed = write.commit().await;
        assert_eq!(counts(database).await, before);
        assert_eq!(committed.unwrap_err().code(), Code::WriteFailed);
        store.close().await;
    })
    .await;
}

/// A task that is cancelled while it writes lets others write at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_writer_is_undone() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        let before = counts(database).await;
        for pause in 0..12 {
            let writer = store.clone();
            let task = tokio::spawn(async move {
                let mut write = begin(&writer).await;
                for at in 0..200 {
                    write.insert(&tone(&format!("tone-{at}")), Action::Create).await.unwrap();
                }
                write
            });
            tokio::time::sleep(Duration::from_millis(pause * 3)).await;
            task.abort();
            drop(task.await);
            assert_eq!(counts(database).await, before, "after {} ms", pause * 3);
        }
        keep(&store, &tone("tone-0")).await;
        store.close().await;
    })
    .await;
}
