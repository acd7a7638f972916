//! Runs of a session: how they begin, resume and are taken over.
//!
//! The node that runs a session holds its lease and renews it regularly. A lease that is over belongs to a
//! dead process, so any other may take the session.

use agent::{ApprovalPolicy, Entry, Mode, RunOptions, SessionStatus};
use serde::Deserialize;
use uuid::Uuid;

use crate::leases::{Claim, flag, is_over, renewed};
use crate::log::insert;
use crate::{BuiltStatement, Row, Statement, Work, approvals, status_word};
use crate::{Result, Sessions};
use database::{Dialect, Parameter, now};

/// The outcome of an attempt to run a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginOutcome {
    Started(Started),
    /// Another node runs it.
    Busy,
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

/// A locked row of a session.
#[derive(Debug, Deserialize)]
pub(super) struct Locked {
    pub(super) status: SessionStatus,
    mode: Mode,
    pub(super) seq: i64,
    beat: i64,
    is_over: bool,
    cancel_requested: bool,
}

impl Locked {
    /// True if a node runs the session, as far as the database knows.
    pub(super) fn is_held(&self) -> bool {
        self.status == SessionStatus::Running && !self.is_over
    }

    /// True if a node runs the session, and its lease is not the one that is over.
    fn is_held_against(&self, claim: &Claim) -> bool {
        self.is_held() && claim.over != Some(self.beat)
    }
}

/// A session's row as [`Locked`] reads it.
pub(super) fn locked(dialect: Dialect) -> String {
    dialect.text(&dialect.object(&[
        ("status", "status".to_owned()),
        ("mode", "mode".to_owned()),
        ("seq", "last_seq".to_owned()),
        ("beat", "lease_beat".to_owned()),
        ("is_over", is_over(dialect)),
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
            "UPDATE sessions SET status = 'running', lease_node = $1, {}, \
             last_seq = last_seq + $2, title = coalesce(title, $3), cancel_requested = 0, \
             max_tool_rounds = $4, approval_policy = $5 \
             WHERE id = $6 AND status = $7 AND last_seq = $8 RETURNING {}",
            renewed(dialect),
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
            "UPDATE sessions SET status = 'running', lease_node = $1, {}, updated_at = $2 \
             WHERE id = $3 RETURNING {options}",
            renewed(dialect)
        )
    })
});

/// The options of a resumed run. Rows of older releases have no policy.
#[derive(Debug, Default, Deserialize)]
struct Resumed {
    max_tool_rounds: Option<u32>,
    policy: Option<ApprovalPolicy>,
}

impl Sessions {
    /// Begins a run with a user's message, unless the session runs or waits, or its log no longer ends at
    /// `after`, which the entries answer. Takes over a run whose lease is over. Stores the title if there is
    /// none yet. The options are stored with the run, so that they also hold after a wait.
    pub async fn begin_run(
        &self,
        id: Uuid,
        claim: &Claim,
        after: i64,
        entries: &[Entry],
        title: Option<&str>,
        options: RunOptions,
    ) -> Result<BeginOutcome> {
        let rows = Row::all(entries)?;
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let mut values = [
            Parameter::from(claim.holder.as_str()),
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
            if row.is_held_against(claim) {
                return Ok(BeginOutcome::Busy);
            }
            if row.status == SessionStatus::Waiting {
                return Ok(BeginOutcome::Waiting);
            }
            if row.seq != after {
                return Ok(BeginOutcome::Moved { seq: row.seq });
            }
            recovered = row.status == SessionStatus::Running;
            values[6] = Parameter::from(status_word(row.status));
            taken = work.text(&BEGIN, &values).await?;
        }
        let Some(taken) = taken else { return Ok(BeginOutcome::Missing) };
        let Changed { seq, mode, cancel_requested } = serde_json::from_str(&taken)?;
        insert(&mut work, id, seq - count + 1, rows).await?;
        work.commit().await?;
        Ok(BeginOutcome::Started(Started { seq, mode, cancel_requested, recovered, options }))
    }

    /// Resumes a waiting session once all its approval requests are answered, or one whose lease is over.
    pub async fn resume_run(&self, id: Uuid, claim: &Claim) -> Result<BeginOutcome> {
        let mut work = Work::begin(self).await?;
        let Some(row) = lock(&mut work, id).await? else { return Ok(BeginOutcome::Missing) };
        match row.status {
            SessionStatus::Idle => Ok(BeginOutcome::Idle),
            SessionStatus::Waiting if approvals::pending(&mut work, id).await? > 0 => {
                Ok(BeginOutcome::Waiting)
            }
            SessionStatus::Running if row.is_held_against(claim) => Ok(BeginOutcome::Busy),
            SessionStatus::Waiting | SessionStatus::Running => resume(work, id, &row, claim).await,
        }
    }

    /// Takes a session that runs and whose lease is over, and no other.
    pub async fn recover_run(&self, id: Uuid, claim: &Claim) -> Result<BeginOutcome> {
        let mut work = Work::begin(self).await?;
        let Some(row) = lock(&mut work, id).await? else { return Ok(BeginOutcome::Missing) };
        match row.status {
            SessionStatus::Idle => Ok(BeginOutcome::Idle),
            SessionStatus::Waiting => Ok(BeginOutcome::Waiting),
            SessionStatus::Running if row.is_held_against(claim) => Ok(BeginOutcome::Busy),
            SessionStatus::Running => resume(work, id, &row, claim).await,
        }
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
}

/// Takes a session that is locked for the duration of the change.
async fn resume(mut work: Work, id: Uuid, row: &Locked, claim: &Claim) -> Result<BeginOutcome> {
    let values = [Parameter::from(claim.holder.as_str()), Parameter::Time(now()), Parameter::Uuid(id)];
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
