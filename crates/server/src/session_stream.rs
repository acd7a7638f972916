//! A session's events as the body of a response.
//!
//! All events that are ready go out in one piece: a slow or late viewer does not cost a write per
//! event.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agent::{ErrorCode, Event};
use app::running::{Reported, Subscription};
use axum::body::Body;
use axum::response::Response;
use bytes::{BufMut as _, Bytes, BytesMut};
use futures::{Stream, StreamExt as _};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::events::X_ACCEL_BUFFERING;
use crate::limits::{EVENT_KEEP_ALIVE, EVENT_RETRY, SESSION_PIECE_BYTES};

const STILL_HERE: &[u8] = b": still here\n\n";

/// How a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    Plain,
    /// Begins with the retry time.
    Resumable,
}

/// Responds with a subscription's events until it is over, the server stops or the client leaves. A
/// client that leaves drops the subscription.
pub(crate) fn answer(
    subscription: Subscription,
    stopping: CancellationToken,
    slot: OwnedSemaphorePermit,
    opening: Opening,
) -> Response {
    let heard = futures::stream::unfold((subscription, slot), |(mut subscription, slot)| async {
        let told = subscription.next().await.transpose()?;
        Some((told, (subscription, slot)))
    });
    let heard = heard.take_until(stopping.cancelled_owned());
    let mut response = Response::new(Body::from_stream(Pieces::new(heard, opening, EVENT_KEEP_ALIVE)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// The pieces in which events are sent.
struct Pieces<S> {
    heard: Pin<Box<S>>,
    /// The next piece.
    buffer: BytesMut,
    interval: Duration,
    /// The time of the last piece. The timer compares it when it fires; setting the timer with each
    /// piece would cost more.
    spoke: Instant,
    timer: Pin<Box<Sleep>>,
    is_over: bool,
}

impl<S: Stream<Item = app::Result<Arc<Reported>>>> Pieces<S> {
    fn new(heard: S, opening: Opening, interval: Duration) -> Self {
        let mut buffer = BytesMut::new();
        if opening == Opening::Resumable {
            buffer.extend_from_slice(format!("retry: {}\n\n", EVENT_RETRY.as_millis()).as_bytes());
        }
        let now = Instant::now();
        let timer = Box::pin(sleep_until(now + interval));
        Self { heard: Box::pin(heard), buffer, interval, spoke: now, timer, is_over: false }
    }

    /// Collects all events that are ready.
    fn gather(&mut self, context: &mut Context<'_>) {
        while !self.is_over && self.buffer.len() < SESSION_PIECE_BYTES {
            match self.heard.as_mut().poll_next(context) {
                Poll::Ready(Some(Ok(told))) => {
                    if let Err(error) = write(&mut self.buffer, &told) {
                        self.fail(&error.to_string());
                    }
                }
                Poll::Ready(Some(Err(error))) => self.fail(&error.to_string()),
                Poll::Ready(None) => self.is_over = true,
                Poll::Pending => return,
            }
        }
    }

    /// Ends the stream with an error. It has no id, so a client that reconnects continues before it.
    fn fail(&mut self, error: &str) {
        self.is_over = true;
        tracing::error!(error, "a session's events could not be read");
        let message = format!("the session's events could not be read: {error}; reconnect for the rest");
        let event = Event::Error { code: ErrorCode::Storage, message };
        // A code and a text always serialize.
        let data = serde_json::to_string(&event).unwrap_or_default();
        self.buffer.extend_from_slice(format!("event: {}\ndata: {data}\n\n", event.name()).as_bytes());
    }
}

impl<S: Stream<Item = app::Result<Arc<Reported>>>> Stream for Pieces<S> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.gather(context);
        if !self.buffer.is_empty() {
            self.spoke = Instant::now();
            return Poll::Ready(Some(Ok(self.buffer.split().freeze())));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        loop {
            ready!(self.timer.as_mut().poll(context));
            let (now, due) = (Instant::now(), self.spoke + self.interval);
            if due <= now {
                self.spoke = now;
                let next = now + self.interval;
                self.timer.as_mut().reset(next);
                return Poll::Ready(Some(Ok(Bytes::from_static(STILL_HERE))));
            }
            self.timer.as_mut().reset(due);
        }
    }
}

/// One event. Its JSON has no line ends, so its data is one line.
fn write(buffer: &mut BytesMut, told: &Reported) -> serde_json::Result<()> {
    use std::fmt::Write as _;
    let start = buffer.len();
    // Writing into memory does not fail.
    let _ = write!(buffer, "id: {}\nevent: {}\ndata: ", told.id, told.event.name());
    if let Err(error) = serde_json::to_writer((&mut *buffer).writer(), &told.event) {
        buffer.truncate(start);
        return Err(error);
    }
    buffer.extend_from_slice(b"\n\n");
    Ok(())
}

#[cfg(test)]
mod tests;
