//! Appends to the log of a running session.

use agent::{Approval, Entry, Mode, Note, Plan, SessionStatus};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::log::insert;
use crate::runs::{Changed, changed};
use crate::{BuiltStatement, CALL_TOKENS, NANOS, Row, Statement, Work, approvals, plan_word, status_word};
use crate::{Error, Result, Sessions};
use database::{Dialect, Parameter, now};

/// The most that one call may cost, so that sums stay numbers.
const CALL_COST: f64 = 1_000_000.0;

/// Changes that come with new entries of a run's log. Usage is not among them: it is the sum of the usage
/// notes of the entries.
#[derive(Debug, Clone, Default)]
pub struct RunChange {
    /// Turns from this place on are taken back first.
    pub discard_from: Option<i64>,
    /// The model that answers, as `provider/model`, and when it was chosen.
    pub answered_by: Option<(String, DateTime<Utc>)>,
    pub plan: Option<Plan>,
    /// Calls that need approval.
    pub ask: Vec<Approval>,
    /// Ends the run.
    pub then: Option<AfterRun>,
}

/// The state of a session after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRun {
    /// Clears a request to cancel.
    Idle,
    /// For an approval. A request to cancel is still known.
    Waiting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The place of the last entry. The others come right before it.
    pub seq: i64,
    pub mode: Mode,
    pub cancel_requested: bool,
}

/// Updates the row of a session that its holder runs: the number of new entries and their usage.
static APPEND: BuiltStatement = BuiltStatement::new(|| Statement::new(|dialect| append(dialect, "")));

/// The same, and ends the run. A separate statement, because writing an indexed column updates the index
/// even if the value stays the same.
static APPEND_LAST: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        append(
            dialect,
            ", status = $10, lease_node = NULL, lease_until = NULL, \
             cancel_requested = cancel_requested * $11, updated_at = $12",
        )
    })
});

fn append(dialect: Dialect, end: &str) -> String {
    // In the order of the text, in which SQLite counts.
    let (id, node) = if end.is_empty() { (10, 11) } else { (13, 14) };
    format!(
        "UPDATE sessions SET last_seq = last_seq + $1, input_tokens = input_tokens + $2, \
         output_tokens = output_tokens + $3, cache_read_tokens = cache_read_tokens + $4, \
         cache_write_tokens = cache_write_tokens + $5, cost_nanos = cost_nanos + $6, \
         unpriced_calls = unpriced_calls + $7, answered_by = coalesce($8, answered_by), \
         answered_since = coalesce($9, answered_since){end} \
         WHERE id = ${id} AND lease_node = ${node} AND status = 'running' RETURNING {}",
        changed(dialect)
    )
}

impl Sessions {
    /// Appends to the log of a session that the holder runs, atomically. Fails with
    /// [`Error::LeaseLost`] if the holder no longer runs it.
    pub async fn append(
        &self,
        id: Uuid,
        holder: &str,
        entries: &[Entry],
        change: &RunChange,
    ) -> Result<Appended> {
        let rows = Row::all(entries)?;
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let asked = i64::try_from(change.ask.len()).unwrap_or(i64::MAX);
        let (model, since) = match &change.answered_by {
            Some((model, since)) => (Some(checked(model)?.to_owned()), Some(*since)),
            None => (None, None),
        };
        let used = used(entries).map(Parameter::Int);
        let mut values = vec![Parameter::Int(count.saturating_add(asked))];
        values.extend(used);
        values.extend([Parameter::MaybeText(model), Parameter::MaybeTime(since)]);
        values.extend(change.then.into_iter().flat_map(end));
        values.extend([Parameter::Uuid(id), Parameter::from(holder)]);
        let statement = if change.then.is_some() { &APPEND_LAST } else { &APPEND };
        let mut work = Work::begin(self).await?;
        let row = work.text(statement, &values).await?.ok_or(Error::LeaseLost { id })?;
        let row: Changed = serde_json::from_str(&row)?;
        if let Some(from) = change.discard_from {
            let sql = "DELETE FROM session_log WHERE session_id = $1 AND seq >= $2 AND kind = 'turn'";
            work.run(sql, &[Parameter::Uuid(id), Parameter::Int(from)]).await?;
        }
        // Requests come after the entries.
        let seq = row.seq - asked;
        insert(&mut work, id, seq - count + 1, rows).await?;
        approvals::ask(&mut work, id, seq + 1, &change.ask).await?;
        if let Some(plan) = &change.plan {
            keep_plan(&mut work, id, plan).await?;
        }
        work.commit().await?;
        Ok(Appended { seq, mode: row.mode, cancel_requested: row.cancel_requested })
    }
}

/// The values of a row after a run: the state, whether a request to cancel still counts, and the time.
fn end(then: AfterRun) -> [Parameter; 3] {
    let (status, keeps_wish) = match then {
        AfterRun::Idle => (SessionStatus::Idle, 0),
        AfterRun::Waiting => (SessionStatus::Waiting, 1),
    };
    [Parameter::from(status_word(status)), Parameter::Int(keeps_wish), Parameter::Time(now())]
}

async fn keep_plan(work: &mut Work, id: Uuid, plan: &Plan) -> Result<()> {
    let values = [
        Parameter::Uuid(id),
        Parameter::Text(serde_json::to_string(&plan.content)?),
        Parameter::from(plan_word(plan.status)),
        Parameter::Time(plan.created_at),
    ];
    let sql = "INSERT INTO session_plans (session_id, content, status, created_at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (session_id) DO UPDATE SET content = excluded.content, status = excluded.status, \
               created_at = excluded.created_at";
    work.run(sql, &values).await.map(drop)
}

/// The sum of the usage notes among the entries: input, output, read from and written to a cache, the
/// cost in billionths, and the calls without a price.
fn used(entries: &[Entry]) -> [i64; 6] {
    let mut sum = [0_u64; 6];
    for entry in entries {
        let Entry::Note { note: Note::Usage { usage, cost, .. }, .. } = entry else { continue };
        let [cost, unpriced] = match cost {
            Some(cost) => [nanos(*cost), 0],
            None => [0, 1],
        };
        let tokens =
            [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
        let tokens = tokens.map(|tokens| tokens.min(CALL_TOKENS));
        for (sum, used) in sum.iter_mut().zip(tokens.into_iter().chain([cost, unpriced])) {
            *sum = sum.saturating_add(used);
        }
    }
    sum.map(|used| i64::try_from(used).unwrap_or(i64::MAX))
}

/// A cost in billionths, which add up without rounding. At most a million.
fn nanos(cost: f64) -> u64 {
    (cost.clamp(0.0, CALL_COST) * NANOS).round() as u64
}

/// A model must be of the form `provider/model`.
fn checked(model: &str) -> Result<&str> {
    match model.split_once('/') {
        Some((provider, rest)) if !provider.trim().is_empty() && !rest.trim().is_empty() => Ok(model),
        _ => Err(Error::Model { model: model.to_owned() }),
    }
}
