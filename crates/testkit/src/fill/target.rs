//! Bulk writes: one transaction into SQLite, `COPY` into PostgreSQL.

use database::Location;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use super::rows::{Engine, Field, Rows};

/// How the file is written: once, by one process, from the beginning.
const SQLITE_SETTINGS: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; \
                               PRAGMA cache_size = -524288; PRAGMA locking_mode = EXCLUSIVE; BEGIN";
const SQLITE_FINISH: &str = "COMMIT; PRAGMA locking_mode = NORMAL; PRAGMA synchronous = FULL; \
                             PRAGMA journal_mode = WAL";
/// Tables whose ids come from a sequence.
const SERIAL: [&str; 6] =
    ["agent_personas", "agent_parts", "agent_traits", "agent_skills", "agent_guardrails", "agent_revisions"];

pub(super) enum Target {
    Sqlite(Connection),
    Postgres(PgConnection),
}

impl Target {
    pub(super) async fn open(location: &Location) -> Self {
        match location {
            Location::Sqlite(path) => {
                let connection = Connection::open(path).expect("the file opens");
                connection.execute_batch(SQLITE_SETTINGS).expect("a transaction");
                Self::Sqlite(connection)
            }
            Location::Postgres(location) => {
                let mut connection = location.connect_options().connect().await.expect("the server answers");
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
            Self::Sqlite(connection) => insert(connection, rows),
            Self::Postgres(connection) => copy(connection, rows).await,
        }
    }

    /// Makes everything durable and the database fit for the store.
    pub(super) async fn finish(self) {
        match self {
            Self::Sqlite(connection) => {
                connection.execute_batch(SQLITE_FINISH).expect("the file is finished");
                connection.close().expect("the file closes");
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

fn insert(connection: &Connection, rows: Rows) {
    let Rows { table, columns, fields } = rows;
    let marks = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", columns.join(", "));
    let mut statement = connection.prepare_cached(&sql).expect("a statement");
    for row in fields.chunks(columns.len()) {
        statement.execute(params_from_iter(row.iter().map(value))).expect("the row is taken");
    }
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Int(value) => Value::Integer(*value),
        Field::Text(value) => Value::Text(value.clone()),
        Field::Tags(tags) => Value::Text(serde_json::to_string(tags).expect("tags are JSON")),
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
