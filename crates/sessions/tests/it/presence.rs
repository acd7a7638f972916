//! Processes on one SQLite file know at once which of them are gone.

use std::path::{Path, PathBuf};

use agent::SessionStatus;
use sessions::{BeginOutcome, RunChange, Sessions};
use testkit::Database;
use uuid::Uuid;

use super::{begin, claim, created, last, said, takeover};
use crate::open;

/// The lock files beside a database.
fn lock_files(database: &Database) -> PathBuf {
    let path = Path::new(&database.location).canonicalize().unwrap();
    PathBuf::from(format!("{}-nodes", path.display()))
}

/// Leaves the file of a process that was killed: the system released its lock.
fn leave_file(database: &Database, node: Uuid) {
    std::fs::write(lock_files(database).join(node.to_string()), "").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_gone_once_its_lock_is_free() {
    let database = Database::sqlite();
    let store = open(&database).await;
    let (alive, gone, silent) = (Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7());
    let presence = store.announce(alive).await.unwrap();
    assert!(presence.is_some());
    leave_file(&database, gone);
    let is_over = async |node: Uuid| {
        let id = created(&store).await;
        begin(&store, id, &claim(&format!("{node}.1"))).await;
        let over = store.see(&[id]).await.unwrap()[0].lease.is_over;
        (id, over)
    };
    assert!(!is_over(alive).await.1);
    let (left, over) = is_over(gone).await;
    assert!(over);
    assert!(!is_over(silent).await.1, "a missing file proves nothing");
    assert!(!is_over(Uuid::nil()).await.1);

    // The next process cleans up, and what is gone stays known.
    let next = store.announce(Uuid::now_v7()).await.unwrap();
    assert_eq!(std::fs::read_dir(lock_files(&database)).unwrap().count(), 2);
    assert!(store.see(&[left]).await.unwrap()[0].lease.is_over);
    let began = store.recover_run(left, &claim("next.1")).await.unwrap();
    assert!(matches!(began, BeginOutcome::Started(started) if started.recovered), "{began:?}");
    drop((presence, next));
    assert_eq!(std::fs::read_dir(lock_files(&database)).unwrap().count(), 0);
    store.close().await;
}

/// A library of schema 7, in which a process of that release was killed in mid-run.
const EARLIER: &str = include_str!("../../../store/tests/it/earlier/schema_7.sql");

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_an_earlier_release_is_recovered() {
    let database = Database::sqlite();
    database.execute(EARLIER).await;
    let id = Uuid::now_v7();
    let sql = format!(
        "INSERT INTO sessions (id, persona, mode, status, last_seq, lease_node, lease_until, created_at, \
         updated_at) VALUES ('{id}', 'full', 'build', 'running', 1, 'old', '2099-01-01T00:00:00.000000Z', \
         '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'); \
         INSERT INTO session_log (session_id, seq, kind, body, created_at) VALUES ('{id}', 1, 'turn', \
         '{{\"type\":\"user\",\"id\":\"{id}\",\"content\":\"work\",\"created_at\":\"2026-01-01T00:00:00.000000Z\"}}', \
         '2026-01-01T00:00:00.000000Z')"
    );
    database.execute(&sql).await;
    let store = open(&database).await;
    let session = store.session(id).await.unwrap().unwrap();
    assert_eq!((session.status, last(&store, id).await), (SessionStatus::Running, 1));
    assert_eq!(store.recover_run(id, &claim("new.1")).await.unwrap(), BeginOutcome::Busy, "it may live");
    let over = takeover(&store, id, "new.1").await;
    let began = store.recover_run(id, &over).await.unwrap();
    assert!(matches!(began, BeginOutcome::Started(started) if started.recovered), "{began:?}");
    assert_eq!(store.turns(id).await.unwrap().len(), 1);
    store.append(id, "new.1", &[said("on")], &RunChange::default()).await.unwrap();
    assert!(store.append(id, "old", &[said("late")], &RunChange::default()).await.is_err());
    store.close().await;
}

/// Another program that writes keeps the holder from renewing: that time proves nothing about the holder.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_knows_that_no_process_can_write() {
    let database = Database::sqlite();
    let (store, other) = (open(&database).await, open(&database).await);
    let id = created(&store).await;
    begin(&store, id, &claim("alive.1")).await;
    let is_blocked = async |store: &Sessions| store.see(&[id]).await.unwrap()[0].lease.is_blocked;
    assert!(!is_blocked(&store).await);
    let location = database::Location::parse(&database.location).unwrap();
    let program = database::Engine::open(&location, false).await.unwrap();
    let writing = program.begin().await.unwrap();
    assert!(is_blocked(&store).await && is_blocked(&other).await);
    drop(writing);
    assert!(!is_blocked(&store).await && !is_blocked(&other).await);
    assert_eq!(store.see(&[id]).await.unwrap()[0].status, SessionStatus::Running);
    program.close().await;
    other.close().await;
    store.close().await;
}
