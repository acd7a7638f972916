//! Sessions that wait for an approval, or for a delegate that does. They are rows and no tasks; here
//! they resume or end.

use std::sync::Arc;

use agent::{ApprovalAnswer, End, ErrorCode, Note, Session, SessionStatus, limits};
use chrono::Utc;
use futures::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::SessionRunner;
use super::leases::{Held, Seen, busy, missing};
use super::session_tree::Awaits;
use super::starter::{Begin, Starting};
use crate::{Error, ErrorKind, Result};

/// Retries when the session advances between read and cancel.
const CANCEL_TRIES: usize = 5;

impl SessionRunner {
    /// Resumes a session that waits for nothing any more.
    pub(super) async fn resume(self: &Arc<Self>, id: Uuid) {
        match self.tree.awaits(id).await {
            Ok(Awaits::Nothing) => {}
            Ok(Awaits::Others) => return,
            Ok(Awaits::Unknown) => return self.watch_below(id).await,
            Err(error) => {
                tracing::warn!(session = %id, %error, "the session does not resume");
                return;
            }
        }
        let starting = Starting {
            begin: Begin::Resume,
            detached: false,
            parent: None,
            cancel: CancellationToken::new(),
            editing: None,
        };
        let began = async {
            let session = self.sessions.session(id).await?.ok_or_else(|| missing(id))?;
            Box::pin(self.begin(session, starting)).await
        };
        match began.await {
            Ok((driver, _)) => self.spawn(driver),
            Err(error) if error.kind() == ErrorKind::Conflict => {
                tracing::debug!(session = %id, %error, "the session does not resume yet");
            }
            // Its persona changed or is gone: it cannot resume later either.
            Err(error) => {
                self.end_waiting(id, End::Failed, Some(error.to_string())).await;
                if let Ok(Some(Session { parent: Some(parent), .. })) = self.sessions.session(id).await {
                    Box::pin(self.resume(parent)).await;
                }
            }
        }
    }

    /// Watches the delegates whose processes may be gone. Their end resumes this session.
    async fn watch_below(self: &Arc<Self>, id: Uuid) {
        match self.tree.unfinished_below(id).await {
            Ok(below) => below.iter().for_each(|below| self.watch_gone(below.id)),
            Err(error) => tracing::warn!(session = %id, %error, "the session does not resume"),
        }
    }

    /// Resumes the session that delegated to this one, which was ended from outside.
    pub(super) async fn resume_above(self: &Arc<Self>, id: Uuid) -> Result<()> {
        let parent = self.sessions.session(id).await?.and_then(|session| session.parent);
        let Some(parent) = parent else { return Ok(()) };
        let above = self.sessions.session(parent).await?;
        if above.is_some_and(|above| above.status == SessionStatus::Waiting) {
            self.resume(parent).await;
        }
        Ok(())
    }

    /// Ends a session that waits, without driving it.
    async fn end_waiting(&self, id: Uuid, end: End, error: Option<String>) {
        let ended = async {
            let Held { holder, .. } = self.leases.resume(id).await?;
            let error = error.map(|message| Note::Error { code: ErrorCode::UnknownPersona, message });
            self.log.end_run(id, &holder, end, error).await
        };
        if let Err(error) = ended.await {
            tracing::warn!(session = %id, %error, "the session that waits was not ended");
        }
    }

    /// Stops a session. Returns false if it was idle.
    pub(super) async fn cancel(self: &Arc<Self>, id: Uuid) -> Result<bool> {
        let mut resumed = false;
        for _ in 0..CANCEL_TRIES {
            if let Some(live) = self.live.find(id).filter(|live| live.run.is_running()) {
                live.run.cancel();
                return Ok(true);
            }
            match self.sessions.request_cancel(id).await?.ok_or_else(|| missing(id))? {
                SessionStatus::Idle => return Ok(resumed),
                SessionStatus::Running => {
                    // Its process reads the request, unless it is gone.
                    self.end_gone(id).await?;
                    return Ok(true);
                }
                SessionStatus::Waiting => match self.cancel_waiting(id).await {
                    // It resumed first: cancel it where it runs.
                    Err(error) if error.kind() == ErrorKind::Conflict => resumed = true,
                    ended => return ended.map(|()| true),
                },
            }
        }
        Err(busy(id))
    }

    /// Stops a session that was cancelled just as it began to wait. Only logs an error.
    pub(super) fn cancel_or_warn(self: &Arc<Self>, id: Uuid) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Err(error) = self.cancel(id).await {
                tracing::warn!(session = %id, %error, "the session that waits was not cancelled");
            }
        })
    }

    /// Stops a session's delegates. Only logs an error.
    pub(super) fn cancel_below(self: &Arc<Self>, id: Uuid) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let cancelled = async {
                for below in self.tree.unfinished_below(id).await? {
                    self.cancel(below.id).await?;
                }
                Ok::<_, Error>(())
            };
            if let Err(error) = cancelled.await {
                tracing::warn!(session = %id, %error, "the session's delegates were not stopped");
            }
        })
    }

    /// Ends a session that waits, its delegates first.
    async fn cancel_waiting(self: &Arc<Self>, id: Uuid) -> Result<()> {
        self.cancel_below(id).await;
        let rejected = ApprovalAnswer {
            approved: false,
            reason: Some("the run was cancelled".to_owned()),
            remember: false,
            answered_at: Utc::now(),
        };
        for approval in self.sessions.approvals(id, true).await? {
            self.log.answer(id, &approval.call.id, &rejected).await?;
        }
        let cancel = CancellationToken::new();
        cancel.cancel();
        let starting = Starting { begin: Begin::Resume, detached: true, parent: None, cancel, editing: None };
        let session = self.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        match self.begin(session, starting).await {
            Ok((driver, _)) => drop(driver.drive().await),
            Err(error) if error.kind() == ErrorKind::Conflict => return Err(error),
            // A missing persona must not keep its session from ending.
            Err(_) => self.end_waiting(id, End::Cancelled, None).await,
        }
        Ok(())
    }

    /// Ends a session that waits for nothing because the process that should have resumed it is gone. It
    /// can take a new message then. Waits until it is known, and at most a limited time.
    pub(super) async fn end_if_cut_off(self: &Arc<Self>, session: &Session) -> Result<()> {
        if session.status != SessionStatus::Waiting {
            return Ok(());
        }
        let deadline = Instant::now() + limits::LEASE_PATIENCE;
        while Instant::now() < deadline {
            match self.tree.awaits(session.id).await? {
                Awaits::Others => return Ok(()),
                Awaits::Unknown => {}
                // The process that stored the last answer resumes the session at once if it lives.
                Awaits::Nothing => match self.leases.look_waiting(session.id).await? {
                    Seen::Over(_) => return self.cancel_waiting(session.id).await,
                    Seen::Unknown => {}
                    Seen::Live | Seen::Other(_) => return Ok(()),
                },
            }
            tokio::time::sleep(limits::LOOK_AGAIN).await;
        }
        Ok(())
    }
}
