//! Creates, changes and deletes sessions.

use agent::{Entry, Mode, Plan, PlanRefusal, PlanStatus, Session, SessionStatus};
use uuid::Uuid;

use crate::log::insert;
use crate::read::document;
use crate::runs::{Locked, lock, locked};
use crate::{BuiltStatement, Row, Statement, Work, plan_word};
use crate::{Error, Result, Sessions};
use database::{Dialect, Parameter, now};

const CREATE: &str = "INSERT INTO sessions (id, persona, persona_scope, mode, status, model, overrides, root, \
                      parent_id, parent_call, depth, title, last_seq, created_at, updated_at, edits, \
                      duty) VALUES ($1, $2, $3, $4, 'idle', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
                      ON CONFLICT (id) DO NOTHING";
const EDIT: &str = "UPDATE sessions SET persona = $1, persona_scope = $2, model = $3, overrides = $4, root = $5, \
                    title = $6, updated_at = $7, edits = $8 WHERE id = $9";

static WHOLE: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| format!("SELECT {} FROM sessions a WHERE a.id = $1", document(dialect)))
});

/// A session and all below it, locked until the change ends.
static WITH_ALL_BELOW: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let lock = if dialect == Dialect::Postgres { " FOR UPDATE" } else { "" };
        format!(
            "SELECT {} FROM sessions WHERE id IN (WITH RECURSIVE below (id) AS (SELECT s.id FROM sessions s \
             WHERE s.id = $1 UNION SELECT c.id FROM sessions c JOIN below ON c.parent_id = below.id) \
             SELECT below.id FROM below) ORDER BY id{lock}",
            locked(dialect)
        )
    })
});

fn edits(session: &Session) -> Parameter {
    Parameter::MaybeText(session.edits.as_ref().map(ToString::to_string))
}

impl Sessions {
    /// Stores a new session. It starts idle and with an empty log, whatever its fields say.
    pub async fn create(&self, new: &Session) -> Result<()> {
        self.create_with_log(new, &[]).await
    }

