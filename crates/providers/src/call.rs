//! One call of a model, from the request to the last event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use llm::{Failure, ReplyEvent};
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};

use crate::adapter::Parts;
use crate::failure::request_id;
use crate::omission::Fallback;
use crate::wire::Decode;
use crate::{limits, sse};

/// A request that was not sent yet.
pub(crate) struct Outgoing(RequestBuilder);

impl Outgoing {
    pub(crate) fn new(post: RequestBuilder) -> Self {
        Self(post)
    }
}

enum Stage {
    Waiting(Outgoing),
    Reading(Response),
    Failed(Box<Failure>),
    Ended,
}

pub(crate) struct Call {
    parts: Arc<Parts>,
    stage: Stage,
    events: sse::Decoder,
    decoder: Box<dyn Decode>,
    /// Until the server accepts the request.
    fallback: Option<Box<Fallback>>,
    request_id: Option<String>,
    bytes: u64,
    deadline: Instant,
    /// A permit for one request, released with the last event.
    place: Option<OwnedSemaphorePermit>,
}

impl Call {
    pub(crate) fn new(
        parts: Arc<Parts>,
        post: Outgoing,
        decoder: Box<dyn Decode>,
        fallback: Option<Fallback>,
    ) -> Self {
        let deadline = Instant::now() + parts.timeout;
        Self {
            parts,
            stage: Stage::Waiting(post),
            events: sse::Decoder::new(limits::EVENT_BYTES),
            decoder,
            fallback: fallback.map(Box::new),
            request_id: None,
            bytes: 0,
            deadline,
            place: None,
        }
    }

    /// The next event. None after the last one and after a failure.
    pub(crate) async fn next(&mut self) -> Option<Result<ReplyEvent, Failure>> {
        loop {
            if let Some(event) = self.decoder.answer().next() {
                return Some(Ok(event));
            }
            let stage = std::mem::replace(&mut self.stage, Stage::Ended);
            let next = match stage {
                Stage::Waiting(post) => self.open(post).await,
                Stage::Reading(response) => self.read(response).await,
                Stage::Failed(failure) => {
                    self.place = None;
                    return Some(Err(*failure));
                }
                Stage::Ended => {
                    self.place = None;
                    return None;
                }
            };
            // Events before the failure go out first.
            self.stage = next.unwrap_or_else(|failure| Stage::Failed(Box::new(failure)));
        }
    }

