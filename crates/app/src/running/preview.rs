//! The effect of a call before it runs, for the user to decide about.

use std::sync::Arc;

use agent::{Approval, ToolCall};
use async_recursion::async_recursion as boxed;
use schemars::JsonSchema;
use serde::Serialize;
use tools::Preview;
use uuid::Uuid;

use super::Runtime;
use super::leases::missing;
use crate::{Result, SessionError};

/// A call that waits for permission, with the facts by which a user decides about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CallPreview {
    #[serde(flatten)]
    pub approval: Approval,
    #[serde(flatten)]
    pub preview: Preview,
}

impl Runtime {
    /// Previews a call that waits for permission.
    #[boxed]
    pub async fn preview_call(&self, id: Uuid, call_id: &str) -> Result<CallPreview> {
        let view = self.session(id).await?;
        let asked = |approval: &Approval| approval.session == id && approval.call.id == call_id;
        let unknown = || SessionError::UnknownCall { session: id, call: call_id.to_owned() };
        let approval = view.approvals.into_iter().find(asked).ok_or_else(unknown)?;
        let preview = self.preview(id, &approval.call).await?;
        Ok(CallPreview { approval, preview })
    }

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
