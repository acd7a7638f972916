//! Our side of the conversation with a server.

#![expect(deprecated, reason = "servers of older revisions still ask for roots")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ListRootsRequestMethod, ListRootsResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};

/// Whatever a server asks for (a model's answer, a person's input, the roots) is declined: it would be
/// a way around the permissions of the session that calls it.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) changed: Arc<AtomicBool>,
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

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
