//! The two engines behind one small surface: run a statement, fetch a text, fetch a number.
//!
//! The only file that branches on the engine to run something.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use sqlx::postgres::{PgArguments, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{
    Arguments as _, AssertSqlSafe, ConnectOptions as _, Connection as _, PgTransaction, Postgres, Sqlite,
    SqliteConnection, SqliteTransaction,
};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::dialect::Dialect;
use crate::direct::DirectFile;
use crate::error::is_in_the_way;
use crate::hot::HotReader;
use crate::{Error, Location, Result};

/// How long a writer waits for others that hold the SQLite file, or a file of personas. Whoever
/// waits is not first in line: eight processes that write ten times each, on a disk that takes
/// 200 ms for each, keep the last of them for a quarter of a minute.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Connections that read a SQLite file at once.
const SQLITE_READERS: u32 = 4;
/// Connections that read from PostgreSQL at once, and as many that write.
const POSTGRES_CONNECTIONS: u32 = 12;
/// How long a connection may lie idle and still be trusted to be alive.
const POSTGRES_UNTESTED: Duration = Duration::from_secs(1);
/// How long a request waits for a connection to PostgreSQL.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait before opening a file again that others are opening.
const OPEN_AGAIN: Duration = Duration::from_millis(5);
/// How much of a SQLite file is mapped into memory; the system gives back what is not in use.
pub(crate) const SQLITE_MMAP_BYTES: i64 = 256 * 1024 * 1024;

