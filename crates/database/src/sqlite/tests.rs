use futures::TryStreamExt as _;
use persona::AsReport as _;
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

#[tokio::test]
async fn a_sealed_file_is_read_and_never_written() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    add(&mut write, "kept").await.expect("a row");
    write.commit().await.expect("a commit");
    assert!(!engine.is_read_only());
    engine.close().await;
    let path = directory.path().join("a.db");
    seal(&path).expect("sealed");
    let engine = Engine::open(&Location::Sqlite(path), true).await.expect("it opens");
    assert!(engine.is_read_only());
    assert_eq!(words(&engine).await, ["kept"]);
    let refused = engine.begin().await.expect_err("no transaction");
    assert_eq!(refused.code(), persona::Code::DatabaseReadOnly);
    assert_eq!(refused.remedies(), [persona::Remedy::CheckRights]);
    assert!(engine.begin_without_sync().await.is_err(), "neither do sessions write");
}

#[tokio::test]
async fn an_immutable_file_needs_no_files_beside_it() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("a 100% #1?.db");
    let engine = Engine::open(&Location::Sqlite(path.clone()), true).await.expect("a fresh file");
    engine.close().await;
    let uri = protected::immutable_uri(&path).expect("a path");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags).expect("it opens");
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("a mode");
    let beside = std::fs::read_dir(directory.path()).expect("a directory").count();
    assert_eq!(beside, 1, "in {mode} mode, SQLite creates nothing");
}

fn failure<T: std::fmt::Debug>(result: Result<T>) -> (persona::Code, Option<bool>) {
    let report = persona::AsReport::report(&result.expect_err("a failure"));
    (report.code, report.may_have_happened)
}

#[tokio::test]
async fn a_full_file_loses_nothing_that_was_committed() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    write.number("PRAGMA max_page_count = 8", &[]).await.expect("a limit");
    add(&mut write, "kept").await.expect("a row");
    write.commit().await.expect("a commit");
    let mut write = engine.begin().await.expect("a transaction");
    let refused = add(&mut write, &"lost".repeat(20_000)).await;
    assert_eq!(failure(refused), (persona::Code::DatabaseFull, Some(false)));
    drop(write);
    assert_eq!(words(&engine).await, ["kept"]);
    let mut write = engine.begin().await.expect("a transaction");
    write.number("PRAGMA max_page_count = 10000", &[]).await.expect("a limit");
    add(&mut write, "later").await.expect("a row");
    write.commit().await.expect("a commit");
    assert_eq!(words(&engine).await, ["kept", "later"]);
}

#[tokio::test]
async fn a_file_that_can_only_be_read_says_so() {
    let directory = TempDir::new().expect("a directory");
    let engine = open(&directory).await;
    let mut write = engine.begin().await.expect("a transaction");
    write.number("PRAGMA query_only = 1", &[]).await.expect("a setting");
    assert_eq!(failure(add(&mut write, "lost").await), (persona::Code::DatabaseReadOnly, Some(false)));
}
