//! Sessions and their delegates.

use std::sync::Arc;

use agent::{Approval, Mode, Session, SessionStatus};
use sessions::{Parent, SessionFilter, Sessions};
use uuid::Uuid;

use super::leases::{Leases, Seen};
use super::live::LiveSession;
use super::live_sessions::LiveSessions;
use super::session_log::SessionLog;
use crate::Result;

/// Walks from a session to its delegates, and to the sessions that delegated to it.
#[derive(Debug, Clone)]
pub(super) struct SessionTree {
    sessions: Sessions,
    log: SessionLog,
    live: Arc<LiveSessions>,
    leases: Arc<Leases>,
}

/// The event that a waiting session needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaits {
    /// An answer, or a delegate.
    Others,
    /// Delegates whose processes may be gone.
    Unknown,
    Nothing,
}

impl SessionTree {
    pub(super) fn new(
        sessions: Sessions,
        log: SessionLog,
        live: Arc<LiveSessions>,
        leases: Arc<Leases>,
    ) -> Self {
        Self { sessions, log, live, leases }
    }

    /// The sessions that delegated to this one, nearest first.
    pub(super) async fn above(&self, session: &Session) -> Result<Vec<Session>> {
        let mut above = Vec::new();
        let mut parent = session.parent;
        while let Some(id) = parent {
            let Some(session) = self.sessions.session(id).await? else { break };
            parent = session.parent;
            above.push(session);
        }
        Ok(above)
    }

    /// The delegate that a call started.
    pub(super) async fn started_by(&self, id: Uuid, call_id: &str) -> Result<Option<Session>> {
        let mut filter = SessionFilter { parent: Parent::Of(id), ..SessionFilter::default() };
        loop {
            let page = self.sessions.sessions(&filter).await?;
            let is_it = |session: &Session| session.parent_call.as_deref() == Some(call_id);
            match (page.items.into_iter().find(is_it), page.next) {
                (Some(found), _) => return Ok(Some(found)),
                (None, None) => return Ok(None),
                (None, next) => filter.cursor = next,
            }
        }
    }

    /// The delegates of a session that run or wait.
    pub(super) async fn active_below(&self, id: Uuid) -> Result<Vec<Session>> {
        Ok(self.seen_below(id).await?.into_iter().map(|(session, _)| session).collect())
    }

    /// The delegates of a session that run or wait, and what is known of the leases of those that run. A
    /// delegate whose process is gone does neither.
    async fn seen_below(&self, id: Uuid) -> Result<Vec<(Session, Seen)>> {
        let mut below = Vec::new();
        for session in self.unfinished_below(id).await? {
            let seen = match session.status {
                SessionStatus::Running if self.live.is_running(session.id) => Seen::Live,
                SessionStatus::Running => self.leases.look(session.id).await?,
                SessionStatus::Idle | SessionStatus::Waiting => Seen::Other(session.status),
            };
            if !matches!(seen, Seen::Over(_)) {
                below.push((session, seen));
            }
        }
        Ok(below)
    }

    /// The same, including those whose process is gone.
    pub(super) async fn unfinished_below(&self, id: Uuid) -> Result<Vec<Session>> {
        let mut unfinished = Vec::new();
        for status in [SessionStatus::Running, SessionStatus::Waiting] {
            let mut filter =
                SessionFilter { parent: Parent::Of(id), status: Some(status), ..SessionFilter::default() };
            loop {
                let page = self.sessions.sessions(&filter).await?;
                unfinished.extend(page.items);
                match page.next {
                    None => break,
                    next => filter.cursor = next,
                }
            }
        }
        Ok(unfinished)
    }

    pub(super) async fn awaits(&self, id: Uuid) -> Result<Awaits> {
        if !self.sessions.approvals(id, true).await?.is_empty() {
            return Ok(Awaits::Others);
        }
        let below = self.seen_below(id).await?;
        Ok(match below.iter().any(|(_, seen)| *seen != Seen::Unknown) {
            true => Awaits::Others,
            false if below.is_empty() => Awaits::Nothing,
            false => Awaits::Unknown,
        })
    }

    /// The open approval requests of a session, its delegates and theirs.
    pub(super) async fn open_approvals(&self, session: &Session) -> Result<Vec<Approval>> {
        if session.status != SessionStatus::Waiting {
            return Ok(Vec::new());
        }
        let mut open = self.sessions.approvals(session.id, true).await?;
        for below in self.active_below(session.id).await? {
            open.extend(Box::pin(self.open_approvals(&below)).await?);
        }
        Ok(open)
    }

    /// Switches a session and its delegates. Returns false if the session does not exist.
    pub(super) async fn set_mode(&self, id: Uuid, mode: Mode) -> Result<bool> {
        if !self.log.set_mode(id, mode).await? {
            return Ok(false);
        }
        // Other processes may run the delegates: they read those rows only.
        for below in self.active_below(id).await? {
            Box::pin(self.set_mode(below.id, mode)).await?;
        }
        Ok(true)
    }

    /// The live session, joined to those above it, which restrict its mode.
    pub(super) async fn join_live(
        &self,
        session: &Session,
        parent: Option<Arc<LiveSession>>,
    ) -> Result<Arc<LiveSession>> {
        let parent = match (parent, session.parent) {
            (None, Some(above)) => match self.sessions.session(above).await? {
                Some(above) => Some(Box::pin(self.join_live(&above, None)).await?),
                None => None,
            },
            (parent, _) => parent,
        };
        let live = self.live.get_or_insert(session, parent);
        live.set_mode(session.mode, session.last_seq);
        Ok(live)
    }
}