    /// Stores a new session with the first entries of its log. It starts idle, whatever its fields say.
    pub async fn create_with_log(&self, new: &Session, entries: &[Entry]) -> Result<()> {
        let rows = Row::all(entries)?;
        let mut work = Work::begin(self).await?;
        if let Some(parent) = new.parent
            && lock(&mut work, parent).await?.is_none()
        {
            return Err(Error::UnknownParent { id: parent });
        }
        let values = [
            Parameter::Uuid(new.id),
            Parameter::from(&new.persona),
            Parameter::MaybeText(new.scope.map(|scope| scope.as_str().to_owned())),
            Parameter::from(new.mode.as_str()),
            Parameter::MaybeText(new.model.as_ref().map(ToString::to_string)),
            Parameter::Json(serde_json::to_string(&new.overrides)?),
            Parameter::MaybeText(new.root.clone()),
            Parameter::MaybeUuid(new.parent),
            Parameter::MaybeText(new.parent_call.clone()),
            Parameter::Int(i64::from(new.depth)),
            Parameter::MaybeText(new.title.clone()),
            Parameter::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX)),
            Parameter::Time(new.created_at),
            Parameter::Time(new.updated_at),
            edits(new),
            Parameter::MaybeText(new.duty.as_ref().map(serde_json::to_string).transpose()?),
        ];
        if work.run(CREATE, &values).await? == 0 {
            return Err(Error::SessionExists { id: new.id });
        }
        insert(&mut work, new.id, 1, rows).await?;
        work.commit().await
    }

    /// Changes an idle session: its persona, scope, model, overrides, root, title and the persona that it
    /// edits. Everything else stays.
    /// `None` if there is no such session.
    pub async fn edit(&self, id: Uuid, edit: impl FnOnce(&mut Session) + Send) -> Result<Option<Session>> {
        let mut work = Work::begin(self).await?;
        if hold_idle(&mut work, id).await?.is_none() {
            return Ok(None);
        }
        let Some(text) = work.text(&WHOLE, &[Parameter::Uuid(id)]).await? else { return Ok(None) };
        let mut session: Session = serde_json::from_str(&text)?;
        edit(&mut session);
        let values = [
            Parameter::from(&session.persona),
            Parameter::MaybeText(session.scope.map(|scope| scope.as_str().to_owned())),
            Parameter::MaybeText(session.model.as_ref().map(ToString::to_string)),
            Parameter::Json(serde_json::to_string(&session.overrides)?),
            Parameter::MaybeText(session.root.clone()),
            Parameter::MaybeText(session.title.clone()),
            Parameter::Time(now()),
            edits(&session),
            Parameter::Uuid(id),
        ];
        work.run(EDIT, &values).await?;
        let text = work.text(&WHOLE, &[Parameter::Uuid(id)]).await?;
        work.commit().await?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Switches the mode in any state, and stores the note that shows it to viewers. Returns the note's
    /// place. `None` if there is no such session.
    pub async fn set_mode(&self, id: Uuid, mode: Mode, note: &Entry) -> Result<Option<i64>> {
        let note = Row::of(note)?;
        let mut work = Work::begin(self).await?;
        let Some(row) = lock(&mut work, id).await? else { return Ok(None) };
        let seq = row.seq + 1;
        let sql = "UPDATE sessions SET mode = $1, last_seq = $2, updated_at = $3 WHERE id = $4";
        let values = [
            Parameter::from(mode.as_str()),
            Parameter::Int(seq),
            Parameter::Time(now()),
            Parameter::Uuid(id),
        ];
        work.run(sql, &values).await?;
        insert(&mut work, id, seq, vec![note]).await?;
        work.commit().await?;
        Ok(Some(seq))
    }

    /// Adds a note to the log of an idle session. Returns its place. `None` if there is no such session.
    pub async fn add_note(&self, id: Uuid, note: &Entry) -> Result<Option<i64>> {
        let note = Row::of(note)?;
        let mut work = Work::begin(self).await?;
        let Some(row) = hold_idle(&mut work, id).await? else { return Ok(None) };
        let seq = row.seq + 1;
        let sql = "UPDATE sessions SET last_seq = $1, updated_at = $2 WHERE id = $3";
        work.run(sql, &[Parameter::Int(seq), Parameter::Time(now()), Parameter::Uuid(id)]).await?;
        insert(&mut work, id, seq, vec![note]).await?;
        work.commit().await?;
        Ok(Some(seq))
    }

    /// Decides about a plan, if `check` allows it. `None` if there is none.
    pub async fn decide_plan(
        &self,
        id: Uuid,
        status: PlanStatus,
        check: impl FnOnce(&Plan) -> std::result::Result<(), PlanRefusal> + Send,
    ) -> Result<Option<std::result::Result<(), PlanRefusal>>> {
        let mut work = Work::begin(self).await?;
        if lock(&mut work, id).await?.is_none() {
            return Ok(None);
        }
        let Some(text) = work.text(&WHOLE, &[Parameter::Uuid(id)]).await? else { return Ok(None) };
        let Some(plan) = serde_json::from_str::<Session>(&text)?.plan else { return Ok(None) };
        if let Err(refusal) = check(&plan) {
            return Ok(Some(Err(refusal)));
        }
        let sql = "UPDATE session_plans SET status = $1 WHERE session_id = $2";
        work.run(sql, &[Parameter::from(plan_word(status)), Parameter::Uuid(id)]).await?;
        let sql = "UPDATE sessions SET updated_at = $1 WHERE id = $2";
        work.run(sql, &[Parameter::Time(now()), Parameter::Uuid(id)]).await?;
        work.commit().await?;
        Ok(Some(Ok(())))
    }

    /// Takes back the log of an idle session from a place on: entries, and approval requests with their
    /// answers. The note that shows it to viewers takes their place. Returns the note's place. `None` if
    /// there is no such session, or its log no longer ends at `last`.
    pub async fn truncate_log(&self, id: Uuid, from: i64, last: i64, note: &Entry) -> Result<Option<i64>> {
        let note = Row::of(note)?;
        let mut work = Work::begin(self).await?;
        let held = hold_idle(&mut work, id).await?;
        let Some(row) = held.filter(|row| row.seq == last) else { return Ok(None) };
        let seq = row.seq + 1;
        for sql in [
            "DELETE FROM session_log WHERE session_id = $1 AND seq >= $2",
            "DELETE FROM session_approvals WHERE session_id = $1 AND seq >= $2",
        ] {
            work.run(sql, &[Parameter::Uuid(id), Parameter::Int(from)]).await?;
        }
        let sql = "UPDATE sessions SET last_seq = $1, updated_at = $2 WHERE id = $3";
        work.run(sql, &[Parameter::Int(seq), Parameter::Time(now()), Parameter::Uuid(id)]).await?;
        insert(&mut work, id, seq, vec![note]).await?;
        work.commit().await?;
        Ok(Some(seq))
    }

    /// Deletes a session with its log, its requests and all sessions below it. False if there is none. Fails
    /// while one of them runs.
    pub async fn delete(&self, id: Uuid) -> Result<bool> {
        let mut work = Work::begin(self).await?;
        for row in work.texts(&WITH_ALL_BELOW, &[Parameter::Uuid(id)]).await? {
            let row: Locked = serde_json::from_str(&row)?;
            if row.is_held() {
                return Err(Error::SessionBusy { id, status: row.status });
            }
        }
        let deleted = work.run("DELETE FROM sessions WHERE id = $1", &[Parameter::Uuid(id)]).await?;
        work.commit().await?;
        Ok(deleted > 0)
    }
}

/// Locks a session that must be idle. `None` if there is no such session.
async fn hold_idle(work: &mut Work, id: Uuid) -> Result<Option<Locked>> {
    match lock(work, id).await? {
        None => Ok(None),
        Some(row) if row.status == SessionStatus::Idle => Ok(Some(row)),
        Some(row) => Err(Error::SessionBusy { id, status: row.status }),
    }
}
