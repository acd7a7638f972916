//! Processes on one SQLite file know at once which of them are gone.

use std::path::{Path, PathBuf};

use testkit::{Database, on_postgres};
use tracks::Holder;
use uuid::Uuid;

use crate::{busy, created, id, open, taken};

/// The lock files beside a database.
fn lock_files(database: &Database) -> PathBuf {
    let path = Path::new(&database.location).canonicalize().unwrap();
    PathBuf::from(format!("{}-workers", path.display()))
}

fn count(database: &Database) -> usize {
    std::fs::read_dir(lock_files(database)).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_is_over_once_the_lock_of_its_process_is_free() {
    let database = Database::sqlite();
    let tracks = open(&database).await;
    let (alive, gone, silent) = (Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7());
    let presence = tracks.announce(alive).await.unwrap();
    assert!(presence.is_some());
    // The file of a process that was killed: the system released its lock.
    std::fs::write(lock_files(&database).join(gone.to_string()), "").unwrap();
    let track = created(&tracks).await;
    let claim = async |ticket: &str, node: Uuid| {
        tracks.claim(track, Some(&id(ticket)), &Holder { node, name: "w".to_owned() }).await.unwrap()
    };
    for (ticket, node) in [("T1", alive), ("T2", gone), ("T3", silent)] {
        taken(claim(ticket, node).await);
    }
    let claims = tracks.claims(track).await.unwrap();
    let over: Vec<bool> = claims.iter().map(|claim| claim.sighting.is_over).collect();
    assert_eq!(over, [false, true, false], "a missing file proves nothing");
    busy(claim("T1", silent).await);
    busy(claim("T3", alive).await);
    let next = taken(claim("T2", alive).await);
    assert_eq!(next.token, 2);

    // The next process ends the claims of those that are gone, and then removes their files.
    tracks.release(&next).await.unwrap();
    let left = taken(claim("T2", gone).await);
    let other = tracks.announce(Uuid::now_v7()).await.unwrap();
    assert_eq!(count(&database), 2);
    assert_eq!(tracks.claims(track).await.unwrap().len(), 2);
    assert!(!tracks.release(&left).await.unwrap());
    drop((presence, other));
    assert_eq!(count(&database), 0);
    tracks.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_needs_no_files() {
    on_postgres(async |database| {
        let tracks = open(database).await;
        assert!(tracks.announce(Uuid::now_v7()).await.unwrap().is_none());
        tracks.close().await;
    })
    .await;
}

/// Another program that writes keeps the holder from renewing: that time proves nothing about the holder.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_knows_that_no_process_can_write() {
    let database = Database::sqlite();
    let tracks = open(&database).await;
    let track = created(&tracks).await;
    crate::claimed(&tracks, track, "T1").await;
    let is_blocked = async || tracks.claims(track).await.unwrap()[0].sighting.is_blocked;
    assert!(!is_blocked().await);
    let writing = database.lock();
    assert!(is_blocked().await);
    drop(writing);
    assert!(!is_blocked().await);
    tracks.close().await;
}
