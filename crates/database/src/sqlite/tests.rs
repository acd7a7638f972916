use futures::TryStreamExt as _;
use tempfile::TempDir;

use super::*;
use crate::{Engine, Location, Transaction};

async fn open(directory: &TempDir) -> Engine {
    let location = Location::Sqlite(directory.path().join("a.db"));
    let engine = Engine::open(&location, true).await.expect("a fresh file");
    let mut write = engine.begin().await.expect("a transaction");
    write.run("CREATE TABLE words (word text NOT NULL UNIQUE)", &[]).await.expect("a table");
    write.commit().await.expect("a commit");
    engine
}

async fn add(write: &mut Transaction, word: &str) -> Result<u64> {
    write.run("INSERT INTO words VALUES ($1)", &[Parameter::from(word)]).await
}

async fn words(engine: &Engine) -> Vec<String> {
    engine.texts("SELECT word FROM words ORDER BY word", &[]).await.expect("words")
}

#[tokio::test]
async fn parameters_are_bound_by_number() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let values = [Parameter::from("first"), Parameter::from("second")];
    let text = engine.text("SELECT $2 || ' ' || $1 || ' ' || $2", &values).await.expect("a text");
    assert_eq!(text.as_deref(), Some("second first second"));
}

#[tokio::test]
async fn a_dropped_transaction_leaves_no_trace_and_frees_the_writer() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    add(&mut write, "lost").await.expect("a row");
    drop(write);
    let mut write = engine.begin().await.expect("another transaction");
    add(&mut write, "kept").await.expect("a row");
    write.commit().await.expect("a commit");
    assert_eq!(words(&engine).await, ["kept"]);
}

#[tokio::test]
async fn a_stream_hands_over_every_row_and_the_transaction_goes_on() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    for number in 0..1_000 {
        add(&mut write, &format!("{number:04}")).await.expect("a row");
    }
    let sql = "SELECT word FROM words ORDER BY word".to_owned();
    let rows: Vec<String> = write.stream(sql).try_collect().await.expect("rows");
    assert_eq!((rows.len(), rows[999].as_str()), (1_000, "0999"));
    add(&mut write, "last").await.expect("a row");
    write.commit().await.expect("a commit");
    assert_eq!(words(&engine).await.len(), 1_001);
}

#[tokio::test]
async fn a_stream_that_is_dropped_early_ends_its_transaction() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    for number in 0..2_000 {
        add(&mut write, &number.to_string()).await.expect("a row");
    }
    let mut rows = write.stream("SELECT word FROM words".to_owned());
    assert!(rows.try_next().await.expect("a row").is_some());
    drop(rows);
    assert!(matches!(add(&mut write, "more").await, Err(Error::Closed)));
    drop(write);
    // Waits until the reading thread has rolled back.
    let next = engine.begin().await.expect("the writer is free");
    drop(next);
    assert_eq!(words(&engine).await, [""; 0]);
}

#[tokio::test]
async fn duplicates_and_closed_files_are_errors() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    add(&mut write, "twice").await.expect("a row");
    let error = add(&mut write, "twice").await.expect_err("a duplicate");
    assert_eq!(error.violation(), Some(crate::Violation::Unique));
    drop(write);
    engine.close().await;
    assert!(engine.is_closed());
    assert!(matches!(engine.begin().await, Err(Error::Closed)));
    assert!(matches!(engine.number("SELECT 1", &[]).await, Err(Error::Closed)));
}
