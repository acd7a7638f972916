//! Sessions whose process is gone. Nobody is left to say how their runs ended, so whoever comes
//! across one says it on record.

use std::sync::Arc;

use agent::{End, Entry, ErrorCode, Event, Note, Session, SessionStatus, Turn};
use chrono::Utc;
use sessions::{After, Began, RunChange};
use uuid::Uuid;

use super::Inner;
use super::begin::{interrupted_calls, missing};
use super::drive::noted;
use crate::Result;

const GONE: &str =
    "the process that ran this session is gone, and the answer was cut off; send a message to go on";

impl Inner {
    /// Ends the run of a session whose process is gone, with all that worked for it. Whether it was
    /// one.
    pub(super) async fn end_gone(self: &Arc<Self>, id: Uuid) -> Result<bool> {
        if self.runs(id) || self.store().expired_runs(&[id], Utc::now()).await?.is_empty() {
            return Ok(false);
        }
        let Began::Started(started) = self.store().recover_run(id, &self.lease()).await? else {
            return Ok(false);
        };
        // Somebody may have wanted it to stop, and nobody was there to hear it.
        let (end, error) = match started.cancel_requested {
            true => (End::Cancelled, None),
            false => {
                let error = Note::Error { code: ErrorCode::Interrupted, message: GONE.to_owned() };
                (End::Failed, Some(error))
            }
        };
        self.end_taken(id, end, error).await?;
        self.cancel_below(id).await;
        Ok(true)
    }

    /// A session as it is: one that says that it runs, though its process is gone, has ended.
    pub(super) async fn seen(self: &Arc<Self>, session: Session) -> Result<Session> {
        if session.status != SessionStatus::Running {
            return Ok(session);
        }
        match self.end_gone(session.id).await {
            Ok(true) => Ok(self.store().session(session.id).await?.unwrap_or(session)),
            Ok(false) => Ok(session),
            // Whoever only looks is shown what there is.
            Err(error) => {
                tracing::warn!(session = %session.id, %error, "the run that was cut off was not ended");
                Ok(session)
            }
        }
    }

    /// A session that is to be changed. Whatever a process that is gone has left running or waiting is
    /// ended first.
    pub(super) async fn at_rest(self: &Arc<Self>, id: Uuid) -> Result<Session> {
        let session = self.store().session(id).await?.ok_or_else(|| missing(id))?;
        match session.status {
            SessionStatus::Idle => return Ok(session),
            SessionStatus::Running => drop(self.end_gone(id).await?),
            SessionStatus::Waiting => self.end_if_cut_off(&session).await?,
        }
        self.store().session(id).await?.ok_or_else(|| missing(id))
    }

    /// Ends a session that this process has taken without running it. Its calls get results that say
    /// so.
    pub(super) async fn end_taken(&self, id: Uuid, end: End, error: Option<Note>) -> Result<()> {
        let turns = self.store().turns(id).await?;
        let entries = last_entries(&turns, end, error);
        let change = RunChange { then: Some(After::Idle), ..RunChange::default() };
        let appended = self.store().append(id, &self.node, &entries, &change).await?;
        if let Some(live) = self.find_live(id) {
            let first = appended.seq + 1 - entries.len() as i64;
            live.tell_all(first, entries.iter().map(Event::from));
        }
        Ok(())
    }
}

/// What ends a run that was cut off after these turns: no call stays without a result.
pub(super) fn last_entries(turns: &[Turn], end: End, error: Option<Note>) -> Vec<Entry> {
    let told = error.into_iter().chain([Note::Done { stop_reason: end }]);
    interrupted_calls(turns).chain(told.map(noted)).collect()
}
