//! The events of a test run as the body of a response.

use std::convert::Infallible;
use std::pin::Pin;

use app::testing::{TestEvent, TestEvents};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::events::X_ACCEL_BUFFERING;
use crate::limits::EVENT_KEEP_ALIVE;
use crate::open_streams::StreamSlot;
use crate::session_stream::Ending;

/// Responds with the events of a run until it is over or the client leaves. The run goes on without its
/// viewers. When the server stops, the stream ends with the run, whose last event says how far it came.
pub(crate) fn answer(
    events: TestEvents,
    (stopping, ending): (CancellationToken, Ending),
    slot: StreamSlot,
) -> Response {
    let pieces = futures::stream::unfold((events, 0_u64, slot), move |(mut events, number, slot)| {
        let (stopping, ending) = (stopping.clone(), ending.clone());
        async move {
            let event = tokio::select! {
                biased;
                event = timeout(EVENT_KEEP_ALIVE, next(&mut events)) => event,
                () = stopping.cancelled() => {
                    ending.begin();
                    timeout(EVENT_KEEP_ALIVE, next(&mut events)).await
                }
            };
            let Ok(event) = event else {
                return Some((Ok(Bytes::from_static(b": still here\n\n")), (events, number, slot)));
            };
            let event = event?;
            let data = serde_json::to_string(&event).unwrap_or_default();
            let text = format!("id: {number}\nevent: {}\ndata: {data}\n\n", event.name());
            Some((Ok::<_, Infallible>(Bytes::from(text)), (events, number + 1, slot)))
        }
    });
    event_stream(Body::from_stream(pieces))
}

/// A response whose body is Server-Sent Events.
pub(crate) fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Boxed: a run's events are seldom, and the future is large.
fn next(events: &mut TestEvents) -> Pin<Box<dyn Future<Output = Option<TestEvent>> + Send + '_>> {
    Box::pin(events.next())
}
