//! Sessions of the older protocol era, bounded in number and in idle time, so that no client can
//! fill the memory with sessions that it never closes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use crate::limits::{SESSION_IDLE, SESSIONS};

/// A session manager that gives up the session which was idle longest for a new one.
#[derive(Debug)]
pub(super) struct BoundedSessions {
    sessions: Arc<LocalSessionManager>,
    /// When each session was last used.
    used: Mutex<HashMap<SessionId, Instant>>,
    most: usize,
}

impl BoundedSessions {
    pub(super) fn new() -> Self {
        Self::with_most(SESSIONS)
    }

    fn with_most(most: usize) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        Self { sessions: Arc::new(sessions), used: Mutex::default(), most }
    }

    fn touch(&self, id: &SessionId) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = used.get_mut(id) {
            *last = Instant::now();
        }
    }

    /// Gives up the session that was idle longest if there is no room for another.
    fn make_room(&self) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = used.iter().min_by_key(|(_, last)| **last).map(|(id, _)| id.clone());
        let Some(id) = oldest.filter(|_| used.len() >= self.most) else { return };
        used.remove(&id);
        tracing::warn!(most = self.most, "too many sessions; the one that was idle longest is closed");
        // A client that does not read its stream may make this wait; a new one must not.
        let sessions = Arc::clone(&self.sessions);
        tokio::spawn(async move { sessions.close_session(&id).await });
    }
}

impl SessionManager for BoundedSessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.make_room();
        let (id, transport) = self.sessions.create_session().await?;
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Instant::now());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.sessions.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.sessions.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.sessions.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        self.sessions.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.touch(id);
        self.sessions.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        self.sessions.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        self.sessions.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_session_that_was_idle_longest_makes_room() {
        let sessions = BoundedSessions::with_most(2);
        let (first, _first) = sessions.create_session().await.expect("a session");
        let (second, _second) = sessions.create_session().await.expect("a session");
        sessions.touch(&first);
        let (third, _third) = sessions.create_session().await.expect("a session");
        tokio::task::yield_now().await;
        assert!(sessions.has_session(&first).await.expect("asked"));
        assert!(!sessions.has_session(&second).await.expect("asked"));
        assert!(sessions.has_session(&third).await.expect("asked"));
    }
}