/// A parameter of a statement.
#[derive(Debug, Clone)]
pub enum Value {
    Int(i64),
    MaybeInt(Option<i64>),
    Text(String),
    MaybeText(Option<String>),
    /// JSON text.
    Json(String),
    MaybeJson(Option<String>),
    Tags(Vec<String>),
    Time(DateTime<Utc>),
    MaybeTime(Option<DateTime<Utc>>),
    Uuid(Uuid),
    MaybeUuid(Option<Uuid>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&persona::Name> for Value {
    fn from(value: &persona::Name) -> Self {
        Self::Text(value.as_str().to_owned())
    }
}

/// The engines' connections.
#[derive(Debug, Clone)]
pub enum Engine {
    Sqlite {
        /// One connection: SQLite has one writer at a time, and waiting here is fairer than there.
        writer: SqlitePool,
        readers: SqlitePool,
        hot: Arc<HotReader>,
        /// Writes that do not invalidate caches: sessions.
        direct: Arc<DirectFile>,
    },
    Postgres {
        /// Apart from the writers: whoever reads while writing must not wait for other writers.
        readers: PgPool,
        writers: PgPool,
    },
}

/// A transaction on either engine; dropped without [`Transaction::commit`], it leaves no trace.
#[derive(Debug)]
pub enum Transaction {
    Sqlite(SqliteTransaction<'static>),
    Postgres(PgTransaction<'static>),
}

/// Runs the same code on either engine's executor.
macro_rules! on {
    ($self:expr, $sqlite:pat => $sqlite_executor:expr, $postgres:pat => $postgres_executor:expr, $values:expr, |$arguments:ident, $executor:ident| $body:expr) => {
        match $self {
            $sqlite => {
                let $arguments = sqlite_arguments($values)?;
                let $executor = $sqlite_executor;
                $body
            }
            $postgres => {
                let $arguments = postgres_arguments($values)?;
                let $executor = $postgres_executor;
                $body
            }
        }
    };
}

/// Whether a connection can begin a transaction. Where SQLite itself undid the last one, as on a full
/// disk, there was nothing left to roll back, and the connection counts as in the middle of it for good.
async fn has_ended(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    if connection.is_in_transaction() {
        // A rollback may be on its way; this is answered after it.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

/// Opens a file. Of several that put a fresh one into WAL mode in the same moment, some are refused at
/// once, however long they would wait.
async fn connect_when_free<C>(connect: impl Fn() -> C) -> sqlx::Result<SqlitePool>
where
    C: Future<Output = sqlx::Result<SqlitePool>>,
{
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connect().await {
            Err(error) if is_in_the_way(&error) && Instant::now() < deadline => sleep(OPEN_AGAIN).await,
            connected => return connected,
        }
    }
}

impl Engine {
    pub async fn open(location: &Location, create: bool) -> Result<Self> {
        let failed = |source| Error::Open { location: location.to_string(), source };
        match location {
            Location::Sqlite(path) => Self::open_sqlite(path, create, failed).await,
            Location::Postgres(options) => {
                // Asked once by itself: a pool tries again until its time is up, and then no
                // longer knows what was wrong.
                let first = tokio::time::timeout(ACQUIRE_TIMEOUT, options.connect()).await;
                let first = first.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(failed)?;
                first.close().await.map_err(failed)?;
                let pool = PgPoolOptions::new()
                    .max_connections(POSTGRES_CONNECTIONS)
                    .acquire_timeout(ACQUIRE_TIMEOUT)
                    // A connection in steady use is not asked whether it lives: that would be a
                    // second round trip for every load.
                    .test_before_acquire(false)
                    .before_acquire(|connection, used| {
                        Box::pin(async move {
                            if used.idle_for > POSTGRES_UNTESTED {
                                connection.ping().await?;
                            }
                            Ok(true)
                        })
                    });
                let writers = pool.clone().connect_lazy_with((**options).clone());
                Ok(Self::Postgres { readers: pool.connect_lazy_with((**options).clone()), writers })
            }
        }
    }

    async fn open_sqlite(path: &Path, create: bool, failed: impl Fn(sqlx::Error) -> Error) -> Result<Self> {
        if !path.exists() {
            if !create {
                return Err(Error::NoDatabase(path.display().to_string()));
            }
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                std::fs::create_dir_all(parent)
                    .map_err(|source| Error::File { path: parent.display().to_string(), source })?;
            }
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(create)
            .busy_timeout(BUSY_TIMEOUT)
            .foreign_keys(true)
            .synchronous(SqliteSynchronous::Full)
            .pragma("mmap_size", SQLITE_MMAP_BYTES.to_string());
        let pool = |connections: u32| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(BUSY_TIMEOUT)
                .test_before_acquire(false)
                .idle_timeout(None)
                .max_lifetime(None)
                .before_acquire(|connection, _| Box::pin(has_ended(connection)))
        };
        // The writer comes first: it makes the file and puts it into WAL mode.
        let writer_options = options.clone().journal_mode(SqliteJournalMode::Wal);
        let writer = connect_when_free(|| pool(1).connect_with(writer_options.clone())).await;
        let writer = writer.map_err(&failed)?;
        let reading = options.create_if_missing(false).read_only(true);
        let readers = pool(SQLITE_READERS).connect_lazy_with(reading);
        let hot = Arc::new(HotReader::open(path)?);
        let direct = Arc::new(DirectFile::open(path)?);
        Ok(Self::Sqlite { writer, readers, hot, direct })
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite { .. } => Dialect::Sqlite,
            Self::Postgres { .. } => Dialect::Postgres,
        }
    }

    pub async fn begin(&self) -> Result<Transaction> {
        Ok(match self {
            Self::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Self::Postgres { writers, .. } => Transaction::Postgres(writers.begin().await?),
        })
    }

    /// The first column of the first row.
    pub async fn text(&self, sql: &'static str, values: &[Value]) -> Result<Option<String>> {
        on!(self, Self::Sqlite { readers, .. } => readers, Self::Postgres { readers, .. } => readers, values, |arguments, executor| {
            let row: Option<Option<String>> = sqlx::query_scalar_with(sql, arguments).fetch_optional(executor).await?;
            Ok(row.flatten())
        })
    }

    /// The first column of every row.
    pub async fn texts(&self, sql: String, values: &[Value]) -> Result<Vec<String>> {
        on!(self, Self::Sqlite { readers, .. } => readers, Self::Postgres { readers, .. } => readers, values, |arguments, executor| {
            Ok(sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_all(executor).await?)
        })
    }

    pub async fn number(&self, sql: String, values: &[Value]) -> Result<Option<i64>> {
        on!(self, Self::Sqlite { readers, .. } => readers, Self::Postgres { readers, .. } => readers, values, |arguments, executor| {
            let row: Option<Option<i64>> = sqlx::query_scalar_with(AssertSqlSafe(sql), arguments).fetch_optional(executor).await?;
            Ok(row.flatten())
        })
    }

    pub fn is_closed(&self) -> bool {
        match self {
            Self::Sqlite { writer, .. } => writer.is_closed(),
            Self::Postgres { readers, .. } => readers.is_closed(),
        }
    }

    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers, hot, direct } => {
                readers.close().await;
                hot.close();
                direct.close().await;
                writer.close().await;
            }
            Self::Postgres { readers, writers } => {
                writers.close().await;
                readers.close().await;
            }
        }
    }
}

