//! The sessions that this process runs or that are watched from here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use agent::Session;
use uuid::Uuid;

use super::live::LiveSession;

/// A registry of live sessions. It keeps none of them alive: their runs and viewers do.
#[derive(Debug, Default)]
pub(super) struct LiveSessions(Mutex<HashMap<Uuid, Weak<LiveSession>>>);

impl LiveSessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Weak<LiveSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, id: Uuid) -> Option<Arc<LiveSession>> {
        self.lock().get(&id).and_then(Weak::upgrade)
    }

    pub(super) fn all(&self) -> Vec<Arc<LiveSession>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }

    /// The sessions that this process drives, and the names under which it holds them.
    pub(super) fn running(&self) -> Vec<(Uuid, String)> {
        self.all().iter().filter_map(|live| Some((live.id, live.run.holder()?))).collect()
    }

    /// True if this process drives the session.
    pub(super) fn is_running(&self, id: Uuid) -> bool {
        self.find(id).is_some_and(|live| live.run.is_running())
    }

    /// The live session, registered if there is none.
    pub(super) fn get_or_insert(
        &self,
        session: &Session,
        parent: Option<Arc<LiveSession>>,
    ) -> Arc<LiveSession> {
        let mut all = self.lock();
        if let Some(live) = all.get(&session.id).and_then(Weak::upgrade) {
            return live;
        }
        all.retain(|_, live| live.strong_count() > 0);
        let live = Arc::new(LiveSession::new(session.id, parent, session.mode, session.last_seq));
        all.insert(session.id, Arc::downgrade(&live));
        live
    }
}
