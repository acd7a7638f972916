//! A connection that writes, and its transactions.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use futures::stream::{self, BoxStream, StreamExt as _};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags, Row, ffi};
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc};
use tokio::time::{Instant, sleep, timeout};

use super::statement::{collect, column, first, prepare};
use super::{Address, connect, on_blocking_thread};
use crate::engine::{BUSY_TIMEOUT, Parameter};
use crate::{Error, Result};

/// The pause between attempts while another process writes: the first, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(1);
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// The rows per batch of a stream, and the number of batches in flight.
const STREAM_ROWS: usize = 256;
const STREAM_BATCHES: usize = 2;

/// The failure that a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// Loss of power: a commit waits for the disk.
    PowerLoss,
    /// A killed process.
    Kill,
}

/// A connection that writes; one transaction at a time.
#[derive(Debug)]
pub struct Writer {
    /// None once it is closed.
    connection: Arc<Mutex<Option<Connection>>>,
    durability: Durability,
    is_read_only: bool,
}

impl Writer {
    pub(super) async fn open(address: &Address, create: bool, durability: Durability) -> Result<Self> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        // If several processes put a fresh file into WAL mode at once, SQLite refuses some of them
        // without waiting.
        let mut patience = Patience::new();
        loop {
            let configure = |connection| configure(connection, address, durability);
            match connect(address, flags).and_then(configure) {
                Err(Error::Busy(_)) if patience.is_left() => patience.wait().await,
                opened => {
                    let connection = opened?;
                    let is_read_only = connection.is_readonly(rusqlite::MAIN_DB)?;
                    let connection = Arc::new(Mutex::new(Some(connection)));
                    return Ok(Self { connection, durability, is_read_only });
                }
            }
        }
    }

    /// True if the file cannot be written.
    pub(super) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    pub(super) async fn close(&self) {
        self.connection.lock().await.take();
    }

    /// A number that changes when another connection writes. `None` while this one is in use.
    pub fn data_version(&self) -> Result<Option<i64>> {
        let Ok(connection) = self.connection.try_lock() else { return Ok(None) };
        let connection = connection.as_ref().ok_or(Error::Closed)?;
        match first(connection, "PRAGMA data_version", &[]) {
            Err(Error::Busy(_)) => Ok(None),
            answer => answer,
        }
    }

    /// Every row, unless the connection is in use. Its cache still has the pages that it wrote, which any
    /// other connection would have to read again.
    pub fn rows_if_free<T>(
        &self,
        sql: &str,
        values: &[Parameter],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Option<Result<Vec<T>>> {
        let connection = self.connection.try_lock().ok()?;
        let connection = connection.as_ref()?;
        match prepare(connection, sql, values).and_then(|mut statement| collect(&mut statement, read)) {
            Err(Error::Busy(_)) => None,
            rows => Some(rows),
        }
    }

    /// True if a transaction could begin at once: neither this process nor another one is writing.
    pub(super) fn can_begin(&self) -> bool {
        let Ok(connection) = Arc::clone(&self.connection).try_lock_owned() else { return false };
        OpenTransaction(connection).run("BEGIN IMMEDIATE", &[]).is_ok()
    }

    /// Begins a transaction, after this process's others and those of other processes.
    pub async fn begin(&self) -> Result<SqliteTransaction> {
        if self.is_read_only {
            // SQLite would begin, and fail at the first write.
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None).into());
        }
        let turn = timeout(BUSY_TIMEOUT, Arc::clone(&self.connection).lock_owned()).await;
        let open = OpenTransaction(turn.map_err(|waited| Error::Busy(waited.into()))?);
        let mut patience = Patience::new();
        loop {
            match open.run("BEGIN IMMEDIATE", &[]) {
                Err(Error::Busy(_)) if patience.is_left() => patience.wait().await,
                begun => {
                    begun?;
                    return Ok(SqliteTransaction { open: Some(open), durability: self.durability });
                }
            }
        }
    }
}

