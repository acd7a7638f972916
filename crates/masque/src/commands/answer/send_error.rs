//! The error of a message that a session cannot take.

use agent::SessionStatus;
use app::ErrorKind;
use app::running::Runtime;
use uuid::Uuid;

use super::{label, pending};
use crate::failure::{CommandError, Failure};

/// Explains a conflict with the current run, and how to resolve it.
pub(crate) async fn send_failure(runtime: &Runtime, id: Uuid, error: app::Error) -> Failure {
    if error.kind() != ErrorKind::Conflict {
        return error.into();
    }
    let Ok(view) = runtime.session(id).await else { return error.into() };
    match view.session.status {
        SessionStatus::Idle => error.into(),
        SessionStatus::Running => CommandError::Answering { id }.into(),
        SessionStatus::Waiting => {
            let calls = pending(&view).iter().map(|request| label(&request.call)).collect();
            CommandError::AwaitsPermission { id, calls }.into()
        }
    }
}
