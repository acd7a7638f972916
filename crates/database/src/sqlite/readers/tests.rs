use std::sync::Barrier;

use tempfile::TempDir;

use super::super::statement::{column, first};
use super::*;

/// Both sides wait here: the reads that are under way, and the test.
static BEGUN: Barrier = Barrier::new(LONG_READS + 1);
static RELEASED: Barrier = Barrier::new(LONG_READS + 1);

/// Stops in the middle of a read until the test releases it.
fn read_and_wait(connection: &Connection, sql: &str, values: &[Parameter]) -> Result<Vec<i64>> {
    let found = column(connection, sql, values);
    BEGUN.wait();
    RELEASED.wait();
    found
}

async fn wait_at(barrier: &'static Barrier) {
    tokio::task::spawn_blocking(|| barrier.wait()).await.expect("the barrier opens");
}

#[tokio::test]
async fn cancelled_reads_keep_their_permits_and_leave_a_connection_free() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("a.db");
    let writer = Connection::open(&path).expect("a fresh file");
    writer.execute_batch("CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1), (2)").expect("rows");
    let readers = Arc::new(Readers::open(Address::of(&path)).expect("it opens"));
    let sql = "SELECT n FROM numbers ORDER BY n";
    let tasks: Vec<_> = (0..LONG_READS)
        .map(|_| {
            let readers = Arc::clone(&readers);
            tokio::spawn(async move { readers.later(sql.to_owned(), &[], read_and_wait).await })
        })
        .collect();
    wait_at(&BEGUN).await;
    for task in tasks {
        task.abort();
        assert!(task.await.expect_err("it was cancelled").is_cancelled());
    }
    assert_eq!(readers.long_reads.available_permits(), 0, "the reads go on");
    let count = readers.now(|connection| first::<i64>(connection, "SELECT count(*) FROM numbers", &[]));
    assert_eq!(count.expect("a connection is free"), Some(2));
    wait_at(&RELEASED).await;
    let read: Vec<i64> = readers.later(sql.to_owned(), &[], column).await.expect("the connections are free");
    assert_eq!(read, [1, 2]);
    let all = u32::try_from(LONG_READS).expect("a few");
    assert!(readers.long_reads.acquire_many(all).await.is_ok(), "every permit comes back");
}