impl Transaction {
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    pub async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await?,
            Self::Postgres(transaction) => transaction.commit().await?,
        }
        Ok(())
    }

    /// Runs a statement; answers how many rows it touched.
    pub async fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64> {
        let sql = AssertSqlSafe(sql);
        Ok(match self {
            Self::Sqlite(transaction) => {
                let arguments = sqlite_arguments(values)?;
                sqlx::query_with::<Sqlite, _>(sql, arguments)
                    .execute(&mut **transaction)
                    .await?
                    .rows_affected()
            }
            Self::Postgres(transaction) => {
                let arguments = postgres_arguments(values)?;
                sqlx::query_with::<Postgres, _>(sql, arguments)
                    .execute(&mut **transaction)
                    .await?
                    .rows_affected()
            }
        })
    }

    /// Runs several statements without parameters, as migrations are.
    pub async fn run_script(&mut self, sql: &'static str) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => {
                sqlx::raw_sql(sql).execute(&mut **transaction).await?;
            }
            Self::Postgres(transaction) => {
                sqlx::raw_sql(sql).execute(&mut **transaction).await?;
            }
        }
        Ok(())
    }

    pub async fn text(&mut self, sql: &str, values: &[Value]) -> Result<Option<String>> {
        let sql = AssertSqlSafe(sql);
        on!(self, Self::Sqlite(transaction) => &mut **transaction, Self::Postgres(transaction) => &mut **transaction, values, |arguments, executor| {
            let row: Option<Option<String>> = sqlx::query_scalar_with(sql, arguments).fetch_optional(executor).await?;
            Ok(row.flatten())
        })
    }

    pub async fn texts(&mut self, sql: &str, values: &[Value]) -> Result<Vec<String>> {
        let sql = AssertSqlSafe(sql);
        on!(self, Self::Sqlite(transaction) => &mut **transaction, Self::Postgres(transaction) => &mut **transaction, values, |arguments, executor| {
            Ok(sqlx::query_scalar_with(sql, arguments).fetch_all(executor).await?)
        })
    }

    pub async fn number(&mut self, sql: &str, values: &[Value]) -> Result<Option<i64>> {
        let sql = AssertSqlSafe(sql);
        on!(self, Self::Sqlite(transaction) => &mut **transaction, Self::Postgres(transaction) => &mut **transaction, values, |arguments, executor| {
            let row: Option<Option<i64>> = sqlx::query_scalar_with(sql, arguments).fetch_optional(executor).await?;
            Ok(row.flatten())
        })
    }
}

fn encoding(error: sqlx::error::BoxDynError) -> Error {
    Error::Database(sqlx::Error::Encode(error))
}

/// PostgreSQL cannot keep NUL, so no engine does.
pub(crate) fn refuse_nul(value: &Value) -> Result<()> {
    // In JSON it is an escape, unless its backslash is itself escaped.
    let escaped = |json: &str| {
        json.match_indices("\\u0000")
            .any(|(at, _)| json[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0)
    };
    let found = match value {
        Value::Text(text) | Value::MaybeText(Some(text)) => text.contains('\0'),
        Value::Json(json) | Value::MaybeJson(Some(json)) => escaped(json),
        Value::Tags(tags) => tags.iter().any(|tag| tag.contains('\0')),
        Value::Int(_)
        | Value::MaybeInt(_)
        | Value::MaybeText(None)
        | Value::MaybeJson(None)
        | Value::Time(_)
        | Value::MaybeTime(_)
        | Value::Uuid(_)
        | Value::MaybeUuid(_) => false,
    };
    if found {
        return Err(Error::Invalid("the text contains a NUL character; remove it".to_owned()));
    }
    Ok(())
}

fn sqlite_arguments(values: &[Value]) -> Result<SqliteArguments> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        refuse_nul(value)?;
        let time = |time: &DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Micros, true);
        match value {
            Value::Int(value) => arguments.add(*value),
            Value::MaybeInt(value) => arguments.add(*value),
            Value::Text(value) | Value::Json(value) => arguments.add(value.clone()),
            Value::MaybeText(value) | Value::MaybeJson(value) => arguments.add(value.clone()),
            Value::Tags(value) => arguments.add(serde_json::to_string(value)?),
            Value::Time(value) => arguments.add(time(value)),
            Value::MaybeTime(value) => arguments.add(value.as_ref().map(time)),
            Value::Uuid(value) => arguments.add(value.hyphenated().to_string()),
            Value::MaybeUuid(value) => arguments.add(value.map(|value| value.hyphenated().to_string())),
        }
        .map_err(encoding)?;
    }
    Ok(arguments)
}

pub fn postgres_arguments(values: &[Value]) -> Result<PgArguments> {
    let mut arguments = PgArguments::default();
    for value in values {
        refuse_nul(value)?;
        match value {
            Value::Int(value) => arguments.add(*value),
            Value::MaybeInt(value) => arguments.add(*value),
            Value::Text(value) => arguments.add(value),
            Value::MaybeText(value) => arguments.add(value),
            Value::Json(value) => arguments.add(raw_json(value)?),
            Value::MaybeJson(value) => arguments.add(value.as_deref().map(raw_json).transpose()?),
            Value::Tags(value) => arguments.add(value),
            Value::Time(value) => arguments.add(*value),
            Value::MaybeTime(value) => arguments.add(*value),
            Value::Uuid(value) => arguments.add(*value),
            Value::MaybeUuid(value) => arguments.add(*value),
        }
        .map_err(encoding)?;
    }
    Ok(arguments)
}

fn raw_json(text: &str) -> Result<sqlx::types::Json<serde_json::Value>> {
    Ok(sqlx::types::Json(serde_json::from_str(text)?))
}
