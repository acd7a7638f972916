//! SQLite, driven by rusqlite: two writers and a few readers on one file.
//!
//! Short statements run on the caller's thread: passing one to another thread costs several times more
//! than running it. Only slow work goes to a blocking thread: commits that wait for the disk, scripts,
//! reads of unknown size.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use crate::engine::Parameter;
use crate::{Error, Result};

mod pages;
pub use pages::CopiedPages;
mod protected;
use protected::Address;
pub use protected::seal;
mod readers;
use readers::Readers;
mod statement;
use statement::{collect, column, first, prepare};
mod writer;
use writer::Durability;
pub use writer::{SqliteTransaction, Writer};

/// The number of prepared statements per connection.
const STATEMENTS: usize = 64;
/// The part of the file that is mapped into memory: as much as SQLite allows. The system reclaims unused
/// pages. With 256 MiB, a load from a file of 3.7 GB took twice as long as one from a small file, because
/// most pages were copied.
const MMAP_BYTES: i64 = 2 * 1024 * 1024 * 1024;

/// An open file.
#[derive(Debug)]
pub struct Sqlite {
    /// Writes the library; its commits survive loss of power.
    pub(crate) library: Writer,
    /// Writes sessions; its commits survive a killed process. It also detects writes of other
    /// connections: SQLite does not count a connection's own commits, so turns leave cached personas alone.
    pub sessions: Writer,
    readers: Readers,
    is_closed: AtomicBool,
    path: PathBuf,
}

impl Sqlite {
    /// Opens a file. One that cannot be written is opened read-only: then reads work, and writes fail.
    pub(crate) async fn open(path: &Path, create: bool) -> Result<Self> {
        match Self::open_to_write(path, create).await {
            Err(error) if refuses_writes(&error) && path.is_file() => {
                Self::open_to_read(path).await.map_err(|_| error)
            }
            opened => opened,
        }
    }

    async fn open_to_write(path: &Path, create: bool) -> Result<Self> {
        if !path.exists() {
            if !create {
                return Err(Error::NoDatabase(path.display().to_string()));
            }
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                std::fs::create_dir_all(parent)
                    .map_err(|source| Error::File { path: parent.display().to_string(), source })?;
            }
        }
        if create {
            create_private(path)
                .map_err(|source| Error::File { path: path.display().to_string(), source })?;
        }
        // First: it puts the file into WAL mode. The files beside it get its permissions.
        let address = Address::of(path);
        let library = Writer::open(&address, create, Durability::PowerLoss).await?;
        let sessions = Writer::open(&address, false, Durability::Kill).await?;
        let readers = Readers::open(address)?;
        let (path, is_closed) = (canonical(path), AtomicBool::new(false));
        Ok(Self { library, sessions, readers, is_closed, path })
    }

    async fn open_to_read(path: &Path) -> Result<Self> {
        let address = Address::protected(path)?;
        let library = Writer::open(&address, false, Durability::PowerLoss).await?;
        let sessions = Writer::open(&address, false, Durability::Kill).await?;
        let readers = Readers::open(address)?;
        let (path, is_closed) = (canonical(path), AtomicBool::new(false));
        Ok(Self { library, sessions, readers, is_closed, path })
    }

    /// True if the file cannot be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.library.is_read_only()
    }

    /// The file, without links on the way.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if no process is writing to the file.
    pub fn can_write_now(&self) -> bool {
        self.sessions.can_begin()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Closes the library's writer last: the last connection empties and removes the write-ahead log.
    pub(crate) async fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.readers.close();
        self.sessions.close().await;
        self.library.close().await;
    }

    /// The first column of the first row, read on the caller's thread.
    pub fn text_now(&self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        self.readers.now(|connection| first(connection, sql, values))
    }

    pub(crate) fn number_now(&self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        self.readers.now(|connection| first(connection, sql, values))
    }

    /// Every row, read on the caller's thread.
    pub fn rows_now<T>(
        &self,
        sql: &str,
        values: &[Parameter],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.readers.now(|connection| collect(&mut prepare(connection, sql, values)?, read))
    }

    pub(crate) async fn text(&self, sql: String, values: &[Parameter]) -> Result<Option<String>> {
        self.readers.later(sql, values, first).await
    }

    pub(crate) async fn texts(&self, sql: String, values: &[Parameter]) -> Result<Vec<String>> {
        self.readers.later(sql, values, column).await
    }

    pub(crate) async fn number(&self, sql: String, values: &[Parameter]) -> Result<Option<i64>> {
        self.readers.later(sql, values, first).await
    }

    /// A transaction that sees one state of the file throughout.
    pub(crate) fn snapshot(&self) -> Result<SqliteTransaction> {
        SqliteTransaction::snapshot(self.readers.another()?)
    }
}

/// The path without links on the way, or as it is if that cannot be known.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Creates an empty file that only the user can read. Leaves an existing file alone.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// True if a file was not opened because it, or its directory, cannot be written.
fn refuses_writes(error: &Error) -> bool {
    match error {
        Error::Sqlite(error) => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
        ),
        Error::File { source, .. } => matches!(
            source.kind(),
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem
        ),
        _ => false,
    }
}

fn connect(address: &Address, flags: OpenFlags) -> Result<Connection> {
    let flags = address.flags(flags) | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address.path(), flags)?;
    connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
    // Without it, clearing a cached statement's parameters makes SQLite prepare it again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime is shutting down.
        Err(_) => Err(Error::Closed),
    }
}

#[cfg(test)]
mod tests;
