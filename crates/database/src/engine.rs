//! The two engines behind one small surface: run a statement, fetch texts, fetch a number.
//!
//! The only file that branches on the engine to run something.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::stream::BoxStream;
use uuid::Uuid;

use crate::dialect::Dialect;
use crate::postgres::{Postgres, PostgresTransaction};
use crate::sqlite::{Sqlite, SqliteTransaction};
use crate::statement::Statement;
use crate::{Error, Location, Result};

/// The longest wait of a writer for other processes that write the same file. Waiters are not served in
/// order: with eight processes that write ten times each, on a disk that takes 200 ms per write, the last
/// one waits 15 seconds.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// A parameter of a statement.
#[derive(Debug, Clone)]
pub enum Parameter {
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

impl From<i64> for Parameter {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Parameter {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&persona::Name> for Parameter {
    fn from(value: &persona::Name) -> Self {
        Self::Text(value.as_str().to_owned())
    }
}

/// An open database.
#[derive(Debug, Clone)]
pub enum Engine {
    Sqlite(Arc<Sqlite>),
    Postgres(Postgres),
}

/// A transaction on either engine; dropped without [`Transaction::commit`], it leaves no trace.
#[derive(Debug)]
pub enum Transaction {
    Sqlite(SqliteTransaction),
    Postgres(PostgresTransaction),
}

impl Engine {
    pub async fn open(location: &Location, create: bool) -> Result<Self> {
        let opened = match location {
            Location::Sqlite(path) => {
                Sqlite::open(path, create).await.map(|sqlite| Self::Sqlite(Arc::new(sqlite)))
            }
            Location::Postgres(location) => Postgres::open(location).await.map(Self::Postgres),
        };
        opened.map_err(|error| error.on_open(location))
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// The location with the schema that was found.
    pub fn located(&self, location: Location) -> Location {
        match (self, location) {
            (Self::Postgres(postgres), Location::Postgres(mut location)) => {
                location.schema = Some(postgres.schema.clone());
                Location::Postgres(location)
            }
            (_, location) => location,
        }
    }

    pub async fn begin(&self) -> Result<Transaction> {
        Ok(match self {
            Self::Sqlite(sqlite) => Transaction::Sqlite(sqlite.library.begin().await?),
            Self::Postgres(postgres) => Transaction::Postgres(postgres.begin().await?),
        })
    }

    /// Begins a transaction that survives a killed process, but not loss of power: SQLite does not wait
    /// for the disk when it commits.
    pub async fn begin_without_sync(&self) -> Result<Transaction> {
        Ok(match self {
            Self::Sqlite(sqlite) => Transaction::Sqlite(sqlite.sessions.begin().await?),
            Self::Postgres(postgres) => Transaction::Postgres(postgres.begin().await?),
        })
    }

    /// Begins a transaction that reads one state of the database throughout.
    pub async fn snapshot(&self) -> Result<Transaction> {
        Ok(match self {
            Self::Sqlite(sqlite) => Transaction::Sqlite(sqlite.snapshot()?),
            Self::Postgres(postgres) => Transaction::Postgres(postgres.snapshot().await?),
        })
    }

    /// The first column of the first row.
    pub async fn text(&self, sql: impl Into<String>, values: &[Parameter]) -> Result<Option<String>> {
        match self {
            Self::Sqlite(sqlite) => sqlite.text(sql.into(), values).await,
            Self::Postgres(postgres) => postgres.text(&sql.into(), values).await,
        }
    }

    /// The first column of the first row of a short statement. SQLite runs it on the caller's thread.
    pub async fn short_text(&self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        match self {
            Self::Sqlite(sqlite) => sqlite.text_now(sql, values),
            Self::Postgres(postgres) => postgres.text(sql, values).await,
        }
    }

    /// The same for a number.
    pub async fn short_number(&self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        match self {
            Self::Sqlite(sqlite) => sqlite.number_now(sql, values),
            Self::Postgres(postgres) => postgres.number(sql, values).await,
        }
    }

    /// The first column of every row.
    pub async fn texts(&self, sql: impl Into<String>, values: &[Parameter]) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(sqlite) => sqlite.texts(sql.into(), values).await,
            Self::Postgres(postgres) => postgres.texts(&sql.into(), values).await,
        }
    }

