//! One connection to a SQLite file that writes on the caller's thread.
//!
//! A commit here survives the end of the process, not a power cut: it does not wait for the disk.
//! Nothing waits for another writer on the thread either, because the writer that holds the file
//! may need that very thread to finish.
//!
//! The same connection tells whether another one wrote. SQLite does not count a connection's own
//! commits as changes, so what is written here leaves caches valid.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::SecondsFormat;
use rusqlite::config::DbConfig;
use rusqlite::types::ToSqlOutput;
use rusqlite::{CachedStatement, Connection, OpenFlags, Row, ToSql};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

use crate::engine::{BUSY_TIMEOUT, SQLITE_MMAP_BYTES, Value, refuse_nul};
use crate::hot::{broken, closed};
use crate::{Error, Result};

/// Statements that stay prepared.
const STATEMENTS: usize = 64;
/// How long to wait before asking for the file again while another writer holds it: at first, and
/// at most.
const FIRST_WAIT: Duration = Duration::from_millis(1);
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// The connection; none once it is closed.
#[derive(Debug)]
pub struct DirectFile(Arc<Mutex<Option<Connection>>>);

impl DirectFile {
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(broken)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(broken)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(broken)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(broken)?;
        connection.pragma_update(None, "mmap_size", SQLITE_MMAP_BYTES).map_err(broken)?;
        // Otherwise unbinding a cached statement's parameters makes SQLite prepare it anew each time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(broken)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.busy_timeout(Duration::ZERO).map_err(broken)?;
        Ok(Self(Arc::new(Mutex::new(Some(connection)))))
    }

    /// Lets go of the file, as the hot readers do.
    pub async fn close(&self) {
        self.0.lock().await.take();
    }

    /// A number that differs from the last one if anybody but this connection wrote since; none
    /// while it is in use.
    pub fn data_version(&self) -> Result<Option<i64>> {
        let Ok(connection) = self.0.try_lock() else { return Ok(None) };
        let connection = connection.as_ref().ok_or_else(closed)?;
        let mut statement = connection.prepare_cached("PRAGMA data_version").map_err(broken)?;
        match statement.query_row([], |row| row.get(0)).map_err(broken) {
            Err(Error::Busy(_)) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Every row of a statement, where nobody writes just now. What this connection wrote is in its
    /// cache still; any other would have to read it again.
    pub fn rows_if_free<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Option<Result<Vec<T>>> {
        let connection = self.0.try_lock().ok()?;
        let connection = connection.as_ref()?;
        match prepare(connection, sql, values).and_then(|mut statement| collect(&mut statement, read)) {
            Err(Error::Busy(_)) => None,
            rows => Some(rows),
        }
    }

    pub async fn begin(&self) -> Result<DirectTransaction> {
        let connection = self.0.clone().lock_owned().await;
        let mut transaction = DirectTransaction { connection, is_open: false };
        let deadline = Instant::now() + BUSY_TIMEOUT;
        let mut wait = FIRST_WAIT;
        loop {
            match transaction.run("BEGIN IMMEDIATE", &[]) {
                Err(Error::Busy(_)) if Instant::now() < deadline => tokio::time::sleep(wait).await,
                begun => {
                    begun?;
                    transaction.is_open = true;
                    return Ok(transaction);
                }
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

/// A change that is under way; dropped without [`DirectTransaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct DirectTransaction {
    connection: OwnedMutexGuard<Option<Connection>>,
    is_open: bool,
}

impl DirectTransaction {
    fn statement(&self, sql: &str, values: &[Value]) -> Result<CachedStatement<'_>> {
        let connection = self.connection.as_ref().ok_or_else(closed)?;
        prepare(connection, sql, values)
    }

    pub fn run(&self, sql: &str, values: &[Value]) -> Result<u64> {
        let changed = self.statement(sql, values)?.raw_execute().map_err(broken)?;
        Ok(changed as u64)
    }

    pub fn texts(&self, sql: &str, values: &[Value]) -> Result<Vec<String>> {
        collect(&mut self.statement(sql, values)?, |row| row.get(0))
    }

    pub fn commit(mut self) -> Result<()> {
        self.run("COMMIT", &[])?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for DirectTransaction {
    fn drop(&mut self) {
        if self.is_open
            && let Err(error) = self.run("ROLLBACK", &[])
        {
            tracing::warn!(%error, "a change could not be undone");
        }
    }
}

/// A cached statement with its parameters bound. They are numbered in the order in which they
/// first occur: SQLite takes `$1` for a name.
pub(crate) fn prepare<'connection>(
    connection: &'connection Connection,
    sql: &str,
    values: &[Value],
) -> Result<CachedStatement<'connection>> {
    let mut statement = connection.prepare_cached(sql).map_err(broken)?;
    for (at, value) in values.iter().enumerate() {
        refuse_nul(value)?;
        debug_assert!(
            statement.parameter_name(at + 1).is_some_and(|name| name == format!("${}", at + 1)),
            "{sql}"
        );
        statement.raw_bind_parameter(at + 1, value).map_err(broken)?;
    }
    Ok(statement)
}

pub(crate) fn collect<T>(
    statement: &mut CachedStatement<'_>,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(broken)? {
        found.push(read(row).map_err(broken)?);
    }
    Ok(found)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(value) => ToSqlOutput::from(*value),
            Self::MaybeInt(value) => return value.to_sql(),
            Self::Text(value) | Self::Json(value) => ToSqlOutput::from(value.as_str()),
            Self::MaybeText(value) | Self::MaybeJson(value) => return value.to_sql(),
            Self::Tags(value) => {
                let failed = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
                ToSqlOutput::from(serde_json::to_string(value).map_err(failed)?)
            }
            Self::Time(value) => ToSqlOutput::from(value.to_rfc3339_opts(SecondsFormat::Micros, true)),
            Self::MaybeTime(Some(value)) => {
                ToSqlOutput::from(value.to_rfc3339_opts(SecondsFormat::Micros, true))
            }
            Self::Uuid(value) | Self::MaybeUuid(Some(value)) => {
                ToSqlOutput::from(value.hyphenated().to_string())
            }
            Self::MaybeTime(None) | Self::MaybeUuid(None) => ToSqlOutput::Owned(rusqlite::types::Value::Null),
        })
    }
}
