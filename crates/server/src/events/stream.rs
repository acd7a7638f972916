//! One client's stream, which reads the log at its own pace.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures::Stream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::log::{ChangeLog, LoggedChange};
use crate::limits::EVENT_RETRY;

pub(super) struct Reader {
    log: Arc<ChangeLog>,
    newest: watch::Receiver<u64>,
    /// The place of the last event that was sent.
    place: u64,
    /// Events read from the log and not sent yet.
    waiting: VecDeque<LoggedChange>,
    begun: bool,
    stopping: CancellationToken,
    /// Released when the stream ends.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Reader {
    pub(super) fn new(
        log: Arc<ChangeLog>,
        last: Option<&str>,
        stopping: CancellationToken,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let newest = log.subscribe();
        let waiting: VecDeque<LoggedChange> = log.begin(last).into();
        let place = waiting.back().map_or(0, |entry| entry.place);
        Self { log, newest, place, waiting, begun: false, stopping, _slot: slot }
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        futures::stream::unfold(self, |mut reader| async {
            let entry = reader.next().await?;
            Some((Ok(reader.event(&entry)), reader))
        })
    }

    /// The next event. None when the server stops; a client that reconnects gets the rest.
    async fn next(&mut self) -> Option<LoggedChange> {
        loop {
            if self.stopping.is_cancelled() {
                return None;
            }
            if let Some(entry) = self.waiting.pop_front() {
                self.place = entry.place;
                return Some(entry);
            }
            // Marked before the log is read, so that an event in between wakes us again.
            self.newest.borrow_and_update();
            self.waiting = self.log.after(self.place).into();
            if self.waiting.is_empty() {
                tokio::select! {
                    () = self.stopping.cancelled() => return None,
                    changed = self.newest.changed() => changed.ok()?,
                }
            }
        }
    }

    fn event(&mut self, entry: &LoggedChange) -> Event {
        let event = Event::default().id(self.log.id(entry.place)).event(entry.event).data(&*entry.data);
        if std::mem::replace(&mut self.begun, true) { event } else { event.retry(EVENT_RETRY) }
    }
}
