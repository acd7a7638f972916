//! `GET /api/events`: what changes in the library, as Server-Sent Events.
//!
//! There are three: `change` is one entity, `everything` means that all of it is to be read again,
//! and `problems` is what is wrong with the files now. Each carries its place in a log that the
//! process keeps, so that a client that comes back with the last one gets what it missed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use app::{Changes, Library};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::limits::{EVENT_KEEP_ALIVE, EVENT_RETRY_AFTER_S, EVENT_STREAMS, EVENTS};
use crate::problem::Problem;

mod log;
use log::Log;
mod problems;
mod stream;
use stream::Reader;

pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Proxies that gather answers before they pass them on are asked not to.
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What all streams of a server share.
#[derive(Debug)]
pub(crate) struct Events {
    library: Library,
    log: Arc<Log>,
    slots: Arc<Semaphore>,
    /// Set by the first stream: a server that nobody watches follows nothing.
    follower: OnceLock<DropGuard>,
}

impl Events {
    pub(crate) fn new(library: Library) -> Self {
        Self {
            library,
            log: Arc::new(Log::new(rand::random(), EVENTS)),
            slots: Arc::new(Semaphore::new(EVENT_STREAMS)),
            follower: OnceLock::new(),
        }
    }

    /// Opens a stream of what comes after the event that the client saw last.
    pub(crate) fn open(&self, last: Option<&str>, stopping: CancellationToken) -> Response {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else { return all_taken() };
        answer(self.followed(), last, stopping, Some(slot), EVENT_KEEP_ALIVE)
    }

    /// Sees to it that the log is written from now on; returns it.
    fn followed(&self) -> Arc<Log> {
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

/// Writes changes into the log until the server is gone.
async fn follow(library: Library, mut changes: Changes, log: Arc<Log>, ended: CancellationToken) {
    loop {
        let batch = tokio::select! {
            () = ended.cancelled() => return,
            batch = changes.next() => batch,
        };
        let Some(batch) = batch else { return };
        batch.iter().for_each(|change| log.note(change));
        // Problems have no changes of their own: they come and go with a change of their file, and a
        // burst compares them once.
        log.note_problems(|| problems::described(&library.problems()));
    }
}

fn all_taken() -> Response {
    let detail = format!("{EVENT_STREAMS} streams of events are open, and there are no more; close one");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(EVENT_RETRY_AFTER_S).into_response()
}

/// One stream: what the client missed, and then what comes.
fn answer(
    log: Arc<Log>,
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
