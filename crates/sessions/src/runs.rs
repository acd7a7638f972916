//! Runs of a session: leases, and requests to the node that holds one.
//!
//! The node that runs a session holds its lease and renews it regularly. An expired lease belongs to a dead
//! process, so any other may take the session over.

use agent::{ApprovalPolicy, Entry, Mode, RunOptions, SessionStatus};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

use crate::log::insert;
use crate::{BuiltStatement, Row, Statement, Work, approvals, status_word};
use crate::{Result, Sessions};
use database::{Dialect, Parameter, now};

/// The hold of a node on a session, and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// A name that no other process has, not even the same one started again.
    pub node: String,
    pub until: DateTime<Utc>,
}

/// The outcome of an attempt to run a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginOutcome {
    Started(Started),
    /// Another node runs it. Its lease ends then.
    Busy {
        until: DateTime<Utc>,
    },
    /// The log does not end where the caller expects, so the caller has to read it again.
    Moved {
        seq: i64,
    },
    /// Waiting for an approval.
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
    /// A cancel was requested while it waited, or before its process died.
    pub cancel_requested: bool,
    /// Taken over from a dead process: calls may lack results.
    pub recovered: bool,
    /// The options that the run began with.
    pub options: RunOptions,
}

/// Requests to a session that this node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Control {
    pub session: Uuid,
    pub mode: Mode,
    pub cancel_requested: bool,
}

/// A locked row of a session.
#[derive(Debug, Deserialize)]
pub(super) struct Locked {
    pub(super) status: SessionStatus,
    mode: Mode,
    pub(super) seq: i64,
    until: Option<DateTime<Utc>>,
    cancel_requested: bool,
}

impl Locked {
    /// The end of the lease.
    pub(super) fn held_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.until.filter(|until| self.status == SessionStatus::Running && *until > now)
    }
}

/// A flag that is stored as a number, in JSON.
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

/// A session's row after an atomic change.
#[derive(Debug, Deserialize)]
pub(super) struct Changed {
    pub(super) mode: Mode,
    pub(super) seq: i64,
    pub(super) cancel_requested: bool,
}

/// A session's row as [`Changed`] reads it.
pub(super) fn changed(dialect: Dialect) -> String {
    dialect.text(&dialect.object(&[
        ("mode", "mode".to_owned()),
        ("seq", "last_seq".to_owned()),
        ("cancel_requested", flag(dialect, "cancel_requested")),
    ]))
}

static LOCK: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        // A write to a SQLite file locks the whole file.
        let lock = if dialect == Dialect::Postgres { " FOR UPDATE" } else { "" };
        format!("SELECT {} FROM sessions WHERE id = $1{lock}", locked(dialect))
    })
});

/// Locks a session's row until the change ends.
pub(super) async fn lock(work: &mut Work, id: Uuid) -> Result<Option<Locked>> {
    let row = work.text(&LOCK, &[Parameter::Uuid(id)]).await?;
    Ok(row.map(|row| serde_json::from_str(&row)).transpose()?)
}

/// Takes a session in the expected state, whose log ends where expected. It counts as used when the run
/// ends: moving it in the list twice would double the work.
static BEGIN: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        format!(
            "UPDATE sessions SET status = 'running', lease_node = $1, lease_until = $2, \
             last_seq = last_seq + $3, title = coalesce(title, $4), cancel_requested = 0, \
             max_tool_rounds = $5, approval_policy = $6 \
             WHERE id = $7 AND status = $8 AND last_seq = $9 RETURNING {}",
            changed(dialect)
        )
    })
});

static RESUME: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let options = dialect.text(&dialect.object(&[
            ("max_tool_rounds", "max_tool_rounds".to_owned()),
            ("policy", "approval_policy".to_owned()),
        ]));
        format!(
            "UPDATE sessions SET status = 'running', lease_node = $1, lease_until = $2, updated_at = $3 \
             WHERE id = $4 RETURNING {options}"
        )
    })
});

