//! PostgreSQL only: the connection that brings news is cut. Nothing cached is trusted until it is
//! back, and then everything may have changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use persona::Persona;
use store::{Change, Loaded, Store};
use testkit::{Database, on_postgres, postgres};
use tokio::sync::broadcast::Receiver;

use crate::samples::settle;
use crate::samples::{begin, change, keep, name, open, persona};

/// The server's processes that listen for a database's nodes.
async fn listeners(database: &Database) -> BTreeSet<String> {
    let sql = "SELECT CAST(pid AS text) FROM pg_stat_activity \
               WHERE datname = current_database() AND query LIKE 'LISTEN%' AND application_name LIKE 'masque %'";
    database.texts(sql).await.into_iter().collect()
}

async fn summary(store: &Store) -> Option<String> {
    store.load(&name("guide"), &[]).await.unwrap().unwrap().bundle.persona.summary.clone()
}

async fn write(store: &Store, text: &str) {
    change::<Persona>(store, "guide", |persona| persona.summary = Some(text.to_owned())).await;
}

async fn until_everything(changes: &mut Receiver<Change>) {
    let wait = async { while changes.recv().await.unwrap() != Change::Everything {} };
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("it listens again");
}

/// Two nodes on one database, and the process that listens for the second.
async fn nodes(database: &Database) -> (Store, Store, String) {
    let one = open(database).await;
    let before = listeners(database).await;
    let two = open(database).await;
    let after = listeners(database).await;
    let new: Vec<&String> = after.difference(&before).collect();
    assert_eq!(new.len(), 1, "{before:?} {after:?}");
    (one, two, new[0].clone())
}

/// Everything that ends a connection looks alike from here.
async fn cut(database: &Database, pid: &str) {
    assert_eq!(database.texts(&format!("SELECT CAST(pg_terminate_backend({pid}) AS text)")).await, ["true"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_restored() {
    on_postgres(async |database| {
        let (one, two, pid) = nodes(database).await;
        keep(&one, &persona("guide")).await;
        settle(&two, "guide").await;
        let mut changes = two.changes();
        cut(database, &pid).await;
        until_everything(&mut changes).await;
        let fresh = listeners(database).await;
        assert!(!fresh.is_empty() && !fresh.contains(&pid), "{fresh:?}");

        // Caching resumes, and news arrives as before.
        for round in 0..5 {
            settle(&two, "guide").await;
            let text = round.to_string();
            write(&one, &text).await;
            let start = Instant::now();
            while summary(&two).await.as_ref() != Some(&text) {
                assert!(start.elapsed() < Duration::from_secs(60), "round {round}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// Reads while the server takes no new connections: one that is open already is free soon.
async fn patiently(store: &Store) -> Arc<Loaded> {
    let start = Instant::now();
    loop {
        match store.load(&name("guide"), &[]).await {
            Ok(loaded) => return loaded.unwrap(),
            Err(error) => assert!(start.elapsed() < Duration::from_secs(60), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The connection stays cut for a while: reads go past the cache, each to the newest state.
#[tokio::test(flavor = "multi_thread")]
async fn while_it_is_cut_nothing_cached_is_trusted() {
    on_postgres(async |database| {
        // A second database from which the first can be closed to newcomers.
        let outside = postgres().await.expect("the server has room for another");
        let (one, two, pid) = nodes(database).await;
        keep(&one, &persona("guide")).await;
        settle(&two, "guide").await;
        let mut changes = two.changes();
        // The writer's connections: they are open before the door is closed.
        drop([begin(&one).await, begin(&one).await, begin(&one).await, begin(&one).await]);
        let of = database.location.rsplit('/').next().unwrap();
        outside.execute(&format!("ALTER DATABASE {of} ALLOW_CONNECTIONS false")).await;
        cut(&outside, &pid).await;
        // Until the cut is noticed the node cannot know better; that takes as long as news does.
        let start = Instant::now();
        while Arc::ptr_eq(&patiently(&two).await, &patiently(&two).await) {
            assert!(start.elapsed() < Duration::from_secs(60), "the cut goes unnoticed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for round in 0..30 {
            let text = format!("blind {round}");
            write(&one, &text).await;
            let first = patiently(&two).await;
            assert_eq!(first.bundle.persona.summary, Some(text), "at the first read");
            assert!(!Arc::ptr_eq(&first, &patiently(&two).await), "nothing comes from the cache");
        }
        outside.execute(&format!("ALTER DATABASE {of} ALLOW_CONNECTIONS true")).await;
        until_everything(&mut changes).await;
        settle(&two, "guide").await;
        assert_eq!(summary(&two).await.as_deref(), Some("blind 29"));
        one.close().await;
        two.close().await;
        outside.remove().await;
    })
    .await;
}

/// A node that writes sees its own writes, though its news cannot come back to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_deaf_node_reads_its_own_writes() {
    on_postgres(async |database| {
        let (_one, two, pid) = nodes(database).await;
        keep(&two, &persona("guide")).await;
        settle(&two, "guide").await;
        cut(database, &pid).await;
        for round in 0..20 {
            let text = round.to_string();
            write(&two, &text).await;
            assert_eq!(summary(&two).await, Some(text));
        }
        two.close().await;
    })
    .await;
}
