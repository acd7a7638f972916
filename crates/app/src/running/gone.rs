//! Sessions whose process is gone. The next process that comes across one stores its end.

use std::sync::Arc;

use agent::{End, Entry, ErrorCode, Note, Session, SessionStatus, Turn};
use chrono::Utc;
use sessions::BeginOutcome;
use uuid::Uuid;

use super::SessionRunner;
use super::leases::missing;
use super::record::{interrupted_calls, noted};
use crate::Result;

const GONE: &str =
    "the process that ran this session is gone, and the answer was cut off; send a message to go on";

impl SessionRunner {
    /// Ends the run of a session whose process is gone, and its delegates. Returns false if the session
    /// is none.
    pub(super) async fn end_gone(self: &Arc<Self>, id: Uuid) -> Result<bool> {
        if self.live.is_running(id) || self.sessions.expired_runs(&[id], Utc::now()).await?.is_empty() {
            return Ok(false);
        }
        let BeginOutcome::Started(started) = self.sessions.recover_run(id, &self.leases.lease()).await?
        else {
            return Ok(false);
        };
        // A user may have cancelled it when its process was gone already.
        let (end, error) = match started.cancel_requested {
            true => (End::Cancelled, None),
            false => {
                let error = Note::Error { code: ErrorCode::Interrupted, message: GONE.to_owned() };
                (End::Failed, Some(error))
            }
        };
        self.log.end_run(id, self.leases.node(), end, error).await?;
        self.cancel_below(id).await;
        Ok(true)
    }

    /// Ends the run of a session whose process is gone before it is shown.
    pub(super) async fn settle(self: &Arc<Self>, session: Session) -> Result<Session> {
        if session.status != SessionStatus::Running {
            return Ok(session);
        }
        match self.end_gone(session.id).await {
            Ok(true) => Ok(self.sessions.session(session.id).await?.unwrap_or(session)),
            Ok(false) => Ok(session),
            // A reader gets the session as it is.
            Err(error) => {
                tracing::warn!(session = %session.id, %error, "the run that was cut off was not ended");
                Ok(session)
            }
        }
    }

    /// A session that is about to be changed. Ends first what a process that is gone has left running
    /// or waiting.
    pub(super) async fn at_rest(self: &Arc<Self>, id: Uuid) -> Result<Session> {
        let session = self.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        match session.status {
            SessionStatus::Idle => return Ok(session),
            SessionStatus::Running => drop(self.end_gone(id).await?),
            SessionStatus::Waiting => self.end_if_cut_off(&session).await?,
        }
        self.sessions.session(id).await?.ok_or_else(|| missing(id))
    }
}

/// The last entries of a run that was cut off after these turns. Every call gets a result.
pub(super) fn last_entries(turns: &[Turn], end: End, error: Option<Note>) -> Vec<Entry> {
    let notes = error.into_iter().chain([Note::Done { stop_reason: end }]);
    interrupted_calls(turns).chain(notes.map(noted)).collect()
}
