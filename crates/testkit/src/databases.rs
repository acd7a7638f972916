//! Fresh, empty databases, removed afterwards.

use std::io::Write as _;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Once;
use std::time::Duration;

use rusqlite::Connection;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection};
use tempfile::TempDir;

/// A server that tests may make databases on.
const POSTGRES_URL: &str = "MASQUE_TEST_POSTGRES_URL";

/// How long a test waits for other writers of its file.
const PATIENCE: Duration = Duration::from_secs(5);

/// A database of a test's own.
#[derive(Debug)]
pub struct Database {
    /// The value for `--db`.
    pub location: String,
    pub engine: &'static str,
    /// The place to remove it from at the end.
    _directory: Option<TempDir>,
}

impl Database {
    /// An empty SQLite file in a directory of its own.
    pub fn sqlite() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let location = directory.path().join("masque.db").display().to_string();
        Self { location, engine: "sqlite", _directory: Some(directory) }
    }

    /// A database of another test process, which removes it.
    pub fn at(location: &str) -> Self {
        let engine = if location.starts_with("postgres") { "postgres" } else { "sqlite" };
        Self { location: location.to_owned(), engine, _directory: None }
    }

    /// A SQLite file that the caller creates and removes.
    pub fn sqlite_at(path: &Path) -> Self {
        Self { location: path.display().to_string(), engine: "sqlite", _directory: None }
    }

    fn is_sqlite(&self) -> bool {
        self.engine == "sqlite"
    }

    /// The first column of every row as text, read past the store.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        if self.is_sqlite() {
            let connection = self.sqlite_connection();
            let mut statement = connection.prepare(sql).expect("a statement");
            let rows = statement.query_map([], |row| row.get(0)).expect("the file answers");
            return rows.collect::<rusqlite::Result<_>>().expect("texts");
        }
        let mut connection = self.postgres_connection().await;
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut connection).await.expect("the server answers")
    }

    /// Changes the database past the store.
    pub async fn execute(&self, sql: &str) {
        if self.is_sqlite() {
            self.sqlite_connection().execute_batch(sql).expect("the file takes it");
            return;
        }
        let mut connection = self.postgres_connection().await;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the server takes it");
    }

    fn sqlite_connection(&self) -> Connection {
        let connection = Connection::open(&self.location).expect("the file opens");
        connection.busy_timeout(PATIENCE).expect("a time-out");
        connection.pragma_update(None, "foreign_keys", true).expect("a setting");
        connection
    }

    async fn postgres_connection(&self) -> PgConnection {
        let options = PgConnectOptions::from_str(&self.location).expect("an address");
        // The schema of new libraries, and that of earlier ones.
        let options = options.options([("search_path", "masque,public")]);
        options.connect().await.expect("the server answers")
    }

    /// Locks a SQLite file against other writers until the value is dropped.
    pub fn lock(&self) -> Connection {
        let connection = self.sqlite_connection();
        connection.execute_batch("BEGIN IMMEDIATE").expect("the file is free");
        connection
    }

    /// Removes the database.
    pub async fn remove(self) {
        if self.is_sqlite() {
            return;
        }
        let name = self.location.rsplit('/').next().unwrap_or_default();
        let mut server = server().await.expect("the server that made the database");
        let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        server.execute(AssertSqlSafe(sql)).await.expect("the database can be dropped");
    }
}

async fn server() -> Option<PgConnection> {
    let url = std::env::var(POSTGRES_URL).ok()?;
    let options = PgConnectOptions::from_str(&url).expect("MASQUE_TEST_POSTGRES_URL is an address");
    Some(options.connect().await.expect("MASQUE_TEST_POSTGRES_URL answers"))
}

/// A new database on the test server; none, with a loud line, where there is no server. In CI a
/// skipped test must not look like a passed one.
pub async fn postgres() -> Option<Database> {
    let Some(mut server) = server().await else {
        let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!is_ci, "CI=true needs {POSTGRES_URL}; `cargo xtask test` provides it");
        static LOUD: Once = Once::new();
        LOUD.call_once(|| {
            // Written past the harness, which keeps what a passing test prints to itself.
            let line =
                format!("!!! {POSTGRES_URL} is not set: the PostgreSQL half of the tests is SKIPPED\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        });
        return None;
    };
    let name = format!("masque_test_{}", uuid::Uuid::now_v7().simple());
    server.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.expect("a new database");
    server.close().await.expect("the server lets go");
    let url = std::env::var(POSTGRES_URL).expect("it was there a moment ago");
    let base = url.rsplit_once('/').map_or(url.as_str(), |(base, _)| base);
    Some(Database { location: format!("{base}/{name}"), engine: "postgres", _directory: None })
}

/// Runs a test on a fresh PostgreSQL database. Without a server the test is skipped, with a line on
/// standard error; with `CI=true` that is a failure.
pub async fn on_postgres(test: impl AsyncFn(&Database)) {
    if let Some(database) = postgres().await {
        test(&database).await;
        database.remove().await;
    }
}

/// Runs a test on a fresh database of each engine.
pub async fn on_each_engine(test: impl AsyncFn(&Database)) {
    let sqlite = Database::sqlite();
    eprintln!("--- sqlite");
    test(&sqlite).await;
    sqlite.remove().await;
    on_postgres(async |database| {
        eprintln!("--- postgres");
        test(database).await;
    })
    .await;
}
