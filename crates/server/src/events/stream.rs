//! One client's stream: it reads the log at its own pace, and holds nothing back for itself.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures::Stream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::log::{Entry, Log};
use crate::limits::EVENT_RETRY;

pub(super) struct Reader {
    log: Arc<Log>,
    newest: watch::Receiver<u64>,
    /// The place of the last event that was sent.
    place: u64,
    /// What was read from the log and is not sent yet.
    waiting: VecDeque<Entry>,
    begun: bool,
    stopping: CancellationToken,
    /// Given back when the stream ends, whoever ends it.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Reader {
    pub(super) fn new(
        log: Arc<Log>,
        last: Option<&str>,
        stopping: CancellationToken,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let newest = log.subscribe();
        let waiting: VecDeque<Entry> = log.begin(last).into();
        let place = waiting.back().map_or(0, |entry| entry.place);
        Self { log, newest, place, waiting, begun: false, stopping, _slot: slot }
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        futures::stream::unfold(self, |mut reader| async {
            let entry = reader.next().await?;
            Some((Ok(reader.event(&entry)), reader))
        })
    }

    /// The next event; none when the server stops. A client that comes back then gets the rest.
    async fn next(&mut self) -> Option<Entry> {
        loop {
            if self.stopping.is_cancelled() {
                return None;
            }
            if let Some(entry) = self.waiting.pop_front() {
                self.place = entry.place;
                return Some(entry);
            }
            // Seen before the log is read: what comes in between wakes us again.
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

    fn event(&mut self, entry: &Entry) -> Event {
        let event = Event::default().id(self.log.id(entry.place)).event(entry.event).data(&*entry.data);
        if std::mem::replace(&mut self.begun, true) { event } else { event.retry(EVENT_RETRY) }
    }
}
