//! The approval requests that a session waits for.

use agent::{Approval, ToolCall};
use app::running::SessionView;
use uuid::Uuid;

/// A call that needs the user's approval.
#[derive(Debug, Clone)]
pub(crate) struct ApprovalRequest {
    /// The session whose call it is: the one on screen, or a delegate's.
    pub(crate) session: Uuid,
    pub(crate) call: ToolCall,
}

/// The open requests of a session and its delegates.
pub(crate) fn pending(view: &SessionView) -> Vec<ApprovalRequest> {
    let open = view.approvals.iter().cloned();
    open.map(|Approval { session, call, .. }| ApprovalRequest { session, call }).collect()
}
