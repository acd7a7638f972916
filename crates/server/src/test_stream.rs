//! The events of a test run as the body of a response.

use std::convert::Infallible;
use std::pin::Pin;

use app::testing::{TestEvent, TestEvents};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::StreamExt as _;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::events::X_ACCEL_BUFFERING;
use crate::limits::EVENT_KEEP_ALIVE;

/// Responds with the events of a run until it is over, the server stops or the client leaves. The run
/// goes on without its viewers.
pub(crate) fn answer(
    events: TestEvents,
    stopping: CancellationToken,
    slot: OwnedSemaphorePermit,
) -> Response {
    let pieces = futures::stream::unfold((events, 0_u64, slot), |(mut events, number, slot)| async move {
        let piece = match timeout(EVENT_KEEP_ALIVE, next(&mut events)).await {
            Err(_) => return Some((Ok(Bytes::from_static(b": still here\n\n")), (events, number, slot))),
            Ok(event) => event?,
        };
        let data = serde_json::to_string(&piece).unwrap_or_default();
        let text = format!("id: {number}\nevent: {}\ndata: {data}\n\n", piece.name());
        Some((Ok::<_, Infallible>(Bytes::from(text)), (events, number + 1, slot)))
    });
    let mut response = Response::new(Body::from_stream(pieces.take_until(stopping.cancelled_owned())));
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
