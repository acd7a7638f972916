//! PostgreSQL, driven by sqlx.

use std::time::Duration;

use futures::stream::BoxStream;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, ConnectOptions as _, Connection as _, FromRow};
use uuid::Uuid;

use crate::engine::{Parameter, refuse_nul};
use crate::location::{APPLICATION, PostgresLocation};
use crate::{Error, Result, SchemaName};

mod listening;
pub use listening::{Listening, NOTIFY};
mod connection;
use connection::{BULK_TIMEOUT, BoundedConnection, Use};

/// The maximum number of connections for reading, and for writing.
const CONNECTIONS: u32 = 12;
/// An idle connection counts as alive for this long.
const UNTESTED: Duration = Duration::from_secs(1);
/// The longest wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections to a server.
#[derive(Debug, Clone)]
pub struct Postgres {
    /// Apart from the writers: a read inside a write must not wait for other writers.
    pub readers: PgPool,
    writers: PgPool,
    /// The schema of the library.
    pub schema: SchemaName,
    /// Part of the name of all connections of this value, and of no others: see [`connections_named`].
    pub connections: Uuid,
}

impl Postgres {
    pub(crate) async fn open(location: &PostgresLocation) -> Result<Self> {
        let mut location = location.clone();
        let schema = match location.schema.take() {
            Some(schema) => schema,
            None => in_time(find_library(&location.options)).await?,
        };
        location.schema = Some(schema.clone());
        let connections = Uuid::now_v7();
        let options = location.connect_options().application_name(&format!("{APPLICATION} {connections}"));
        in_time(check_path(&options, &schema)).await?;
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
        Ok(Self { readers: pool.connect_lazy_with(options), writers, schema, connections })
    }

    pub(crate) async fn begin(&self) -> Result<PostgresTransaction> {
        PostgresTransaction::begin(&self.writers, BEGIN).await
    }

    pub(crate) async fn snapshot(&self) -> Result<PostgresTransaction> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let mut transaction = PostgresTransaction::begin(&self.readers, begin).await?;
        transaction.0.bound = BULK_TIMEOUT;
        Ok(transaction)
    }

    async fn reader(&self) -> Result<BoundedConnection> {
        BoundedConnection::acquire(&self.readers).await
    }

    pub(crate) async fn text(&self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        let arguments = arguments(values)?;
        self.reader().await?.first(sql, arguments).await
    }

    pub(crate) async fn texts(&self, sql: &str, values: &[Parameter]) -> Result<Vec<String>> {
        let arguments = arguments(values)?;
        self.reader().await?.texts(sql, arguments).await
    }

    pub(crate) async fn number(&self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        let arguments = arguments(values)?;
        self.reader().await?.first(sql, arguments).await
    }

    /// Every row, with several columns.
    pub async fn rows<T>(&self, sql: &str, values: &[Parameter]) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let arguments = arguments(values)?;
        self.reader().await?.rows(sql, arguments).await
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.readers.is_closed()
    }

    pub(crate) async fn close(&self) {
        self.writers.close().await;
        self.readers.close().await;
    }
}

/// A condition: the server has connections of the [`Postgres::connections`] that the expression `id` names.
/// True for a process that is alive, even a paused one. The server closes those of a dead process at once,
/// unless its machine is gone too.
pub fn connections_named(id: &str) -> String {
    format!("EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = '{APPLICATION} ' || {id})")
}

async fn in_time<T>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    tokio::time::timeout(ACQUIRE_TIMEOUT, work).await.unwrap_or(Err(Error::TimedOut))
}

/// The schema of a library whose address names none: `masque`, or the one where an earlier version made
/// the library, which is on the role's own path.
async fn find_library(options: &PgConnectOptions) -> Result<SchemaName> {
    // A pool would retry until its time-out and lose the cause.
    let mut connection = options.connect().await?;
    let sql = format!(
        "SELECT CAST(n.nspname AS text) FROM pg_namespace n \
         WHERE (n.nspname = $1 OR n.nspname = ANY (current_schemas(false))) AND {} \
         ORDER BY n.nspname <> $1, array_position(current_schemas(false), n.nspname) LIMIT 1",
        has_migrations("n.oid")
    );
    let found: Option<String> = sqlx::query_scalar(AssertSqlSafe(sql))
        .bind(SchemaName::DEFAULT)
        .fetch_optional(&mut connection)
        .await?;
    connection.close().await?;
    Ok(found.map(SchemaName::existing).unwrap_or_default())
}

