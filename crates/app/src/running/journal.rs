//! The destination of a run's log: the database, or memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Conversation, Decisions, Entry, Mode, Turn};
use futures::future::BoxFuture;
use sessions::{Appended, RunChange, Sessions};
use uuid::Uuid;

use super::recent::RecentConversations;

/// The log of one run.
pub(super) trait Journal: Send + Sync {
    /// The session whose log it is. `None` if nothing is stored.
    fn stored_session(&self) -> Option<Uuid>;

    /// Appends entries, all or nothing.
    fn append<'a>(
        &'a self,
        entries: &'a [Entry],
        change: &'a RunChange,
    ) -> BoxFuture<'a, sessions::Result<Appended>>;

    /// Keeps the conversation for the next run. It is complete up to a place of the log.
    fn keep(&self, seq: i64, conversation: Conversation);

    /// The turns of the log.
    fn turns(&self) -> BoxFuture<'_, sessions::Result<Vec<Turn>>>;

    /// The strictest mode of the session and of those above it, as stored now.
    fn mode(&self) -> BoxFuture<'_, sessions::Result<Mode>>;

    /// Users' decisions about calls of the session and of those above it.
    fn decisions(&self) -> BoxFuture<'_, sessions::Result<Decisions>>;
}

/// The log of a session that this process holds by a lease.
pub(super) struct StoredJournal {
    pub(super) sessions: Sessions,
    pub(super) holder: String,
    pub(super) session: Uuid,
    pub(super) parent: Option<Uuid>,
    pub(super) recent: Arc<RecentConversations>,
}

impl Journal for StoredJournal {
    fn stored_session(&self) -> Option<Uuid> {
        Some(self.session)
    }

    fn append<'a>(
        &'a self,
        entries: &'a [Entry],
        change: &'a RunChange,
    ) -> BoxFuture<'a, sessions::Result<Appended>> {
        Box::pin(self.sessions.append(self.session, &self.holder, entries, change))
    }

    fn keep(&self, seq: i64, conversation: Conversation) {
        self.recent.keep(self.session, seq, conversation);
    }

    fn turns(&self) -> BoxFuture<'_, sessions::Result<Vec<Turn>>> {
        Box::pin(self.sessions.turns(self.session))
    }

    fn mode(&self) -> BoxFuture<'_, sessions::Result<Mode>> {
        Box::pin(async move { Ok(Mode::strictest(self.sessions.modes(self.session).await?)) })
    }

    fn decisions(&self) -> BoxFuture<'_, sessions::Result<Decisions>> {
        Box::pin(async move {
            let mut decisions = Decisions::default();
            decisions.add_own(self.sessions.approvals(self.session, false).await?);
            let mut above = self.parent;
            while let Some(id) = above {
                decisions.add_inherited(self.sessions.approvals(id, false).await?);
                above = self.sessions.session(id).await?.and_then(|session| session.parent);
            }
            Ok(decisions)
        })
    }
}

/// The log of a run that is not stored. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct MemoryJournal {
    mode: Mode,
    log: Arc<Mutex<MemoryLog>>,
}

#[derive(Debug, Default)]
struct MemoryLog {
    last_seq: i64,
    entries: Vec<(i64, Entry)>,
}

impl MemoryJournal {
    pub(super) fn new(mode: Mode) -> Self {
        Self { mode, log: Arc::default() }
    }

    fn log(&self) -> MutexGuard<'_, MemoryLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all entries out of the log.
    pub(super) fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut self.log().entries).into_iter().map(|(_, entry)| entry).collect()
    }
}

impl Journal for MemoryJournal {
    fn stored_session(&self) -> Option<Uuid> {
        None
    }

    fn append<'a>(
        &'a self,
        entries: &'a [Entry],
        change: &'a RunChange,
    ) -> BoxFuture<'a, sessions::Result<Appended>> {
        let mut log = self.log();
        if let Some(from) = change.discard_from {
            log.entries.retain(|(seq, entry)| *seq < from || !matches!(entry, Entry::Turn(_)));
        }
        let first = log.last_seq + 1;
        log.entries.extend((first..).zip(entries.iter().cloned()));
        log.last_seq += entries.len() as i64;
        let appended = Appended { seq: log.last_seq, mode: self.mode, cancel_requested: false };
        Box::pin(std::future::ready(Ok(appended)))
    }

    /// Nothing runs on from a log in memory.
    fn keep(&self, _: i64, _: Conversation) {}

    fn turns(&self) -> BoxFuture<'_, sessions::Result<Vec<Turn>>> {
        let log = self.log();
        let turns = log.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Turn(turn) => Some(turn.clone()),
            Entry::Note { .. } => None,
        });
        let turns = turns.collect();
        Box::pin(std::future::ready(Ok(turns)))
    }

    fn mode(&self) -> BoxFuture<'_, sessions::Result<Mode>> {
        Box::pin(std::future::ready(Ok(self.mode)))
    }

    fn decisions(&self) -> BoxFuture<'_, sessions::Result<Decisions>> {
        Box::pin(std::future::ready(Ok(Decisions::default())))
    }
}
