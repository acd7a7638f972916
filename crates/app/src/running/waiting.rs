//! SessionRunner that wait for an approval, or for a delegate that does. They are rows and no tasks; here
//! they resume or end.

use std::sync::Arc;

use agent::{ApprovalAnswer, End, ErrorCode, Event, Note, Session, SessionStatus};
use chrono::Utc;
use futures::future::BoxFuture;
use sessions::{Answered, Parent, SessionFilter};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::SessionRunner;
use super::begin::{Begin, Starting};
use super::leases::{LEASE, busy, missing};
use super::record::noted;
use super::sessions::Decision;
use crate::{Error, ErrorKind, Result};

/// Retries when the session advances between read and cancel.
const CANCEL_TRIES: usize = 5;

impl SessionRunner {
    /// Stores the answer to an approval request, and reports it.
    pub(super) async fn decide(&self, id: Uuid, call_id: &str, decision: Decision) -> Result<Answered> {
        let Decision { approved, reason, remember } = decision;
        let answer = ApprovalAnswer { approved, reason, remember, answered_at: Utc::now() };
        let note = noted(Note::ApprovalAnswered { tool_use_id: call_id.to_owned(), approved });
        let answered = self.store().answer_approval(id, call_id, &answer, &note).await?;
        if let (Answered::Recorded { seq, .. }, Some(live)) = (&answered, self.live.find(id)) {
            live.report(*seq, Event::from(&note));
        }
        Ok(answered)
    }

    /// Resumes a session that waits for nothing any more.
    pub(super) async fn resume(self: &Arc<Self>, id: Uuid) {
        match self.is_awaited(id).await {
            Ok(false) => {}
            Ok(true) => return,
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
        };
        let began = async {
            let session = self.store().session(id).await?.ok_or_else(|| missing(id))?;
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
                if let Ok(Some(Session { parent: Some(parent), .. })) = self.store().session(id).await {
                    Box::pin(self.resume(parent)).await;
                }
            }
        }
    }

    /// Ends a session that waits, without driving it.
    pub(super) async fn end_waiting(&self, id: Uuid, end: End, error: Option<String>) {
        let ended = async {
            self.leases.resume(id).await?;
            let error = error.map(|message| Note::Error { code: ErrorCode::UnknownPersona, message });
            self.end_taken(id, end, error).await
        };
        if let Err(error) = ended.await {
            tracing::warn!(session = %id, %error, "the session that waits was not ended");
        }
    }

    /// True if an answer or a delegate is outstanding.
    pub(super) async fn is_awaited(&self, id: Uuid) -> Result<bool> {
        Ok(!self.store().approvals(id, true).await?.is_empty() || !self.active_below(id).await?.is_empty())
    }

    /// The delegates of a session that run or wait.
    pub(super) async fn active_below(&self, id: Uuid) -> Result<Vec<Session>> {
        let mut active = self.unfinished_below(id).await?;
        if active.iter().any(|session| session.status == SessionStatus::Running) {
            // Those whose process is gone do neither.
            let ids: Vec<Uuid> = active.iter().map(|session| session.id).collect();
            let gone = self.store().expired_runs(&ids, Utc::now()).await?;
            active.retain(|session| !gone.contains(&session.id));
        }
        Ok(active)
    }

    /// The same, including those whose process is gone.
    async fn unfinished_below(&self, id: Uuid) -> Result<Vec<Session>> {
        let mut unfinished = Vec::new();
        for status in [SessionStatus::Running, SessionStatus::Waiting] {
            let mut filter =
                SessionFilter { parent: Parent::Of(id), status: Some(status), ..SessionFilter::default() };
            loop {
                let page = self.store().sessions(&filter).await?;
                unfinished.extend(page.items);
                match page.next {
                    None => break,
                    next => filter.cursor = next,
                }
            }
        }
        Ok(unfinished)
    }

    /// Resumes the session that delegated to this one, which was ended from outside.
    pub(super) async fn resume_above(self: &Arc<Self>, id: Uuid) -> Result<()> {
        let parent = self.store().session(id).await?.and_then(|session| session.parent);
        let Some(parent) = parent else { return Ok(()) };
        let above = self.store().session(parent).await?;
        if above.is_some_and(|above| above.status == SessionStatus::Waiting) {
            self.resume(parent).await;
        }
        Ok(())
    }

    /// Stops a session. Returns false if it was idle.
    pub(super) async fn cancel(self: &Arc<Self>, id: Uuid) -> Result<bool> {
        let mut resumed = false;
        for _ in 0..CANCEL_TRIES {
            if let Some(live) = self.live.find(id).filter(|live| live.is_running()) {
                live.cancel();
                return Ok(true);
            }
            match self.store().request_cancel(id).await?.ok_or_else(|| missing(id))? {
                SessionStatus::Idle => return Ok(resumed),
                SessionStatus::Running => {
                    // Its process hears of it, unless it is gone.
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

    /// Stops a session's delegates.
    pub(super) fn cancel_below(self: &Arc<Self>, id: Uuid) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let cancelled = async {
                for below in self.unfinished_below(id).await? {
                    self.cancel(below.id).await?;
                }
                Ok::<_, Error>(())
            };
            if let Err(error) = cancelled.await {
                tracing::warn!(session = %id, %error, "the session's delegates were not stopped");
            }
        })
    }

    /// Ends a session that waits for nothing because the process that should have resumed it is gone. It
    /// can take a new message then.
    pub(super) async fn end_if_cut_off(self: &Arc<Self>, session: &Session) -> Result<()> {
        let is_settled = (Utc::now() - session.updated_at).to_std().is_ok_and(|age| age > LEASE);
        if session.status == SessionStatus::Waiting && is_settled && !self.is_awaited(session.id).await? {
            self.cancel_waiting(session.id).await?;
        }
        Ok(())
    }

    /// Ends a session that was cancelled just as it began to wait.
    pub(super) fn cancel_put_down(self: &Arc<Self>, id: Uuid) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Err(error) = self.cancel(id).await {
                tracing::warn!(session = %id, %error, "the session that waits was not cancelled");
            }
        })
    }

    /// Ends a session that waits, its delegates first.
    pub(super) async fn cancel_waiting(self: &Arc<Self>, id: Uuid) -> Result<()> {
        self.cancel_below(id).await;
        let refused = Decision { reason: Some("the run was cancelled".to_owned()), ..Decision::default() };
        for approval in self.store().approvals(id, true).await? {
            self.decide(id, &approval.call.id, refused.clone()).await?;
        }
        let cancel = CancellationToken::new();
        cancel.cancel();
        let starting = Starting { begin: Begin::Resume, detached: true, parent: None, cancel };
        let session = self.store().session(id).await?.ok_or_else(|| missing(id))?;
        match self.begin(session, starting).await {
            Ok((driver, _)) => drop(driver.drive().await),
            Err(error) if error.kind() == ErrorKind::Conflict => return Err(error),
            // A missing persona must not keep its session from ending.
            Err(_) => self.end_waiting(id, End::Cancelled, None).await,
        }
        Ok(())
    }
}
