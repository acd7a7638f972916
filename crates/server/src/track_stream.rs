//! The events of a track as the body of a response.

use std::convert::Infallible;
use std::pin::Pin;

use app::conducting::{TrackEvent, TrackEvents};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::limits::EVENT_KEEP_ALIVE;
use crate::open_streams::StreamSlot;
use crate::test_stream::event_stream;

/// Responds with the events of a track until it ends, the client leaves or the server stops. The id of an
/// event is its number in the log, so that a client that reconnects goes on after it.
pub(crate) fn answer(events: TrackEvents, stopping: CancellationToken, slot: StreamSlot) -> Response {
    let pieces = futures::stream::unfold((events, slot), move |(mut events, slot)| {
        let stopping = stopping.clone();
        async move {
            let event = tokio::select! {
                biased;
                event = timeout(EVENT_KEEP_ALIVE, next(&mut events)) => event,
                () = stopping.cancelled() => return None,
            };
            let Ok(event) = event else {
                return Some((Ok(Bytes::from_static(b": still here\n\n")), (events, slot)));
            };
            let event = event?;
            let data = serde_json::to_string(&event).unwrap_or_default();
            let id = event.seq().map(|seq| format!("id: {seq}\n")).unwrap_or_default();
            let text = format!("{id}event: {}\ndata: {data}\n\n", event.name());
            Some((Ok::<_, Infallible>(Bytes::from(text)), (events, slot)))
        }
    });
    event_stream(Body::from_stream(pieces))
}

/// The next event; `None` at the end, or if the log cannot be read: the client connects again.
fn next(events: &mut TrackEvents) -> Pin<Box<dyn Future<Output = Option<TrackEvent>> + Send + '_>> {
    Box::pin(async {
        events.next().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the events of a track cannot be read");
            None
        })
    })
}
