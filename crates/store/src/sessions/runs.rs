//! Running a session: who holds it, and what others want of whoever does.
//!
//! Whoever runs a session holds its lease and renews it now and then. A lease that is over belongs
//! to a process that is gone: anybody may take the session over.

use agent::{Entry, Mode, SessionStatus};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

use super::log::insert;
use super::{EXPIRED_RUNS, Row, Spelled, Statement, Work, approvals};
use crate::dialect::Dialect;
use crate::engine::Value;
use crate::state::now;
use crate::{Result, Store};

/// Who runs a session, and until when that is believed without a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// A name that no other process has, not even the same one started again.
    pub node: String,
    pub until: DateTime<Utc>,
}

/// What came of the wish to run a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Began {
    Started(Started),
    /// Somebody runs it, as is believed until then.
    Busy {
        until: DateTime<Utc>,
    },
    /// For the answer to an approval request.
    Waiting,
    /// There is nothing to resume.
    Idle,
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// The place of the last entry.
    pub seq: i64,
    pub mode: Mode,
    /// Somebody asked to cancel it while it waited, or before its process was gone.
    pub cancel_requested: bool,
    /// It was taken over from a process that is gone: calls may lack results.
    pub recovered: bool,
    /// What the caller of the run wants in place of what the persona says.
    pub max_tool_rounds: Option<u32>,
}

/// What others want of a session that this node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Control {
    pub session: Uuid,
    pub mode: Mode,
    pub cancel_requested: bool,
}

/// A session's row while a change holds it.
#[derive(Debug, Deserialize)]
pub(super) struct Locked {
    pub(super) status: SessionStatus,
    pub(super) mode: Mode,
    pub(super) seq: i64,
    until: Option<DateTime<Utc>>,
    pub(super) cancel_requested: bool,
}

impl Locked {
    /// Until when somebody is believed to run it.
    pub(super) fn held_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.until.filter(|until| self.status == SessionStatus::Running && *until > now)
    }
}

/// A flag that is kept as a number, in JSON.
fn flag(dialect: Dialect, column: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("json(iif({column}, 'true', 'false'))"),
        Dialect::Postgres => format!("{column} <> 0"),
    }
}

/// A session's row as [`Locked`] reads it.
pub(super) fn locked(dialect: Dialect) -> String {
    dialect.text(&dialect.object(&[
        ("status", "status".to_owned()),
        ("mode", "mode".to_owned()),
        ("seq", "last_seq".to_owned()),
        ("until", dialect.time_text("lease_until")),
        ("cancel_requested", flag(dialect, "cancel_requested")),
    ]))
}

static LOCK: Spelled = Spelled::new(|| {
    Statement::new(|dialect| {
        // A change of a SQLite file holds all of it.
        let lock = if dialect == Dialect::Postgres { " FOR UPDATE" } else { "" };
        format!("SELECT {} FROM sessions WHERE id = $1{lock}", locked(dialect))
    })
});

/// Takes hold of a session's row until the change ends.
pub(super) async fn lock(work: &mut Work, id: Uuid) -> Result<Option<Locked>> {
    let row = work.text(&LOCK, &[Value::Uuid(id)]).await?;
    Ok(row.map(|row| serde_json::from_str(&row)).transpose()?)
}

const BEGIN: &str = "UPDATE sessions SET status = 'running', lease_node = $1, lease_until = $2, \
                     last_seq = last_seq + $3, title = coalesce(title, $4), cancel_requested = 0, \
                     max_tool_rounds = NULL, updated_at = $5 WHERE id = $6";
const LIMIT: &str = "UPDATE sessions SET max_tool_rounds = $1 WHERE id = $2";

static RESUME: Spelled = Spelled::new(|| {
    Statement::new(|dialect| {
        let rounds = dialect.object(&[("max_tool_rounds", "max_tool_rounds".to_owned())]);
        let rounds = dialect.text(&rounds);
        format!(
            "UPDATE sessions SET status = 'running', lease_node = $1, lease_until = $2, updated_at = $3 \
             WHERE id = $4 RETURNING {rounds}"
        )
    })
});

/// What a run that goes on had been told when it began.
#[derive(Debug, Default, Deserialize)]
struct Resumed {
    max_tool_rounds: Option<u32>,
}

static RENEW: Spelled = Spelled::new(|| {
    Statement::new(|dialect| {
        let control = dialect.text(&dialect.object(&[
            ("session", "id".to_owned()),
            ("mode", "mode".to_owned()),
            ("cancel_requested", flag(dialect, "cancel_requested")),
        ]));
        let ids = match dialect {
            Dialect::Sqlite => "SELECT value FROM json_each($3)",
            Dialect::Postgres => "SELECT value::uuid FROM jsonb_array_elements_text($3::jsonb)",
        };
        format!(
            "UPDATE sessions SET lease_until = $1 WHERE lease_node = $2 AND id IN ({ids}) \
             AND status = 'running' RETURNING {control}"
        )
    })
});