    /// Sends the request and looks at the head of the answer. A rejected request may go out again.
    async fn open(&mut self, Outgoing(post): Outgoing) -> Result<Stage, Failure> {
        let parts = Arc::clone(&self.parts);
        if let (None, Some(places)) = (&self.place, parts.places.clone()) {
            let waiting = Waiting::at(&parts.waiting);
            let place = self.in_time(self.remaining(), places.acquire_owned()).await?;
            drop(waiting);
            self.place = place.ok();
        }
        let response = self.send(post).await?;
        parts.answered.store(true, Ordering::Relaxed);
        if !response.status().is_success() {
            let failure = parts.refusal(response).await;
            return self.without_rejected(failure).map(Stage::Waiting);
        }
        if let Some(fallback) = self.fallback.take() {
            fallback.accepted(&parts.omissions);
        }
        self.request_id = request_id(response.headers());
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or("no content type");
        if !content_type.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
            let shown: String = content_type.chars().take(100).collect();
            return Err(self.broken(parts.transport(format!(
                "the stream broke off before it began: the answer is {shown}, not text/event-stream; check \
                 base_url and kind"
            ))));
        }
        self.decoder.answer().started(self.request_id.clone());
        Ok(Stage::Reading(response))
    }

    /// The request without the parameter that a failure is about. Fails again if there is none.
    fn without_rejected(&mut self, failure: Failure) -> Result<Outgoing, Failure> {
        let parts = &self.parts;
        let Some(fallback) = &mut self.fallback else { return Err(failure) };
        if !fallback.reduce(parts.kind, &failure) {
            return Err(failure);
        }
        tracing::debug!(provider = parts.name, %failure, "a parameter was rejected; sending without it");
        let (post, decoder) = parts.outgoing(&fallback.client, &fallback.request)?;
        self.decoder = decoder;
        Ok(post)
    }

    /// Sends the request, and once more if a reused connection is lost before the first byte of the
    /// answer: some servers close kept connections while a request is on its way.
    async fn send(&self, post: RequestBuilder) -> Result<Response, Failure> {
        let parts = &self.parts;
        let again = parts.answered.load(Ordering::Relaxed).then(|| post.try_clone()).flatten();
        let error = match self.in_time(parts.idle_timeout, post.send()).await? {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        match again {
            Some(again) if error.is_request() && !error.is_connect() && !error.is_timeout() => {
                tracing::debug!(provider = parts.name, "a kept connection was closed; sending again");
                let sent = self.in_time(parts.idle_timeout, again.send()).await?;
                sent.map_err(|error| parts.unreachable(&error))
            }
            _ => Err(parts.unreachable(&error)),
        }
    }

    /// Reads one piece of the body.
    async fn read(&mut self, mut response: Response) -> Result<Stage, Failure> {
        let piece = self.in_time(self.parts.idle_timeout, response.chunk()).await?;
        let piece = piece.map_err(|error| {
            let cause = crate::client::cause(&error);
            self.broken(self.parts.transport(format!("the stream broke off: {cause}")))
        })?;
        let ended = piece.is_none();
        let decoded = match piece {
            Some(piece) => self.decode(&piece),
            None => self.decode_end(),
        };
        decoded.map_err(|failure| {
            let failure = self.parts.named(failure);
            self.broken(failure)
        })?;
        if !self.decoder.answer().is_finished() {
            return Ok(Stage::Reading(response));
        }
        if !ended {
            drain(response).await;
        }
        Ok(Stage::Ended)
    }

    fn decode(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.bytes += piece.len() as u64;
        if self.bytes > limits::STREAM_BYTES {
            return Err(too_long("the answer"));
        }
        self.events.push(piece);
        while let Some(event) = self.events.next().map_err(|_| too_long("an event"))? {
            self.decoder.event(event)?;
            if self.decoder.answer().is_finished() {
                break;
            }
        }
        Ok(())
    }

    fn decode_end(&mut self) -> Result<(), Failure> {
        if let Some(event) = self.events.rest().map_err(|_| too_long("an event"))? {
            self.decoder.event(event)?;
        }
        if self.decoder.answer().is_finished() { Ok(()) } else { self.decoder.end() }
    }

    fn broken(&self, mut failure: Failure) -> Failure {
        failure.request_id = failure.request_id.or_else(|| self.request_id.clone());
        failure
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Waits, but not past the deadline of the call.
    async fn in_time<T>(&self, longest: Duration, work: impl Future<Output = T>) -> Result<T, Failure> {
        let remaining = self.remaining();
        timeout(longest.min(remaining), work).await.map_err(|_| {
            let message = if remaining <= longest {
                format!("not done within {} s (timeout_s)", self.parts.timeout.as_secs())
            } else {
                format!("silent for {} s (idle_timeout_s)", longest.as_secs())
            };
            self.broken(self.parts.transport(message))
        })
    }
}

/// Counts as waiting until it is dropped, also if the call is.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn at(queue: &'a AtomicUsize) -> Self {
        queue.fetch_add(1, Ordering::Relaxed);
        Self(queue)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn too_long(what: &str) -> Failure {
    let message = format!("the stream broke off: {what} is too long");
    Failure::new(llm::FailureKind::Transport, message)
}

/// Reads the rest of the body after the last event, so that the connection can be reused. Usually there
/// is none; a server that keeps the body open does not delay the caller.
async fn drain(mut response: Response) {
    async fn rest(response: &mut Response) {
        let mut bytes = 0;
        while let Ok(Some(piece)) = response.chunk().await {
            bytes += piece.len();
            if bytes > limits::DRAIN_BYTES {
                return;
            }
        }
    }
    // The end is mostly here already, and needs the connection's task to run once. A timer would wake
    // every thread of the runtime for it.
    for _ in 0..2 {
        if rest(&mut response).now_or_never().is_some() {
            return;
        }
        tokio::task::yield_now().await;
    }
    if timeout(limits::DRAIN_BEFORE, rest(&mut response)).await.is_err() {
        tokio::spawn(async move {
            let _ = timeout(limits::DRAIN_AFTER, rest(&mut response)).await;
        });
    }
}
