//! The client's side of a connection to a server.

#![expect(deprecated, reason = "servers of older revisions still ask for roots")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ListRootsRequestMethod, ListRootsResult,
    ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};

use super::progress::Progress;

/// Declines all requests of a server (sampling, elicitation, roots): they would bypass the permissions
/// of the session that calls it.
#[derive(Debug)]
pub(super) struct Client {
    /// Set when the server announces that its tools changed.
    pub(super) changed: Arc<AtomicBool>,
    pub(super) progress: Progress,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("masque", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.notify(notification);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
