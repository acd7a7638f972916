//! `GET /api/events`: changes of the library as Server-Sent Events.
//!
//! There are three events: `change` is one entity, `everything` means that clients should read
//! everything again, and `problems` lists the current errors in files. Each has its place in a log of
//! this process, so that a client that reconnects with the last id gets the events it missed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use app::{Changes, Library};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::limits::{EVENT_KEEP_ALIVE, EVENT_RETRY_AFTER_S, EVENTS};
use crate::problem::Problem;
use crate::request_error::RequestError;

mod log;
use log::ChangeLog;
mod problems;
mod stream;
use stream::Reader;

pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Asks proxies not to buffer the response.
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The state that all streams of a server share.
#[derive(Debug)]
pub(crate) struct Events {
    library: Library,
    log: Arc<ChangeLog>,
    slots: Arc<Semaphore>,
    most: usize,
    /// Set by the first stream: a server without viewers follows nothing.
    follower: OnceLock<DropGuard>,
}

impl Events {
    pub(crate) fn new(library: Library, most: usize) -> Self {
        Self {
            library,
            log: Arc::new(ChangeLog::new(rand::random(), EVENTS)),
            slots: Arc::new(Semaphore::new(most)),
            most,
            follower: OnceLock::new(),
        }
    }

    /// Opens a stream of the events after the last one that the client saw.
    pub(crate) fn open(&self, last: Option<&str>, stopping: CancellationToken) -> Response {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else { return all_taken(self.most) };
        answer(self.followed(), last, stopping, Some(slot), EVENT_KEEP_ALIVE)
    }

    pub(crate) fn open_streams(&self) -> usize {
        self.most - self.slots.available_permits()
    }

    /// Starts to write the log, if needed. Returns it.
    fn followed(&self) -> Arc<ChangeLog> {
        self.follower.get_or_init(|| {
            let ended = CancellationToken::new();
            let changes = self.library.changes();
            tokio::spawn(follow(self.library.clone(), changes, Arc::clone(&self.log), ended.clone()));
            ended.drop_guard()
        });
        self.log.note_problems(|| problems::described(&self.library.problems()));
        Arc::clone(&self.log)
    }
}

/// Writes changes to the log until the server stops.
async fn follow(library: Library, mut changes: Changes, log: Arc<ChangeLog>, ended: CancellationToken) {
    loop {
        let batch = tokio::select! {
            () = ended.cancelled() => return,
            batch = changes.next() => batch,
        };
        let Some(batch) = batch else { return };
        batch.iter().for_each(|change| log.note(change));
        // Problems change only together with their file. A burst of changes compares them once.
        log.note_problems(|| problems::described(&library.problems()));
    }
}

fn all_taken(most: usize) -> Response {
    let error = RequestError::TooManyStreams { what: "events", most };
    Problem::from(error).retry_after(EVENT_RETRY_AFTER_S).into_response()
}

/// One stream: missed events first, then new ones.
fn answer(
    log: Arc<ChangeLog>,
    last: Option<&str>,
    stopping: CancellationToken,
    slot: Option<OwnedSemaphorePermit>,
    keep_alive: Duration,
) -> Response {
    let reader = Reader::new(log, last, stopping, slot);
    let keep_alive = KeepAlive::new().interval(keep_alive).text("still here");
    let mut response = Sse::new(reader.into_stream()).keep_alive(keep_alive).into_response();
    response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests;
