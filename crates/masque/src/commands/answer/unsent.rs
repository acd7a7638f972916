//! Why a session took no message, and what to do about it on a command line.

use agent::SessionStatus;
use app::running::Runtime;
use app::{Code, ErrorKind};
use uuid::Uuid;

use super::{label, pending};
use crate::failure::Failure;

/// What whoever said something is told.
pub(crate) async fn unsent(runtime: &Runtime, id: Uuid, error: app::Error) -> Failure {
    if error.kind() != ErrorKind::Conflict {
        return error.into();
    }
    let Ok(view) = runtime.session(id).await else { return error.into() };
    let message = match view.session.status {
        SessionStatus::Idle => return error.into(),
        SessionStatus::Running => format!(
            "session {id} is answering somebody else; wait until it is done, or stop it with \
             `masque sessions cancel {id}`"
        ),
        SessionStatus::Waiting => {
            let calls: Vec<String> = pending(&view).iter().map(|request| label(&request.call)).collect();
            let what = match calls.is_empty() {
                true => "permission".to_owned(),
                false => format!("permission to call {}", calls.join(", ")),
            };
            format!(
                "session {id} waits for {what}; answer on a terminal with `masque sessions resume {id}`, or \
                 from a script with `masque sessions approve {id} --all` (--reject refuses), or stop it with \
                 `masque sessions cancel {id}`"
            )
        }
    };
    Failure::told(Code::NotSent, message)
}