fn configure(connection: Connection, address: &Address, durability: Durability) -> Result<Connection> {
    let synchronous = match durability {
        Durability::PowerLoss => "FULL",
        Durability::Kill => "NORMAL",
    };
    connection.busy_timeout(Duration::ZERO)?;
    if !address.is_protected() {
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// Waits for other writers. SQLite's own waiting would hold the thread, which the other writer may
/// need to finish.
struct Patience {
    deadline: Instant,
    next: Duration,
}

impl Patience {
    fn new() -> Self {
        Self { deadline: Instant::now() + BUSY_TIMEOUT, next: FIRST_WAIT }
    }

    fn is_left(&self) -> bool {
        Instant::now() < self.deadline
    }

    async fn wait(&mut self) {
        sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST_WAIT);
    }
}

/// A connection in a transaction; rolls back when dropped, wherever that happens.
#[derive(Debug)]
struct OpenTransaction(OwnedMutexGuard<Option<Connection>>);

impl OpenTransaction {
    fn connection(&self) -> Result<&Connection> {
        self.0.as_ref().ok_or(Error::Closed)
    }

    fn run(&self, sql: &str, values: &[Parameter]) -> Result<u64> {
        let changed = prepare(self.connection()?, sql, values)?.raw_execute()?;
        Ok(changed as u64)
    }

    /// Sends every row's first column in batches. Stops when the receiver is dropped.
    fn send_rows(&self, sql: &str, sender: &mpsc::Sender<Result<Vec<String>>>) -> Result<()> {
        let mut statement = prepare(self.connection()?, sql, &[])?;
        let mut rows = statement.raw_query();
        let mut batch = Vec::new();
        while let Some(row) = rows.next()? {
            batch.push(row.get(0)?);
            if batch.len() == STREAM_ROWS && sender.blocking_send(Ok(std::mem::take(&mut batch))).is_err() {
                return Ok(());
            }
        }
        let _ = sender.blocking_send(Ok(batch));
        Ok(())
    }
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        // SQLite itself rolls back on a full disk, and a commit leaves nothing to roll back.
        let is_open = self.0.as_ref().is_some_and(|connection| !connection.is_autocommit());
        if is_open && let Err(error) = self.run("ROLLBACK", &[]) {
            tracing::warn!(%error, "a transaction could not be rolled back");
        }
    }
}

/// A transaction; dropped without [`SqliteTransaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct SqliteTransaction {
    /// None while a blocking thread has it.
    open: Option<OpenTransaction>,
    durability: Durability,
}

impl SqliteTransaction {
    /// A transaction that reads one state of the file on a connection of its own.
    pub(super) fn snapshot(connection: Connection) -> Result<Self> {
        let connection = Arc::new(Mutex::new(Some(connection)));
        let open = OpenTransaction(connection.try_lock_owned().map_err(|_| Error::Closed)?);
        open.run("BEGIN", &[])?;
        Ok(Self { open: Some(open), durability: Durability::Kill })
    }

    fn open(&self) -> Result<&OpenTransaction> {
        self.open.as_ref().ok_or(Error::Closed)
    }

    /// Runs a statement and returns how many rows it changed.
    pub fn run(&self, sql: &str, values: &[Parameter]) -> Result<u64> {
        self.open()?.run(sql, values)
    }

    pub fn texts(&self, sql: &str, values: &[Parameter]) -> Result<Vec<String>> {
        column(self.open()?.connection()?, sql, values)
    }

    pub(crate) fn first<T: FromSql>(&self, sql: &str, values: &[Parameter]) -> Result<Option<T>> {
        first(self.open()?.connection()?, sql, values)
    }

    /// Runs several statements without parameters.
    pub(crate) async fn run_script(&mut self, sql: &'static str) -> Result<()> {
        self.apart(move |open| Ok(open.connection()?.execute_batch(sql)?)).await
    }

    pub async fn commit(mut self) -> Result<()> {
        let committed = match self.durability {
            Durability::Kill => self.run("COMMIT", &[]).map(drop),
            Durability::PowerLoss => self.apart(|open| open.run("COMMIT", &[]).map(drop)).await,
        };
        committed.map_err(Error::in_commit)
    }

    /// Works on a blocking thread.
    async fn apart<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&OpenTransaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let open = self.open.take().ok_or(Error::Closed)?;
        let (open, done) = on_blocking_thread(move || {
            let done = work(&open);
            Ok((open, done))
        })
        .await?;
        self.open = Some(open);
        done
    }

    /// The first column of every row. A stream that is dropped before its end ends the transaction.
    pub(crate) fn stream(&mut self, sql: String) -> BoxStream<'_, Result<String>> {
        let (sender, receiver) = mpsc::channel(STREAM_BATCHES);
        let open = self.open.take();
        let task = tokio::task::spawn_blocking(move || {
            let open = open.ok_or(Error::Closed);
            if let Err(error) =
                open.as_ref().map_err(|_| Error::Closed).and_then(|open| open.send_rows(&sql, &sender))
            {
                let _ = sender.blocking_send(Err(error));
            }
            open.ok()
        });
        let batches =
            stream::unfold((receiver, task, self), async |(mut receiver, task, transaction)| match receiver
                .recv()
                .await
            {
                Some(batch) => Some((batch, (receiver, task, transaction))),
                None => {
                    transaction.open = task.await.ok().flatten();
                    None
                }
            });
        batches.map_ok(|batch| stream::iter(batch.into_iter().map(Ok))).try_flatten().boxed()
    }
}