    /// The first column of every row of what sessions or tracks wrote. SQLite is read on the caller's thread,
    /// by the connection that wrote if it is free: its cache still has the pages.
    pub async fn written_texts(&self, statement: &Statement, values: &[Parameter]) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(sqlite) => {
                let rows = sqlite.sessions.rows_if_free(&statement.sqlite, values, |row| row.get(0));
                rows.unwrap_or_else(|| sqlite.rows_now(&statement.sqlite, values, |row| row.get(0)))
            }
            Self::Postgres(postgres) => postgres.texts(&statement.postgres, values).await,
        }
    }

    pub async fn number(&self, sql: impl Into<String>, values: &[Parameter]) -> Result<Option<i64>> {
        match self {
            Self::Sqlite(sqlite) => sqlite.number(sql.into(), values).await,
            Self::Postgres(postgres) => postgres.number(&sql.into(), values).await,
        }
    }

    /// True if this is a file that cannot be written. Reads work; writes fail.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Sqlite(sqlite) => sqlite.is_read_only(),
            Self::Postgres(_) => false,
        }
    }

    pub fn is_closed(&self) -> bool {
        match self {
            Self::Sqlite(sqlite) => sqlite.is_closed(),
            Self::Postgres(postgres) => postgres.is_closed(),
        }
    }

    pub async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => sqlite.close().await,
            Self::Postgres(postgres) => postgres.close().await,
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

    /// Lets statements over whole tables take their time. Others are bounded.
    pub async fn without_bounds(&mut self) -> Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(transaction) => transaction.without_bounds().await,
        }
    }

    pub async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await,
            Self::Postgres(transaction) => transaction.commit().await,
        }
    }

    /// Runs a statement and returns how many rows it touched.
    pub async fn run(&mut self, sql: &str, values: &[Parameter]) -> Result<u64> {
        match self {
            Self::Sqlite(transaction) => transaction.run(sql, values),
            Self::Postgres(transaction) => transaction.run(sql, values).await,
        }
    }

    /// Runs several statements without parameters.
    pub async fn run_script(&mut self, sql: &'static str) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => transaction.run_script(sql).await,
            Self::Postgres(transaction) => transaction.run_script(sql).await,
        }
    }

    pub async fn text(&mut self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        match self {
            Self::Sqlite(transaction) => transaction.first(sql, values),
            Self::Postgres(transaction) => transaction.text(sql, values).await,
        }
    }

    pub async fn texts(&mut self, sql: &str, values: &[Parameter]) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(transaction) => transaction.texts(sql, values),
            Self::Postgres(transaction) => transaction.texts(sql, values).await,
        }
    }

    pub async fn number(&mut self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        match self {
            Self::Sqlite(transaction) => transaction.first(sql, values),
            Self::Postgres(transaction) => transaction.number(sql, values).await,
        }
    }

    /// The first column of every row, one by one. A stream that is dropped early ends the
    /// transaction.
    pub fn stream(&mut self, sql: String) -> BoxStream<'_, Result<String>> {
        match self {
            Self::Sqlite(transaction) => transaction.stream(sql),
            Self::Postgres(transaction) => transaction.stream(sql),
        }
    }
}

/// Refuses NUL, which PostgreSQL cannot store.
pub(crate) fn refuse_nul(value: &Parameter) -> Result<()> {
    // In JSON it is an escape, unless its backslash is itself escaped.
    let escaped = |json: &str| {
        json.match_indices("\\u0000")
            .any(|(at, _)| json[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0)
    };
    let found = match value {
        Parameter::Text(text) | Parameter::MaybeText(Some(text)) => text.contains('\0'),
        Parameter::Json(json) | Parameter::MaybeJson(Some(json)) => escaped(json),
        Parameter::Tags(tags) => tags.iter().any(|tag| tag.contains('\0')),
        Parameter::Int(_)
        | Parameter::MaybeInt(_)
        | Parameter::MaybeText(None)
        | Parameter::MaybeJson(None)
        | Parameter::Time(_)
        | Parameter::MaybeTime(_)
        | Parameter::Uuid(_)
        | Parameter::MaybeUuid(_) => false,
    };
    if found {
        return Err(Error::Nul);
    }
    Ok(())
}
