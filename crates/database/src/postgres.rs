//! PostgreSQL, driven by sqlx.

use std::time::Duration;

use futures::TryStreamExt as _;
use futures::stream::{BoxStream, StreamExt as _};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Arguments as _, AssertSqlSafe, ConnectOptions as _, Connection as _, PgTransaction};

use crate::engine::{Parameter, refuse_nul};
use crate::{Error, Result};

/// The maximum number of connections for reading, and for writing.
const CONNECTIONS: u32 = 12;
/// An idle connection counts as alive for this long.
const UNTESTED: Duration = Duration::from_secs(1);
/// The longest wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(15);

/// Connections to a server.
#[derive(Debug, Clone)]
pub struct Postgres {
    /// Apart from the writers: a read inside a write must not wait for other writers.
    pub readers: PgPool,
    writers: PgPool,
}

impl Postgres {
    pub(crate) async fn open(options: &PgConnectOptions) -> Result<Self> {
        // Connects once without a pool, which would retry until its time-out and lose the cause.
        let first = tokio::time::timeout(ACQUIRE_TIMEOUT, options.connect()).await;
        first.unwrap_or(Err(sqlx::Error::PoolTimedOut))?.close().await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // Testing a connection in steady use would be a second round trip for every load.
            .test_before_acquire(false)
            .before_acquire(|connection, used| {
                Box::pin(async move {
                    if used.idle_for > UNTESTED {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            });
        let writers = pool.clone().connect_lazy_with(options.clone());
        Ok(Self { readers: pool.connect_lazy_with(options.clone()), writers })
    }

    pub(crate) async fn begin(&self) -> Result<PostgresTransaction> {
        Ok(PostgresTransaction(self.writers.begin().await?))
    }

    pub(crate) async fn snapshot(&self) -> Result<PostgresTransaction> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        Ok(PostgresTransaction(self.readers.begin_with(begin).await?))
    }

    pub(crate) async fn text(&self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        let arguments = arguments(values)?;
        let row =
            sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_optional(&self.readers).await?;
        Ok(row.flatten())
    }

    pub(crate) async fn texts(&self, sql: &str, values: &[Parameter]) -> Result<Vec<String>> {
        let arguments = arguments(values)?;
        Ok(sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_all(&self.readers).await?)
    }

    pub(crate) async fn number(&self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        let arguments = arguments(values)?;
        let row =
            sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_optional(&self.readers).await?;
        Ok(row.flatten())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.readers.is_closed()
    }

    pub(crate) async fn close(&self) {
        self.writers.close().await;
        self.readers.close().await;
    }
}

#[derive(Debug)]
pub struct PostgresTransaction(PgTransaction<'static>);

impl PostgresTransaction {
    pub(crate) async fn commit(self) -> Result<()> {
        Ok(self.0.commit().await?)
    }

    pub(crate) async fn run(&mut self, sql: &str, values: &[Parameter]) -> Result<u64> {
        let arguments = arguments(values)?;
        let done = sqlx::query_with(AssertSqlSafe(sql), arguments).execute(&mut *self.0).await?;
        Ok(done.rows_affected())
    }

    pub(crate) async fn run_script(&mut self, sql: &'static str) -> Result<()> {
        sqlx::raw_sql(sql).execute(&mut *self.0).await?;
        Ok(())
    }

    pub(crate) async fn text(&mut self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        let arguments = arguments(values)?;
        let row = sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_optional(&mut *self.0).await?;
        Ok(row.flatten())
    }

    pub(crate) async fn texts(&mut self, sql: &str, values: &[Parameter]) -> Result<Vec<String>> {
        let arguments = arguments(values)?;
        Ok(sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_all(&mut *self.0).await?)
    }

    pub(crate) async fn number(&mut self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        let arguments = arguments(values)?;
        let row = sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_optional(&mut *self.0).await?;
        Ok(row.flatten())
    }

    pub(crate) fn stream(&mut self, sql: String) -> BoxStream<'_, Result<String>> {
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch(&mut *self.0).map_err(Error::from).boxed()
    }
}

/// The parameters of a statement as sqlx takes them.
pub fn arguments(values: &[Parameter]) -> Result<PgArguments> {
    let mut arguments = PgArguments::default();
    for value in values {
        refuse_nul(value)?;
        match value {
            Parameter::Int(value) => arguments.add(*value),
            Parameter::MaybeInt(value) => arguments.add(*value),
            Parameter::Text(value) => arguments.add(value),
            Parameter::MaybeText(value) => arguments.add(value),
            Parameter::Json(value) => arguments.add(raw_json(value)?),
            Parameter::MaybeJson(value) => arguments.add(value.as_deref().map(raw_json).transpose()?),
            Parameter::Tags(value) => arguments.add(value),
            Parameter::Time(value) => arguments.add(*value),
            Parameter::MaybeTime(value) => arguments.add(*value),
            Parameter::Uuid(value) => arguments.add(*value),
            Parameter::MaybeUuid(value) => arguments.add(*value),
        }
        .map_err(|error| Error::Database(sqlx::Error::Encode(error)))?;
    }
    Ok(arguments)
}

fn raw_json(text: &str) -> Result<sqlx::types::Json<serde_json::Value>> {
    Ok(sqlx::types::Json(serde_json::from_str(text)?))
}
