//! Sessions whose process is gone. The next process that comes across one stores its end.

use std::sync::Arc;

use agent::{End, Entry, ErrorCode, Note, Session, SessionStatus, Turn, limits};
use futures::future::BoxFuture;
use sessions::Claim;
use tokio::time::Instant;
use uuid::Uuid;

use super::SessionRunner;
use super::leases::{Held, Seen, missing};
use super::record::{interrupted_calls, noted};
use crate::{ErrorKind, Result};

const GONE: &str =
    "the process that ran this session is gone, and the answer was cut off; send a message to go on";

impl SessionRunner {
    /// Ends the run of a session whose process is gone, and its delegates. Returns false if that is not
    /// known yet; a task then watches the session and ends it once it is.
    pub(super) async fn end_gone(self: &Arc<Self>, id: Uuid) -> Result<bool> {
        if self.live.is_running(id) {
            return Ok(false);
        }
        match self.leases.look(id).await? {
            Seen::Over(beat) => self.end_over(id, self.leases.claim(Some(beat)).await).await,
            Seen::Unknown => {
                self.watch_gone(id);
                Ok(false)
            }
            Seen::Live | Seen::Other(_) => Ok(false),
        }
    }

    /// The same, but waits until it is known, and at most a limited time.
    async fn end_gone_in_time(self: &Arc<Self>, id: Uuid) -> Result<bool> {
        match self.leases.outlast(id, Instant::now() + limits::LEASE_PATIENCE).await {
            Ok(claim) => self.end_over(id, claim).await,
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Watches a session whose process may be gone, and ends it if so.
    pub(super) fn watch_gone(self: &Arc<Self>, id: Uuid) {
        if !self.leases.begin_watch(id) {
            return;
        }
        let runner = Arc::clone(self);
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = runner.end_gone_in_time(id) => ended,
                () = runner.starter.stopping.cancelled() => Ok(false),
            };
            runner.leases.end_watch(id);
            let resumed = match ended {
                Ok(true) => runner.resume_above(id).await,
                ended => ended.map(drop),
            };
            if let Err(error) = resumed {
                tracing::debug!(session = %id, %error, "the session that may be cut off was not watched");
            }
        });
    }

    /// Ends the run of a session whose lease the claim takes, and its delegates. Returns false if it is in
    /// another state by now.
    async fn end_over(self: &Arc<Self>, id: Uuid, claim: Claim) -> Result<bool> {
        let Some(Held { started, holder }) = self.leases.recover(id, claim).await? else {
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
        self.log.end_run(id, &holder, end, error).await?;
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
            SessionStatus::Running => drop(self.end_gone_in_time(id).await?),
            SessionStatus::Waiting => self.end_if_cut_off(&session).await?,
        }
        self.sessions.session(id).await?.ok_or_else(|| missing(id))
    }

    /// Ends what processes that are gone have left running: a session and its delegates.
    pub(super) fn end_gone_from(self: &Arc<Self>, id: Uuid) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            for below in self.tree.unfinished_below(id).await? {
                self.end_gone_from(below.id).await?;
            }
            self.end_gone_in_time(id).await.map(drop)
        })
    }
}

/// The last entries of a run that was cut off after these turns. Every call gets a result.
pub(super) fn last_entries(turns: &[Turn], end: End, error: Option<Note>) -> Vec<Entry> {
    let notes = error.into_iter().chain([Note::Done { stop_reason: end }]);
    interrupted_calls(turns).chain(notes.map(noted)).collect()
}
