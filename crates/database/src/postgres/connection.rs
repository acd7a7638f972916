//! A pooled connection on which every operation has a bound.
//!
//! A server that has stopped, or a cut cable, answers nothing. A connection that let an operation
//! wait too long is in an unknown state: it is closed and never used again.

use std::time::Duration;

use futures::TryStreamExt as _;
use futures::stream::{BoxStream, StreamExt as _};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::{AssertSqlSafe, Executor as _, FromRow, PgConnection};
use tokio::runtime::Handle;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::ACQUIRE_TIMEOUT;
use crate::{Error, Result};

/// The longest wait for the answer to one statement.
pub(super) const OPERATION_TIMEOUT: Duration = Duration::from_secs(15);
/// The same for statements over a whole table: migrations, copies, pruning.
pub(super) const BULK_TIMEOUT: Duration = Duration::from_secs(600);
/// The longest wait for a connection to become clean after its last use.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// The state in which a connection goes back to its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Statements,
    /// Rolled back first, unless it was committed.
    Transaction,
}

#[derive(Debug)]
pub(super) struct BoundedConnection {
    /// `None` once an operation timed out or the connection broke.
    connection: Option<PoolConnection<sqlx::Postgres>>,
    pub(super) bound: Duration,
    pub(super) used_for: Use,
}

impl BoundedConnection {
    pub(super) async fn acquire(pool: &PgPool) -> Result<Self> {
        // The pool's own time-out does not cover a server that stops in the middle of a handshake.
        let acquired = timeout(ACQUIRE_TIMEOUT, pool.acquire()).await.map_err(|_| Error::TimedOut)?;
        Ok(Self { connection: Some(acquired?), bound: OPERATION_TIMEOUT, used_for: Use::Statements })
    }

    fn open(&mut self) -> Result<&mut PgConnection> {
        self.connection.as_deref_mut().ok_or(Error::Closed)
    }

    /// The result of an operation. Closes the connection if it cannot be used again.
    fn settle<T>(&mut self, done: std::result::Result<sqlx::Result<T>, Elapsed>) -> Result<T> {
        let result = match done {
            Ok(done) => done.map_err(Error::from),
            Err(_) => Err(Error::TimedOut),
        };
        let is_broken = matches!(result, Err(Error::TimedOut | Error::Lost(_)));
        if is_broken && let Some(connection) = self.connection.take() {
            // Closes the socket. The server rolls back when it notices.
            drop(connection.detach());
        }
        result
    }

    pub(super) async fn run(&mut self, sql: &str, arguments: PgArguments) -> Result<u64> {
        let bound = self.bound;
        let work = sqlx::query_with(AssertSqlSafe(sql), arguments).execute(self.open()?);
        let done = timeout(bound, work).await;
        Ok(self.settle(done)?.rows_affected())
    }

    pub(super) async fn run_script(&mut self, sql: &'static str) -> Result<()> {
        let bound = self.bound;
        let done = timeout(bound, sqlx::raw_sql(sql).execute(self.open()?)).await;
        self.settle(done).map(drop)
    }

    /// The first column of the first row, unless it is null.
    pub(super) async fn first<T>(&mut self, sql: &str, arguments: PgArguments) -> Result<Option<T>>
    where
        (Option<T>,): for<'r> FromRow<'r, PgRow>,
        T: Send + Unpin,
    {
        let bound = self.bound;
        let work = sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_optional(self.open()?);
        let done = timeout(bound, work).await;
        Ok(self.settle(done)?.flatten())
    }

    pub(super) async fn texts(&mut self, sql: &str, arguments: PgArguments) -> Result<Vec<String>> {
        let bound = self.bound;
        let work = sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_all(self.open()?);
        let done = timeout(bound, work).await;
        self.settle(done)
    }

    pub(super) async fn rows<T>(&mut self, sql: &str, arguments: PgArguments) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let bound = self.bound;
        let work = sqlx::query_as_with(AssertSqlSafe(sql), arguments).fetch_all(self.open()?);
        let done = timeout(bound, work).await;
        self.settle(done)
    }

    /// The first column of every row, as they arrive. Their number is unknown, so the caller bounds it.
    pub(super) fn stream(&mut self, sql: String) -> BoxStream<'_, Result<String>> {
        match self.open() {
            Ok(connection) => {
                sqlx::query_scalar(AssertSqlSafe(sql)).fetch(connection).map_err(Error::from).boxed()
            }
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
        }
    }
}

impl Drop for BoundedConnection {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(release(connection, self.used_for))),
            Err(_) => drop(connection.detach()),
        }
    }
}

/// Hands a connection back to its pool, which waits until it is ready. Closes it if that takes too long.
async fn release(mut connection: PoolConnection<sqlx::Postgres>, used_for: Use) {
    if used_for == Use::Transaction {
        let rolled_back = timeout(RELEASE_TIMEOUT, connection.execute("ROLLBACK")).await;
        if !matches!(rolled_back, Ok(Ok(_))) {
            drop(connection.detach());
            return;
        }
    }
    // Dropped in the middle, this closes the connection and frees its place.
    let _ = timeout(RELEASE_TIMEOUT, connection.return_to_pool()).await;
}
