//! Reads tracks.

use chrono::{DateTime, Utc};
use conductor::{Phase, Track};
use database::{BuiltStatement, Column, Dialect, Parameter, Statement};
use persona::limits;
use serde::Deserialize;
use uuid::Uuid;

use crate::{Error, FOUND, Result, Tracks};

/// A track without its definition and its log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TrackRow {
    pub id: Uuid,
    pub title: String,
    /// The directory of the project.
    pub project: String,
    /// For lists, as of the last append. The log decides.
    pub phase: Phase,
    /// The number of the last event, 0 without one.
    pub last_seq: u64,
    pub created_at: DateTime<Utc>,
    /// The time of the last event.
    pub updated_at: DateTime<Utc>,
}

/// A track with its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrack {
    pub row: TrackRow,
    pub definition: Track,
}

/// A page of tracks and the cursor of the next one.
#[derive(Debug, Clone)]
pub struct TrackPage {
    pub items: Vec<TrackRow>,
    pub next: Option<String>,
}

/// A track `a` as JSON, as [`TrackRow`] reads it, with further fields.
fn document(dialect: Dialect, further: &[(&'static str, Column)]) -> String {
    let columns = [
        ("id", Column::Uuid),
        ("title", Column::Text),
        ("project", Column::Text),
        ("last_seq", Column::Int),
        ("created_at", Column::Time),
        ("updated_at", Column::Time),
    ];
    let columns = columns.iter().chain(further);
    let mut fields: Vec<(&str, String)> =
        columns.map(|(name, holds)| (*name, dialect.json_value(&format!("a.{name}"), *holds))).collect();
    fields.push(("phase", "a.status".to_owned()));
    dialect.text(&dialect.object(&fields))
}

static TRACK: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let document = document(dialect, &[("definition", Column::Text)]);
        format!("SELECT {document} FROM masque_tracks a WHERE a.id = $1")
    })
});

/// A row as [`StoredTrack`] is made of it.
#[derive(Deserialize)]
struct Stored {
    #[serde(flatten)]
    row: TrackRow,
    definition: String,
}

/// Ids that begin or end with digits, the newest first.
static FIND: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let digits = format!("replace({}, '-', '')", dialect.text("a.id"));
        let id = match dialect {
            Dialect::Sqlite => "json_quote(a.id)",
            Dialect::Postgres => "to_json(a.id)::text",
        };
        format!(
            "SELECT {id} FROM masque_tracks a WHERE {digits} LIKE $1 || '%' OR {digits} LIKE '%' || $1 \
             ORDER BY a.id DESC LIMIT $2"
        )
    })
});

impl Tracks {
    pub async fn get(&self, id: Uuid) -> Result<Option<StoredTrack>> {
        let found: Vec<Stored> = self.rows(&TRACK, &[Parameter::Uuid(id)]).await?;
        let Some(Stored { row, definition }) = found.into_iter().next() else { return Ok(None) };
        Ok(Some(StoredTrack { row, definition: serde_json::from_str(&definition)? }))
    }

    /// The number of a track's last event. `None` if there is no such track. Cheap.
    pub async fn last_seq(&self, id: Uuid) -> Result<Option<u64>> {
        let sql = "SELECT last_seq FROM masque_tracks WHERE id = $1";
        let seq = self.engine().short_number(sql, &[Parameter::Uuid(id)]).await?;
        Ok(seq.map(i64::cast_unsigned))
    }

    /// Tracks, of one project or of all, the most recently changed first. A track that moves to the front
    /// while a caller pages through the list is not shown again. The limit defaults to 50, at most 200.
    pub async fn list(
        &self,
        project: Option<&str>,
        cursor: Option<&str>,
        limit: Option<usize>,
    ) -> Result<TrackPage> {
        let limit = limit.unwrap_or(limits::DEFAULT_PAGE).clamp(1, limits::PAGE);
        let mut values = Vec::new();
        let mut conditions = vec!["TRUE".to_owned()];
        let mut bind = |value: Parameter| {
            values.push(value);
            format!("${}", values.len())
        };
        if let Some(project) = project {
            conditions.push(format!("a.project = {}", bind(Parameter::from(project))));
        }
        if let Some(cursor) = cursor {
            let (at, id) = parse_cursor(cursor).ok_or_else(|| Error::Cursor { cursor: cursor.to_owned() })?;
            let (at, id) = (bind(Parameter::Time(at)), bind(Parameter::Uuid(id)));
            conditions.push(format!("(a.updated_at, a.id) < ({at}, {id})"));
        }
        let conditions = conditions.join(" AND ");
        // One more than the page, which shows if there is a next one.
        let most = limit + 1;
        let statement = Statement::new(|dialect| {
            let document = document(dialect, &[]);
            format!(
                "SELECT {document} FROM masque_tracks a WHERE {conditions} \
                 ORDER BY a.updated_at DESC, a.id DESC LIMIT {most}"
            )
        });
        let mut items: Vec<TrackRow> = self.rows(&statement, &values).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| write_cursor(last.updated_at, last.id));
        Ok(TrackPage { items, next })
    }

    /// Ids that begin or end with these hexadecimal digits, dashes or not, the newest first, at most 100.
    /// Ids begin with the time and end at random, so a short end names one track.
    pub async fn find(&self, text: &str) -> Result<Vec<Uuid>> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(FOUND).unwrap_or(i64::MAX);
        self.rows(&FIND, &[Parameter::Text(digits.to_ascii_lowercase()), Parameter::Int(limit)]).await
    }
}

fn write_cursor(at: DateTime<Utc>, id: Uuid) -> String {
    format!("before:{}:{id}", at.timestamp_micros())
}

fn parse_cursor(cursor: &str) -> Option<(DateTime<Utc>, Uuid)> {
    let (at, id) = cursor.strip_prefix("before:")?.split_once(':')?;
    Some((DateTime::from_timestamp_micros(at.parse().ok()?)?, Uuid::parse_str(id).ok()?))
}
