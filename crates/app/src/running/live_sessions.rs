//! The sessions that this process runs or that are watched from here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use agent::Session;
use uuid::Uuid;

use super::live::Live;

/// A registry of live sessions. It keeps none of them alive: their runs and viewers do.
#[derive(Debug, Default)]
pub(super) struct LiveSessions(Mutex<HashMap<Uuid, Weak<Live>>>);

impl LiveSessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Weak<Live>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, id: Uuid) -> Option<Arc<Live>> {
        self.lock().get(&id).and_then(Weak::upgrade)
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }

    /// The sessions that this process drives.
    pub(super) fn running(&self) -> Vec<Uuid> {
        self.all().iter().filter(|live| live.is_running()).map(|live| live.id).collect()
    }

    /// True if this process drives the session.
    pub(super) fn is_running(&self, id: Uuid) -> bool {
        self.find(id).is_some_and(|live| live.is_running())
    }

    /// The live session, registered if there is none.
    pub(super) fn get_or_insert(&self, session: &Session, parent: Option<Arc<Live>>) -> Arc<Live> {
        let mut all = self.lock();
        if let Some(live) = all.get(&session.id).and_then(Weak::upgrade) {
            return live;
        }
        all.retain(|_, live| live.strong_count() > 0);
        let live = Arc::new(Live::new(session.id, parent, session.mode, session.last_seq));
        all.insert(session.id, Arc::downgrade(&live));
        live
    }
}
