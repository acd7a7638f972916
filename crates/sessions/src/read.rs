//! Reads sessions.

use agent::{Mode, Session, SessionStatus};
use chrono::{DateTime, Utc};
use persona::{Name, limits};
use uuid::Uuid;

use crate::{BuiltStatement, NANOS, Statement, status_word};
use crate::{Error, Result, Sessions};
use database::{Column, Dialect, Parameter};

/// The filter of a list of sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    pub persona: Option<Name>,
    pub parent: Parent,
    pub status: Option<SessionStatus>,
    /// Defaults to 50, at most 200.
    pub limit: Option<usize>,
    /// The cursor of the previous page.
    pub cursor: Option<String>,
}

/// The parent of the listed sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Parent {
    /// Only top-level sessions.
    #[default]
    Top,
    Any,
    Of(Uuid),
}

/// A page of sessions and the cursor of the next one.
#[derive(Debug, Clone)]
pub struct SessionPage {
    pub items: Vec<Session>,
    pub next: Option<String>,
}

/// A session `a` as JSON, as [`Session`] reads it.
pub(super) fn document(dialect: Dialect) -> String {
    let field = |name: &'static str, holds| (name, dialect.json_value(&format!("a.{name}"), holds));
    let renamed = |name: &'static str, column: &str| (name, format!("a.{column}"));
    let usage = dialect.object(&[
        renamed("inputTokens", "input_tokens"),
        renamed("outputTokens", "output_tokens"),
        renamed("cacheReadTokens", "cache_read_tokens"),
        renamed("cacheWriteTokens", "cache_write_tokens"),
    ]);
    let content = match dialect {
        Dialect::Sqlite => "json(p.content)",
        // Not jsonb, which has no NUL.
        Dialect::Postgres => "p.content::json",
    };
    let duty = match dialect {
        Dialect::Sqlite => "json(a.duty)",
        Dialect::Postgres => "a.duty::json",
    };
    let plan = dialect.object(&[
        ("content", content.to_owned()),
        ("status", "p.status".to_owned()),
        ("created_at", dialect.time_text("p.created_at")),
    ]);
    let plan = format!("(SELECT {plan} FROM session_plans p WHERE p.session_id = a.id)");
    dialect.text(&dialect.object(&[
        field("id", Column::Uuid),
        field("persona", Column::Text),
        renamed("scope", "persona_scope"),
        field("mode", Column::Text),
        field("status", Column::Text),
        field("model", Column::Text),
        field("overrides", Column::Json),
        field("root", Column::Text),
        field("edits", Column::Text),
        ("duty", duty.to_owned()),
        renamed("parent", "parent_id"),
        field("parent_call", Column::Text),
        field("depth", Column::Int),
        field("title", Column::Text),
        ("plan", dialect.nested(&plan)),
        field("answered_by", Column::Text),
        field("answered_since", Column::Time),
        ("usage", dialect.nested(&usage)),
        ("cost", format!("a.cost_nanos / {NANOS:.1}")),
        field("unpriced_calls", Column::Int),
        field("last_seq", Column::Int),
        field("created_at", Column::Time),
        field("updated_at", Column::Time),
    ]))
}

static SESSION: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| format!("SELECT {} FROM sessions a WHERE a.id = $1", document(dialect)))
});

/// The modes of a session and of all above it.
const MODES: &str = "WITH RECURSIVE above (mode, parent_id) AS (SELECT s.mode, s.parent_id FROM sessions s \
                     WHERE s.id = $1 UNION ALL SELECT p.mode, p.parent_id FROM sessions p \
                     JOIN above ON p.id = above.parent_id) SELECT mode FROM above";

static ALL_MODES: BuiltStatement = BuiltStatement::new(|| Statement::new(|_| MODES.to_owned()));

/// Sessions by state, delegates included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionCounts {
    pub idle: u64,
    pub running: u64,
    pub waiting: u64,
}