/// True if the schema with this `oid` has our record of migrations.
pub(crate) fn has_migrations(oid: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM pg_class c JOIN pg_attribute v ON v.attrelid = c.oid AND v.attname = 'version' \
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'applied_at' \
         WHERE c.relnamespace = {oid} AND c.relname = 'masque_migrations' AND c.relkind = 'r' \
         AND v.atttypid = 'bigint'::regtype AND a.atttypid = 'text'::regtype)"
    )
}

/// Fails if the server did not take our path: a pooler in between may ignore it, and every statement
/// would reach the tables of another schema.
async fn check_path(options: &PgConnectOptions, schema: &SchemaName) -> Result<()> {
    let mut connection = options.connect().await?;
    let found: String = sqlx::query_scalar("SHOW search_path").fetch_one(&mut connection).await?;
    connection.close().await?;
    if found == schema.quoted() || found == schema.as_str() {
        return Ok(());
    }
    Err(Error::PathIgnored { schema: schema.clone() })
}

/// Begins a transaction. The server itself gives up on a lock or a statement before the client does, so
/// that it frees its own locks. It also ends the transaction of a process that was paused, before those that
/// wait for its locks give up.
const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '14s'; \
                     SET LOCAL idle_in_transaction_session_timeout = '6s'";
const WITHOUT_BOUNDS: &str = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; \
                              SET LOCAL idle_in_transaction_session_timeout = 0";

/// A transaction; dropped without [`PostgresTransaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct PostgresTransaction(BoundedConnection);

impl PostgresTransaction {
    async fn begin(pool: &PgPool, begin: &'static str) -> Result<Self> {
        let mut connection = BoundedConnection::acquire(pool).await?;
        connection.used_for = Use::Transaction;
        connection.run_script(begin).await?;
        Ok(Self(connection))
    }

    /// Gives statements over whole tables the time that they need.
    pub(crate) async fn without_bounds(&mut self) -> Result<()> {
        self.0.bound = BULK_TIMEOUT;
        self.0.run_script(WITHOUT_BOUNDS).await
    }

    pub(crate) async fn commit(mut self) -> Result<()> {
        self.0.run_script("COMMIT").await.map_err(Error::in_commit)?;
        self.0.used_for = Use::Statements;
        Ok(())
    }

    pub(crate) async fn run(&mut self, sql: &str, values: &[Parameter]) -> Result<u64> {
        self.0.run(sql, arguments(values)?).await
    }

    pub(crate) async fn run_script(&mut self, sql: &'static str) -> Result<()> {
        self.0.run_script(sql).await
    }

    pub(crate) async fn text(&mut self, sql: &str, values: &[Parameter]) -> Result<Option<String>> {
        self.0.first(sql, arguments(values)?).await
    }

    pub(crate) async fn texts(&mut self, sql: &str, values: &[Parameter]) -> Result<Vec<String>> {
        self.0.texts(sql, arguments(values)?).await
    }

    pub(crate) async fn number(&mut self, sql: &str, values: &[Parameter]) -> Result<Option<i64>> {
        self.0.first(sql, arguments(values)?).await
    }

    pub(crate) fn stream(&mut self, sql: String) -> BoxStream<'_, Result<String>> {
        self.0.stream(sql)
    }
}

/// The parameters of a statement as sqlx takes them.
fn arguments(values: &[Parameter]) -> Result<PgArguments> {
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
        .map_err(|error| Error::from(sqlx::Error::Encode(error)))?;
    }
    Ok(arguments)
}

fn raw_json(text: &str) -> Result<sqlx::types::Json<serde_json::Value>> {
    Ok(sqlx::types::Json(serde_json::from_str(text)?))
}
