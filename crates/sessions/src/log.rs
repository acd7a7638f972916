//! The rows of a log.

use std::sync::LazyLock;

use agent::{Entry, LogEntry, Note, Turn, TurnBody};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::work::Work;
use crate::{ENTRY_BYTES, LOG_PAGE, ROWS};
use crate::{Error, Result, Sessions};
use database::{Engine, Parameter};

const TURN: &str = "turn";
const NOTE: &str = "note";

/// The JSON of a turn. Its time and its provider's state have columns of their own.
#[derive(Serialize)]
struct StoredTurnRef<'turn> {
    id: Uuid,
    #[serde(flatten)]
    body: &'turn TurnBody,
}

#[derive(Deserialize)]
struct StoredTurn {
    id: Uuid,
    #[serde(flatten)]
    body: TurnBody,
}

/// A row of the log, to be written. Bodies are JSON, which has no NUL that PostgreSQL would refuse.
#[derive(Debug)]
pub(super) struct Row {
    kind: &'static str,
    body: String,
    provider_state: Option<String>,
    created_at: DateTime<Utc>,
}

impl Row {
    pub(super) fn of(entry: &Entry) -> Result<Self> {
        let row = match entry {
            Entry::Turn(turn) => Self {
                kind: TURN,
                body: serde_json::to_string(&StoredTurnRef { id: turn.id, body: &turn.body })?,
                provider_state: turn.provider_state.as_ref().map(serde_json::to_string).transpose()?,
                created_at: turn.created_at,
            },
            Entry::Note { at, note } => {
                Self { kind: NOTE, body: serde_json::to_string(note)?, provider_state: None, created_at: *at }
            }
        };
        let bytes = row.body.len() + row.provider_state.as_ref().map_or(0, String::len);
        if bytes > ENTRY_BYTES {
            return Err(Error::LongEntry { most: ENTRY_BYTES, length: bytes });
        }
        Ok(row)
    }

    pub(super) fn all(entries: &[Entry]) -> Result<Vec<Self>> {
        entries.iter().map(Self::of).collect()
    }
}

/// Inserts entries into a log, the first at `first`.
pub(super) async fn insert(work: &mut Work, session: Uuid, first: i64, rows: Vec<Row>) -> Result<()> {
    static STATEMENTS: Inserts =
        Inserts::new(|| inserts("session_log (session_id, seq, kind, body, provider_state, created_at)", 5));
    let mut seq = first;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut values = vec![Parameter::Uuid(session)];
        for row in rows.by_ref().take(ROWS) {
            values.extend([
                Parameter::Int(seq),
                Parameter::from(row.kind),
                Parameter::Text(row.body),
                Parameter::MaybeText(row.provider_state),
                Parameter::Time(row.created_at),
            ]);
            seq += 1;
        }
        let count = (values.len() - 1) / 5;
        work.run(&STATEMENTS[count - 1], &values).await?;
    }
    Ok(())
}

/// Statements that insert one row, two and so on, built once.
pub(super) type Inserts = LazyLock<Vec<String>>;

/// Statements that insert rows whose first column is `$1` and whose others follow row by row.
pub(super) fn inserts(into: &str, columns: usize) -> Vec<String> {
    (1..=ROWS).map(|rows| insert_rows(into, columns, rows)).collect()
}

fn insert_rows(into: &str, columns: usize, rows: usize) -> String {
    let row = |at: usize| {
        let columns: Vec<String> =
            (0..columns).map(|column| format!("${}", 2 + at * columns + column)).collect();
        format!("($1, {})", columns.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("INSERT INTO {into} VALUES {}", rows.join(", "))
}

/// A row of the log, as read.
struct Read {
    seq: i64,
    kind: String,
    body: String,
    provider_state: Option<String>,
    created_at: DateTime<Utc>,
}

impl Read {
    fn turn(self) -> Result<Turn> {
        let StoredTurn { id, body } = serde_json::from_str(&self.body)?;
        let provider_state = self.provider_state.as_deref().map(serde_json::from_str).transpose()?;
        Ok(Turn { id, created_at: self.created_at, body, provider_state })
    }

    fn entry(self) -> Result<LogEntry> {
        let seq = self.seq;
        let entry = if self.kind == TURN {
            Entry::Turn(self.turn()?)
        } else {
            let note: Note = serde_json::from_str(&self.body)?;
            Entry::Note { at: self.created_at, note }
        };
        Ok(LogEntry { seq, entry })
    }
}

const LOG: &str = "SELECT seq, kind, body, provider_state, created_at FROM session_log \
                   WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
const NOTES: &str = "SELECT seq, kind, body, provider_state, created_at FROM session_log \
                     WHERE session_id = $1 AND kind = 'note' ORDER BY seq";
const TURNS: &str = "SELECT seq, kind, body, provider_state, created_at FROM session_log \
                     WHERE session_id = $1 AND kind = 'turn' ORDER BY seq";

impl Sessions {
    /// Entries of a session's log after a place, in order, at most 1,000.
    pub async fn log(&self, session: Uuid, after: i64, limit: usize) -> Result<Vec<LogEntry>> {
        let limit = i64::try_from(limit.min(LOG_PAGE)).unwrap_or(i64::MAX);
        let values = [Parameter::Uuid(session), Parameter::Int(after), Parameter::Int(limit)];
        self.log_rows(LOG, &values).await?.into_iter().map(Read::entry).collect()
    }

    /// All turns of a session, with the state of their providers.
    pub async fn turns(&self, session: Uuid) -> Result<Vec<Turn>> {
        let rows = self.log_rows(TURNS, &[Parameter::Uuid(session)]).await?;
        rows.into_iter().map(Read::turn).collect()
    }

    /// All notes of a session.
    pub async fn notes(&self, session: Uuid) -> Result<Vec<Note>> {
        let rows = self.log_rows(NOTES, &[Parameter::Uuid(session)]).await?;
        rows.into_iter().map(|row| Ok(serde_json::from_str(&row.body)?)).collect()
    }

    async fn log_rows(&self, sql: &'static str, values: &[Parameter]) -> Result<Vec<Read>> {
        match self.engine() {
            Engine::Sqlite(sqlite) => {
                let rows = sqlite.rows_now(sql, values, |row| {
                    Ok(Read {
                        seq: row.get(0)?,
                        kind: row.get(1)?,
                        body: row.get(2)?,
                        provider_state: row.get(3)?,
                        created_at: time(row, 4)?,
                    })
                });
                Ok(rows?)
            }
            Engine::Postgres(postgres) => {
                let rows: Vec<PostgresRow> = postgres.rows(sql, values).await?;
                let read = |(seq, kind, body, provider_state, created_at): PostgresRow| Read {
                    seq,
                    kind,
                    body,
                    provider_state,
                    created_at,
                };
                Ok(rows.into_iter().map(read).collect())
            }
        }
    }
}

type PostgresRow = (i64, String, String, Option<String>, DateTime<Utc>);

/// A time that SQLite stores as text.
fn time(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<DateTime<Utc>> {
    let text = row.get_ref(column)?.as_str()?;
    DateTime::parse_from_rfc3339(text).map(|time| time.to_utc()).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}