/// One line for each state: its word and the number of sessions.
static COUNTS: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|_| "SELECT a.status || ' ' || count(*) FROM sessions a GROUP BY a.status".to_owned())
});

impl Sessions {
    /// The number of sessions in each state.
    pub async fn counts(&self) -> Result<SessionCounts> {
        let found = self.session_texts(&COUNTS, &[]).await?;
        let of = |status| {
            let counted = found.iter().filter_map(|line| line.split_once(' '));
            let counted = counted.filter(|(word, _)| *word == status_word(status));
            counted.filter_map(|(_, count)| count.parse::<u64>().ok()).sum()
        };
        Ok(SessionCounts {
            idle: of(SessionStatus::Idle),
            running: of(SessionStatus::Running),
            waiting: of(SessionStatus::Waiting),
        })
    }

    /// The modes of a session and of all above it, its own first. Empty if there is no such session.
    pub async fn modes(&self, id: Uuid) -> Result<Vec<Mode>> {
        let found = self.session_texts(&ALL_MODES, &[Parameter::Uuid(id)]).await?;
        Ok(found
            .iter()
            .map(|mode| serde_json::from_value(mode.as_str().into()))
            .collect::<std::result::Result<_, _>>()?)
    }

    pub async fn session(&self, id: Uuid) -> Result<Option<Session>> {
        let found = self.session_texts(&SESSION, &[Parameter::Uuid(id)]).await?;
        Ok(found.first().map(|text| serde_json::from_str(text)).transpose()?)
    }

    /// Sessions, the most recently used or changed first. A session that moves to the front while a caller
    /// pages through the list is not shown again.
    pub async fn sessions(&self, filter: &SessionFilter) -> Result<SessionPage> {
        let limit = filter.limit.unwrap_or(limits::DEFAULT_PAGE).clamp(1, limits::PAGE);
        let mut values = Vec::new();
        let mut conditions = vec!["TRUE".to_owned()];
        let mut bind = |value: Parameter| {
            values.push(value);
            format!("${}", values.len())
        };
        if let Some(persona) = &filter.persona {
            conditions.push(format!("a.persona = {}", bind(Parameter::from(persona))));
        }
        match filter.parent {
            Parent::Top => conditions.push("a.parent_id IS NULL".to_owned()),
            Parent::Any => {}
            Parent::Of(parent) => conditions.push(format!("a.parent_id = {}", bind(Parameter::Uuid(parent)))),
        }
        if let Some(status) = filter.status {
            conditions.push(format!("a.status = {}", bind(Parameter::from(status_word(status)))));
        }
        if let Some(cursor) = &filter.cursor {
            let (at, id) = parse_cursor(cursor).ok_or_else(|| Error::Cursor { cursor: cursor.to_owned() })?;
            let (at, id) = (bind(Parameter::Time(at)), bind(Parameter::Uuid(id)));
            conditions.push(format!("(a.updated_at, a.id) < ({at}, {id})"));
        }
        let conditions = conditions.join(" AND ");
        // One more than the page, which shows if there is a next one.
        let most = limit + 1;
        let statement = Statement::new(|dialect| {
            let document = document(dialect);
            format!(
                "SELECT {document} FROM sessions a WHERE {conditions} \
                 ORDER BY a.updated_at DESC, a.id DESC LIMIT {most}"
            )
        });
        let found = self.session_texts(&statement, &values).await?;
        let mut items: Vec<Session> =
            found.iter().map(|text| serde_json::from_str(text)).collect::<std::result::Result<_, _>>()?;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| cursor(last.updated_at, last.id));
        Ok(SessionPage { items, next })
    }
}

fn cursor(at: DateTime<Utc>, id: Uuid) -> String {
    format!("before:{}:{id}", at.timestamp_micros())
}

fn parse_cursor(cursor: &str) -> Option<(DateTime<Utc>, Uuid)> {
    let (at, id) = cursor.strip_prefix("before:")?.split_once(':')?;
    Some((DateTime::from_timestamp_micros(at.parse().ok()?)?, Uuid::parse_str(id).ok()?))
}
