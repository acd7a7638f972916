//! The effect of a call before it runs, for the user to decide about.

use std::sync::Arc;

use agent::ToolCall;
use async_recursion::async_recursion as boxed;
use tools::Preview;
use uuid::Uuid;

use super::Runtime;
use super::leases::missing;
use crate::Result;

impl Runtime {
    /// Previews a call of a session, for the user to decide about it.
    #[boxed]
    pub async fn preview(&self, id: Uuid, call: &ToolCall) -> Result<Preview> {
        let session = self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        let Some(root) = session.root else { return Ok(Preview::default()) };
        let (workspace, call) = (Arc::clone(&self.runner.starter.workspace), call.clone());
        // A thread that fails previews nothing.
        Ok(tokio::task::spawn_blocking(move || workspace.preview(&root, &call)).await.unwrap_or_default())
    }
}
