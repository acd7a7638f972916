//! The hot path of SQLite: loading a persona, and reading a session.
//!
//! These two run on the caller's thread. sqlx hands every statement to a thread of its own, and
//! on a busy machine waking that thread and being woken again costs several times what the
//! statement does. The statements are short; everything else goes through sqlx.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use crate::direct::{collect, prepare};
use crate::engine::{BUSY_TIMEOUT, SQLITE_MMAP_BYTES, Value};
use crate::{Error, Result};

/// Loads that run at once.
const CONNECTIONS: usize = 4;

/// Read-only connections that are used on the caller's thread.
#[derive(Debug)]
pub struct HotReader {
    /// None once they are closed.
    loads: Vec<Mutex<Option<Connection>>>,
    next: AtomicUsize,
}

impl HotReader {
    pub fn open(path: &Path) -> Result<Self> {
        let slot = || Ok(Mutex::new(Some(connect(path)?)));
        let loads = (0..CONNECTIONS).map(|_| slot()).collect::<Result<_>>()?;
        Ok(Self { loads, next: AtomicUsize::new(0) })
    }

    /// Lets go of the file. Before the writer does: only then does closing the writer empty and
    /// remove the write-ahead log.
    pub fn close(&self) {
        for slot in &self.loads {
            slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// The first column of the first row of a statement with texts for parameters.
    pub fn text(&self, sql: &str, values: &[&str]) -> Result<Option<String>> {
        let connection = self.free();
        let connection = connection.as_ref().ok_or_else(closed)?;
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        statement.query_row(rusqlite::params_from_iter(values), |row| row.get(0)).optional().map_err(broken)
    }

    /// Every row of a statement.
    pub fn rows<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let connection = self.free();
        let connection = connection.as_ref().ok_or_else(closed)?;
        collect(&mut prepare(connection, sql, values)?, read)
    }

    /// A connection that nobody uses, or one that somebody will have used soon.
    fn free(&self) -> MutexGuard<'_, Option<Connection>> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        for at in 0..self.loads.len() {
            match self.loads[(start + at) % self.loads.len()].try_lock() {
                Ok(connection) => return connection,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.loads[start % self.loads.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(broken)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(broken)?;
    connection.pragma_update(None, "mmap_size", SQLITE_MMAP_BYTES).map_err(broken)?;
    // Otherwise unbinding a cached statement's parameters makes SQLite prepare it anew each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(broken)?;
    Ok(connection)
}

pub(crate) fn closed() -> Error {
    Error::Database(sqlx::Error::PoolClosed)
}

pub(crate) fn broken(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            Error::Busy(error.into())
        }
        _ => Error::Sqlite(error),
    }
}