static EXPIRED: Spelled = Spelled::new(|| {
    Statement::new(|dialect| {
        let id = dialect.text("id");
        format!(
            "SELECT {id} FROM sessions WHERE lease_until <= $1 AND status = 'running' \
             ORDER BY lease_until LIMIT {EXPIRED_RUNS}"
        )
    })
});

impl Store {
    /// Begins a run with what a user said, unless the session runs or waits. A run whose process is
    /// gone is taken over. The title is kept where there is none yet. What the caller wants of this
    /// run is kept with it, so that it also holds after a wait.
    pub async fn begin_run(
        &self,
        id: Uuid,
        lease: &Lease,
        entries: &[Entry],
        title: Option<&str>,
        max_tool_rounds: Option<u32>,
    ) -> Result<Began> {
        let rows = Row::all(entries)?;
        let mut work = Work::begin(self).await?;
        let now = now();
        let Some(row) = lock(&mut work, id).await? else { return Ok(Began::Missing) };
        if let Some(until) = row.held_until(now) {
            return Ok(Began::Busy { until });
        }
        if row.status == SessionStatus::Waiting {
            return Ok(Began::Waiting);
        }
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let values = [
            Value::from(lease.node.as_str()),
            Value::Time(lease.until),
            Value::Int(count),
            // PostgreSQL keeps no NUL in a text that is not JSON.
            Value::MaybeText(title.map(|title| title.replace('\0', "\u{fffd}"))),
            Value::Time(now),
            Value::Uuid(id),
        ];
        work.run(BEGIN, &values).await?;
        if let Some(rounds) = max_tool_rounds {
            work.run(LIMIT, &[Value::Int(i64::from(rounds)), Value::Uuid(id)]).await?;
        }
        insert(&mut work, id, row.seq + 1, rows).await?;
        work.commit().await?;
        let recovered = row.status == SessionStatus::Running;
        Ok(Began::Started(Started {
            seq: row.seq + count,
            mode: row.mode,
            cancel_requested: false,
            recovered,
            max_tool_rounds,
        }))
    }

    /// Goes on with a session that waits, once all its approval requests are answered, or with one
    /// whose process is gone.
    pub async fn resume_run(&self, id: Uuid, lease: &Lease) -> Result<Began> {
        let mut work = Work::begin(self).await?;
        let now = now();
        let Some(row) = lock(&mut work, id).await? else { return Ok(Began::Missing) };
        match row.status {
            SessionStatus::Idle => return Ok(Began::Idle),
            SessionStatus::Waiting if approvals::pending(&mut work, id).await? > 0 => {
                return Ok(Began::Waiting);
            }
            SessionStatus::Waiting => {}
            SessionStatus::Running => {
                if let Some(until) = row.held_until(now) {
                    return Ok(Began::Busy { until });
                }
            }
        }
        let node = Value::from(lease.node.as_str());
        let values = [node, Value::Time(lease.until), Value::Time(now), Value::Uuid(id)];
        let resumed = work.text(&RESUME, &values).await?;
        let resumed = resumed.map(|resumed| serde_json::from_str(&resumed)).transpose()?;
        let Resumed { max_tool_rounds } = resumed.unwrap_or_default();
        work.commit().await?;
        Ok(Began::Started(Started {
            seq: row.seq,
            mode: row.mode,
            cancel_requested: row.cancel_requested,
            recovered: row.status == SessionStatus::Running,
            max_tool_rounds,
        }))
    }

    /// Prolongs the leases of those of these sessions that a node runs; answers what others want of
    /// them. Any other that it once took and lost sight of is let go when its lease is over.
    pub async fn renew_leases(
        &self,
        node: &str,
        sessions: &[Uuid],
        until: DateTime<Utc>,
    ) -> Result<Vec<Control>> {
        let sessions = Value::Json(serde_json::to_string(sessions)?);
        let mut work = Work::begin(self).await?;
        let rows = work.texts(&RENEW, &[Value::Time(until), Value::from(node), sessions]).await?;
        work.commit().await?;
        Ok(rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?)
    }

    /// Asks whoever runs a session to stop; answers what the session was doing. One that waits is for
    /// the caller to end, unless it goes on first.
    pub async fn request_cancel(&self, id: Uuid) -> Result<Option<SessionStatus>> {
        let mut work = Work::begin(self).await?;
        let Some(row) = lock(&mut work, id).await? else { return Ok(None) };
        if row.status != SessionStatus::Idle {
            work.run("UPDATE sessions SET cancel_requested = 1 WHERE id = $1", &[Value::Uuid(id)]).await?;
            work.commit().await?;
        }
        Ok(Some(row.status))
    }

    /// Sessions whose process is gone: they run, but their lease is over. The oldest 1,000.
    pub async fn expired_runs(&self, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
        let found = self.session_texts(&EXPIRED, &[Value::Time(now)]).await?;
        Ok(found.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect())
    }
}