/// The options of a resumed run. Rows of older releases have no policy.
#[derive(Debug, Default, Deserialize)]
struct Resumed {
    max_tool_rounds: Option<u32>,
    policy: Option<ApprovalPolicy>,
}

static RENEW: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let control = dialect.text(&dialect.object(&[
            ("session", "id".to_owned()),
            ("mode", "mode".to_owned()),
            ("cancel_requested", flag(dialect, "cancel_requested")),
        ]));
        let ids = listed(dialect, 3);
        format!(
            "UPDATE sessions SET lease_until = $1 WHERE lease_node = $2 AND id IN ({ids}) \
             AND status = 'running' RETURNING {control}"
        )
    })
});

static EXPIRED: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let (id, ids) = (dialect.text("id"), listed(dialect, 2));
        format!(
            "SELECT {id} FROM sessions WHERE lease_until <= $1 AND id IN ({ids}) AND status = 'running' \
             ORDER BY id"
        )
    })
});

/// The ids of a JSON list at this place.
fn listed(dialect: Dialect, at: usize) -> String {
    match dialect {
        Dialect::Sqlite => format!("SELECT value FROM json_each(${at})"),
        Dialect::Postgres => format!("SELECT value::uuid FROM jsonb_array_elements_text(${at}::jsonb)"),
    }
}

impl Sessions {
    /// Begins a run with a user's message, unless the session runs or waits, or its log no longer ends at
    /// `after`, which the entries answer. Takes over a run whose process died. Stores the title if there is
    /// none yet. The options are stored with the run, so that they also hold after a wait.
    pub async fn begin_run(
        &self,
        id: Uuid,
        lease: &Lease,
        after: i64,
        entries: &[Entry],
        title: Option<&str>,
        options: RunOptions,
    ) -> Result<BeginOutcome> {
        let rows = Row::all(entries)?;
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let mut values = [
            Parameter::from(lease.node.as_str()),
            Parameter::Time(lease.until),
            Parameter::Int(count),
            // PostgreSQL has no NUL in a text that is not JSON.
            Parameter::MaybeText(title.map(|title| title.replace('\0', "\u{fffd}"))),
            Parameter::MaybeInt(options.max_tool_rounds.map(i64::from)),
            Parameter::from(options.policy.as_str()),
            Parameter::Uuid(id),
            Parameter::from(status_word(SessionStatus::Idle)),
            Parameter::Int(after),
        ];
        let mut work = Work::begin(self).await?;
        let mut taken = work.text(&BEGIN, &values).await?;
        let mut recovered = false;
        if taken.is_none() {
            let Some(row) = lock(&mut work, id).await? else { return Ok(BeginOutcome::Missing) };
            if let Some(until) = row.held_until(now()) {
                return Ok(BeginOutcome::Busy { until });
            }
            if row.status == SessionStatus::Waiting {
                return Ok(BeginOutcome::Waiting);
            }
            if row.seq != after {
                return Ok(BeginOutcome::Moved { seq: row.seq });
            }
            recovered = row.status == SessionStatus::Running;
            values[7] = Parameter::from(status_word(row.status));
            taken = work.text(&BEGIN, &values).await?;
        }
        let Some(taken) = taken else { return Ok(BeginOutcome::Missing) };
        let Changed { seq, mode, cancel_requested } = serde_json::from_str(&taken)?;
        insert(&mut work, id, seq - count + 1, rows).await?;
        work.commit().await?;
        Ok(BeginOutcome::Started(Started { seq, mode, cancel_requested, recovered, options }))
    }

