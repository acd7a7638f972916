//! Progress of calls that are under way, as events of their runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use serde_json::json;

use crate::text::shortened;
use crate::{EventSender, Invocation, limits};

/// The calls that listen for progress, by the token that their requests carry.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Listeners>>);

type Listeners = HashMap<ProgressToken, Listener>;

#[derive(Debug)]
struct Listener {
    call_id: String,
    events: EventSender,
}

impl Progress {
    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwards the progress of a request to its call until the guard is dropped.
    pub(super) fn listen(&self, token: ProgressToken, invocation: &Invocation) -> Listening {
        let (call_id, events) = (invocation.call.id.clone(), invocation.events.clone());
        self.listeners().insert(token.clone(), Listener { call_id, events });
        Listening { progress: self.clone(), token }
    }

    /// Forwards a notification. Drops it if no call listens.
    pub(super) fn notify(&self, notification: ProgressNotificationParam) {
        let ProgressNotificationParam { progress_token, progress, total, message, .. } = notification;
        let mut event = json!({ "type": "progress", "progress": progress });
        if let Some(total) = total {
            event["total"] = json!(total);
        }
        if let Some(message) = message {
            event["message"] = json!(shortened(&message, limits::PROGRESS_CHARS));
        }
        if let Some(Listener { call_id, events }) = self.listeners().get(&progress_token) {
            events.send(call_id, event);
        }
    }
}

pub(super) struct Listening {
    progress: Progress,
    token: ProgressToken,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.progress.listeners().remove(&self.token);
    }
}
