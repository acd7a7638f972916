//! A session's events as the body of a response, in full or as those of a chat.
//!
//! All events that are ready go out in one piece: a slow or late viewer does not cost a write per
//! event.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agent::{ErrorCode, Event};
use app::Runtime;
use app::editing::{ChatEvent, ChatEvents};
use app::running::{Reported, Subscription};
use axum::body::Body;
use axum::response::Response;
use bytes::{BufMut as _, Bytes, BytesMut};
use futures::Stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::Serialize;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::events::X_ACCEL_BUFFERING;
use crate::limits::{EVENT_KEEP_ALIVE, EVENT_RETRY, LAST_EVENT_TIMEOUT, RUN_GRACE, SESSION_PIECE_BYTES};
use crate::open_streams::StreamSlot;

const STILL_HERE: &[u8] = b": still here\n\n";

/// How a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    Plain,
    /// Begins with the retry time.
    Resumable,
}

/// Ends the runs and tests of a server that stops, so that their streams end with them.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    runtime: Runtime,
    has_begun: Arc<AtomicBool>,
}

impl Ending {
    pub(crate) fn new(runtime: Runtime) -> Self {
        Self { runtime, has_begun: Arc::default() }
    }

    /// Lets runs end by themselves for a while, then stops them. The first stream starts this for all.
    pub(crate) fn begin(&self) {
        if !self.has_begun.swap(true, Ordering::Relaxed) {
            let runtime = self.runtime.clone();
            tokio::spawn(async move { runtime.finish(RUN_GRACE).await });
        }
    }
}

/// The form of the events.
#[derive(Debug)]
pub(crate) enum Form {
    Session,
    /// The six events of a chat, each as its data alone.
    Chat(ChatEvents),
}

/// Responds with a subscription's events until it is over or the client leaves. When the server stops, a
/// stream ends with the run behind it, at once if there is none. A client that leaves drops the
/// subscription.
pub(crate) fn answer(
    subscription: Subscription,
    form: Form,
    (stopping, ending): (CancellationToken, Ending),
    slot: StreamSlot,
    opening: Opening,
) -> Response {
    let heard = futures::stream::unfold((subscription, slot), move |(mut subscription, slot)| {
        let (stopping, ending) = (stopping.clone(), ending.clone());
        async move {
            let told = tokio::select! {
                biased;
                told = subscription.next() => told,
                () = stopping.cancelled() => {
                    ending.begin();
                    if subscription.is_running() {
                        subscription.next().await
                    } else {
                        // The end of a run is reported just after it.
                        timeout(LAST_EVENT_TIMEOUT, subscription.next()).await.ok()?
                    }
                }
            };
            Some((told.transpose()?, (subscription, slot)))
        }
    });
    let mut response = Response::new(Body::from_stream(Pieces::new(heard, form, opening, EVENT_KEEP_ALIVE)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// The pieces in which events are sent.
struct Pieces<S> {
    heard: Pin<Box<S>>,
    form: Form,
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
    fn new(heard: S, form: Form, opening: Opening, interval: Duration) -> Self {
        let mut buffer = BytesMut::new();
        if opening == Opening::Resumable {
            buffer.extend_from_slice(format!("retry: {}\n\n", EVENT_RETRY.as_millis()).as_bytes());
        }
        let now = Instant::now();
        let timer = Box::pin(sleep_until(now + interval));
        Self { heard: Box::pin(heard), form, buffer, interval, spoke: now, timer, is_over: false }
    }

    /// Collects all events that are ready.
    fn gather(&mut self, context: &mut Context<'_>) {
        while !self.is_over && self.buffer.len() < SESSION_PIECE_BYTES {
            match self.heard.as_mut().poll_next(context) {
                Poll::Ready(Some(Ok(told))) => {
                    if let Err(error) = self.form.write(&mut self.buffer, &told) {
                        self.fail(&error.to_string());
                    }
                }
                Poll::Ready(Some(Err(error))) => self.fail(&error.to_string()),
                Poll::Ready(None) => {
                    self.is_over = true;
                    self.form.end(&mut self.buffer);
                }
                Poll::Pending => return,
            }
        }
    }

    /// Ends the stream with an error. It has no id, so a client that reconnects continues before it.
    fn fail(&mut self, error: &str) {
        self.is_over = true;
        tracing::error!(error, "a session's events could not be read");
        let message = format!("the session's events could not be read: {error}; reconnect for the rest");
        // A code and a text always serialize.
        let text = match self.form {
            Form::Session => {
                let event = Event::Error { code: ErrorCode::Storage, message };
                let data = serde_json::to_string(&event).unwrap_or_default();
                format!("event: {}\ndata: {data}\n\n", event.name())
            }
            Form::Chat(_) => {
                let data = serde_json::to_string(&ChatEvent::Error { message }).unwrap_or_default();
                format!("data: {data}\n\n")
            }
        };
        self.buffer.extend_from_slice(text.as_bytes());
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

impl Form {
    /// Writes one event, if the form has it.
    fn write(&mut self, buffer: &mut BytesMut, told: &Reported) -> serde_json::Result<()> {
        use std::fmt::Write as _;
        let start = buffer.len();
        match self {
            Self::Session => {
                // Writing into memory does not fail.
                let _ = writeln!(buffer, "id: {}\nevent: {}", told.id, told.event.name());
                data(buffer, start, &told.event)
            }
            Self::Chat(chat) => match chat.translate(&told.event) {
                Some(event) => data(buffer, start, &event),
                None => Ok(()),
            },
        }
    }

    /// Says that a chat ends early. A session's stream can be resumed instead.
    fn end(&mut self, buffer: &mut BytesMut) {
        if let Self::Chat(chat) = self
            && let Some(event) = chat.cut_off()
        {
            let start = buffer.len();
            // A text always serializes.
            let _ = data(buffer, start, &event);
        }
    }
}

/// The data of an event. Its JSON has no line ends, so it is one line.
fn data(buffer: &mut BytesMut, start: usize, event: &impl Serialize) -> serde_json::Result<()> {
    buffer.extend_from_slice(b"data: ");
    if let Err(error) = serde_json::to_writer((&mut *buffer).writer(), event) {
        buffer.truncate(start);
        return Err(error);
    }
    buffer.extend_from_slice(b"\n\n");
    Ok(())
}

#[cfg(test)]
mod tests;