    /// Resumes a waiting session once all its approval requests are answered, or one whose process died.
    pub async fn resume_run(&self, id: Uuid, lease: &Lease) -> Result<BeginOutcome> {
        let mut work = Work::begin(self).await?;
        let now = now();
        let Some(row) = lock(&mut work, id).await? else { return Ok(BeginOutcome::Missing) };
        match row.status {
            SessionStatus::Idle => return Ok(BeginOutcome::Idle),
            SessionStatus::Waiting if approvals::pending(&mut work, id).await? > 0 => {
                return Ok(BeginOutcome::Waiting);
            }
            SessionStatus::Waiting => {}
            SessionStatus::Running => {
                if let Some(until) = row.held_until(now) {
                    return Ok(BeginOutcome::Busy { until });
                }
            }
        }
        resume(work, id, &row, lease, now).await
    }

    /// Takes a session whose process died, and no other.
    pub async fn recover_run(&self, id: Uuid, lease: &Lease) -> Result<BeginOutcome> {
        let mut work = Work::begin(self).await?;
        let now = now();
        let Some(row) = lock(&mut work, id).await? else { return Ok(BeginOutcome::Missing) };
        match (row.status, row.held_until(now)) {
            (SessionStatus::Running, None) => resume(work, id, &row, lease, now).await,
            (SessionStatus::Running, Some(until)) => Ok(BeginOutcome::Busy { until }),
            (SessionStatus::Waiting, _) => Ok(BeginOutcome::Waiting),
            (SessionStatus::Idle, _) => Ok(BeginOutcome::Idle),
        }
    }

    /// Renews the leases of the sessions that a node runs, and returns the requests to them. Any other
    /// session that it once took is released when its lease expires.
    pub async fn renew_leases(
        &self,
        node: &str,
        sessions: &[Uuid],
        until: DateTime<Utc>,
    ) -> Result<Vec<Control>> {
        let sessions = Parameter::Json(serde_json::to_string(sessions)?);
        let mut work = Work::begin(self).await?;
        let rows = work.texts(&RENEW, &[Parameter::Time(until), Parameter::from(node), sessions]).await?;
        work.commit().await?;
        Ok(rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?)
    }

    /// Requests that a running session stops, and returns its state. A waiting one is for the caller to end,
    /// unless it resumes first.
    pub async fn request_cancel(&self, id: Uuid) -> Result<Option<SessionStatus>> {
        let mut work = Work::begin(self).await?;
        let Some(row) = lock(&mut work, id).await? else { return Ok(None) };
        if row.status != SessionStatus::Idle {
            work.run("UPDATE sessions SET cancel_requested = 1 WHERE id = $1", &[Parameter::Uuid(id)])
                .await?;
            work.commit().await?;
        }
        Ok(Some(row.status))
    }

    /// The sessions whose process died: they run, but their lease has expired.
    pub async fn expired_runs(&self, sessions: &[Uuid], now: DateTime<Utc>) -> Result<Vec<Uuid>> {
        let sessions = Parameter::Json(serde_json::to_string(sessions)?);
        let found = self.session_texts(&EXPIRED, &[Parameter::Time(now), sessions]).await?;
        Ok(found.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect())
    }
}

/// Takes a session that is locked for the duration of the change.
async fn resume(
    mut work: Work,
    id: Uuid,
    row: &Locked,
    lease: &Lease,
    now: DateTime<Utc>,
) -> Result<BeginOutcome> {
    let node = Parameter::from(lease.node.as_str());
    let values = [node, Parameter::Time(lease.until), Parameter::Time(now), Parameter::Uuid(id)];
    let resumed = work.text(&RESUME, &values).await?;
    let resumed = resumed.map(|resumed| serde_json::from_str(&resumed)).transpose()?;
    let Resumed { max_tool_rounds, policy } = resumed.unwrap_or_default();
    let options = RunOptions { max_tool_rounds, policy: policy.unwrap_or_default() };
    work.commit().await?;
    Ok(BeginOutcome::Started(Started {
        seq: row.seq,
        mode: row.mode,
        cancel_requested: row.cancel_requested,
        recovered: row.status == SessionStatus::Running,
        options,
    }))
}
