//! Where rows go in bulk: many at a time into SQLite, by `COPY` into PostgreSQL.

use database::Location;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, QueryBuilder, Sqlite};

use super::rows::{Engine, Field, Rows};

/// Values that one SQLite statement takes, with room to spare.
const SQLITE_VALUES: usize = 16_000;
/// Tables whose ids come from a sequence.
const SERIAL: [&str; 6] =
    ["agent_personas", "agent_parts", "agent_traits", "agent_skills", "agent_guardrails", "agent_revisions"];

pub(super) enum Target {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Target {
    pub(super) async fn open(location: &Location) -> Self {
        match location {
            Location::Sqlite(path) => {
                let options = SqliteConnectOptions::new()
                    .filename(path)
                    .journal_mode(SqliteJournalMode::Off)
                    .synchronous(SqliteSynchronous::Off)
                    .pragma("cache_size", "-524288")
                    .pragma("locking_mode", "EXCLUSIVE")
                    .disable_statement_logging();
                let mut connection = options.connect().await.expect("the file opens");
                connection.execute("BEGIN").await.expect("a transaction");
                Self::Sqlite(connection)
            }
            Location::Postgres(options) => {
                let mut connection = options.connect().await.expect("the server answers");
                connection.execute("BEGIN").await.expect("a transaction");
                Self::Postgres(connection)
            }
        }
    }

    pub(super) fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    pub(super) async fn write(&mut self, rows: Rows) {
        match self {
            Self::Sqlite(connection) => insert(connection, rows).await,
            Self::Postgres(connection) => copy(connection, rows).await,
        }
    }

    /// Makes everything durable and the database fit for the store.
    pub(super) async fn finish(self) {
        match self {
            Self::Sqlite(mut connection) => {
                for sql in [
                    "COMMIT",
                    "PRAGMA locking_mode = NORMAL",
                    "PRAGMA synchronous = FULL",
                    "PRAGMA journal_mode = WAL",
                ] {
                    connection.execute(sql).await.expect("the file is finished");
                }
                connection.close().await.expect("the file closes");
            }
            Self::Postgres(mut connection) => {
                for table in SERIAL {
                    let sql = format!(
                        "SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce((SELECT max(id) FROM {table}), 0) + 1, false)"
                    );
                    connection.execute(AssertSqlSafe(sql)).await.expect("the sequence moves on");
                }
                // A server that has run for a while would have done this by itself.
                for sql in ["COMMIT", "VACUUM ANALYZE"] {
                    connection.execute(sql).await.expect("the database is finished");
                }
                connection.close().await.expect("the server lets go");
            }
        }
    }
}

async fn insert(connection: &mut SqliteConnection, rows: Rows) {
    let Rows { table, columns, fields } = rows;
    let width = columns.len();
    let start = format!("INSERT INTO {table} ({}) ", columns.join(", "));
    let most = SQLITE_VALUES / width * width;
    let mut fields = fields.into_iter();
    while fields.len() > 0 {
        let count = fields.len().min(most) / width;
        let mut builder: QueryBuilder<Sqlite> = QueryBuilder::new(start.as_str());
        builder.push_values(0..count, |mut row, _| {
            for field in fields.by_ref().take(width) {
                match field {
                    Field::Null => row.push_bind(None::<String>),
                    Field::Int(value) => row.push_bind(value),
                    Field::Text(value) => row.push_bind(value),
                    Field::Tags(tags) => row.push_bind(serde_json::to_string(&tags).expect("tags are JSON")),
                };
            }
        });
        builder.build().execute(&mut *connection).await.expect("the rows are taken");
    }
}

async fn copy(connection: &mut PgConnection, rows: Rows) {
    let Rows { table, columns, fields } = rows;
    let mut text = String::new();
    for row in fields.chunks(columns.len()) {
        for (at, field) in row.iter().enumerate() {
            if at > 0 {
                text.push('\t');
            }
            match field {
                Field::Null => text.push_str("\\N"),
                Field::Int(value) => text.push_str(&value.to_string()),
                Field::Text(value) => push_escaped(&mut text, value),
                Field::Tags(tags) => push_escaped(&mut text, &array(tags)),
            }
        }
        text.push('\n');
    }
    let sql = format!("COPY {table} ({}) FROM STDIN", columns.join(", "));
    let mut copy = connection.copy_in_raw(&sql).await.expect("a copy begins");
    copy.send(text.into_bytes()).await.expect("the server takes the rows");
    copy.finish().await.expect("the rows are taken");
}

/// An array as PostgreSQL writes it.
fn array(tags: &[String]) -> String {
    let quoted = tags.iter().map(|tag| format!("\"{}\"", tag.replace('\\', "\\\\").replace('"', "\\\"")));
    format!("{{{}}}", quoted.collect::<Vec<_>>().join(","))
}

/// A value as `COPY` reads it.
fn push_escaped(text: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            _ => text.push(c),
        }
    }
}
