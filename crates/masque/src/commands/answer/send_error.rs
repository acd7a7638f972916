//! The error of a message that a session cannot take.

use agent::SessionStatus;
use app::running::Runtime;
use app::{Code, ErrorKind};
use uuid::Uuid;

use super::{label, pending};
use crate::failure::Failure;

/// Explains a conflict with the current run, and how to resolve it.
pub(crate) async fn send_failure(runtime: &Runtime, id: Uuid, error: app::Error) -> Failure {
    if error.kind() != ErrorKind::Conflict {
        return error.into();
    }
    let Ok(view) = runtime.session(id).await else { return error.into() };
    let message = match view.session.status {
        SessionStatus::Idle => return error.into(),
        SessionStatus::Running => format!(
            "session {id} is busy with another message; wait until it is done, or stop it with \
             `masque sessions cancel {id}`"
        ),
        SessionStatus::Waiting => {
            let calls: Vec<String> = pending(&view).iter().map(|request| label(&request.call)).collect();
            let what = match calls.is_empty() {
                true => "approval".to_owned(),
                false => format!("approval of {}", calls.join(", ")),
            };
            format!(
                "session {id} is waiting for {what}; answer with `masque sessions resume {id}` on a terminal or \
                 `masque sessions approve {id} --all` (or --reject) in a script, or stop it with \
                 `masque sessions cancel {id}`"
            )
        }
    };
    Failure::told(Code::NotSent, message)
}
