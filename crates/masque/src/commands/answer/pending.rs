//! The calls that a session waits for somebody's permission for.

use agent::Approval;
use app::running::SessionView;
use serde_json::{Map, Value};
use uuid::Uuid;

/// A call that somebody has to allow.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Whose call it is: the session's own, or that of one that it delegated to.
    pub(crate) session: Uuid,
    pub(crate) call_id: String,
    pub(crate) tool_name: String,
    pub(crate) input: Map<String, Value>,
}

/// The calls that nobody has decided about: its own, and those of personas that it delegated to.
pub(crate) fn pending(view: &SessionView) -> Vec<Asked> {
    let asked = view.approvals.iter().map(|approval| {
        let Approval { session, call_id, tool_name, input, .. } = approval.clone();
        Asked { session, call_id, tool_name, input }
    });
    asked.collect()
}
