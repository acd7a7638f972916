//! A recording proxy between a client and a real provider.
//!
//! Keys pass through in the client's headers and are never written.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, RETRY_AFTER, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cassette::{self, Cassette, CassetteError, Chunk, Exchange, RecordedRequest, RecordedResponse};
use crate::limits;
use crate::protocol::{self, Protocol};
use crate::serve::{self, Listening, query_without_secrets};

/// A save may take this part of the time since the last one.
const SAVE_SHARE: u32 = 20;

#[derive(Debug, Clone)]
pub struct RecordingOptions {
    /// The provider: an origin, or a base URL as clients are given it.
    pub upstream: String,
    /// Passes on requests of this protocol only. None: all four.
    pub kind: Option<Protocol>,
    /// The path of the cassette; it ends in .toml or .json.
    pub cassette: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("invalid provider address {upstream:?} ({reason}); use one such as https://api.anthropic.com")]
    Upstream { upstream: String, reason: String },
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
    #[error("cannot make a client: {0}")]
    Client(reqwest::Error),
}

/// A recording proxy that listens.
#[derive(Debug)]
pub struct Recorder {
    listening: Listening,
    tape: Arc<Tape>,
}

impl Recorder {
    /// Starts on a port. Writes the file at once, so that a wrong path fails early.
    pub fn start(options: RecordingOptions, listener: TcpListener) -> Result<Self, RecordError> {
        Cassette::check_name(&options.cassette)?;
        let upstream = upstream(&options.upstream)?;
        Cassette::new(Vec::new()).write(&options.cassette)?;
        // reqwest needs a TLS provider; only the first installation in a process counts.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits::UPSTREAM_CONNECT)
            .read_timeout(limits::UPSTREAM_IDLE)
            .build()
            .map_err(RecordError::Client)?;
        let tape =
            Arc::new(Tape { cassette: options.cassette, state: Mutex::default(), writing: Mutex::default() });
        let proxy = Arc::new(Proxy { client, upstream, kind: options.kind, tape: Arc::clone(&tape) });
        let router = Router::new().fallback(pass).with_state(proxy);
        Ok(Self { listening: Listening::start(listener, router)?, tape })
    }

    pub fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The number of recorded exchanges.
    pub fn exchanges(&self) -> usize {
        self.tape.state().exchanges.iter().flatten().count()
    }

    /// Ends all connections and writes the cassette. Returns the number of its exchanges.
    pub async fn stop(self) -> Result<usize, RecordError> {
        let Self { listening, tape } = self;
        listening.stop().await;
        Ok(tape.save()?)
    }
}

/// The upstream without the version, which the paths of requests have.
fn upstream(text: &str) -> Result<String, RecordError> {
    let wrong = |reason: &str| RecordError::Upstream { upstream: text.to_owned(), reason: reason.to_owned() };
    let url = reqwest::Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("it does not begin with https:// or http://"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a ? or a #"));
    }
    let text = url.as_str().trim_end_matches('/');
    let text = ["/v1", "/v1beta"].iter().find_map(|version| text.strip_suffix(version)).unwrap_or(text);
    Ok(text.to_owned())
}

/// Recorded exchanges and their file.
#[derive(Debug)]
struct Tape {
    cassette: PathBuf,
    state: Mutex<TapeState>,
    /// Held while the file is written: two writers would replace each other's file.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct TapeState {
    /// In the order of the requests. None while the answer arrives.
    exchanges: Vec<Option<Exchange>>,
    bytes: usize,
    saved: Option<(Instant, Duration)>,
}

impl Tape {
    fn state(&self) -> MutexGuard<'_, TapeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a place for an exchange. None if the cassette is full.
    fn place(&self) -> Option<usize> {
        let mut state = self.state();
        let room = state.exchanges.len() < limits::EXCHANGES && state.bytes < limits::CASSETTE_BYTES / 2;
        room.then(|| {
            state.exchanges.push(None);
            state.exchanges.len() - 1
        })
    }

    fn keep(&self, place: usize, exchange: Exchange) {
        let mut state = self.state();
        state.bytes += exchange.request.body.len();
        state.bytes += exchange.response.chunks.iter().map(Chunk::size).sum::<usize>();
        if let Some(slot) = state.exchanges.get_mut(place) {
            *slot = Some(exchange);
        }
    }

    /// True if the next save is due.
    fn wants_saving(&self) -> bool {
        let state = self.state();
        state.saved.is_none_or(|(when, took)| when.elapsed() >= took * SAVE_SHARE)
    }

    fn save(&self) -> Result<usize, CassetteError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        let exchanges: Vec<Exchange> = self.state().exchanges.iter().flatten().cloned().collect();
        let count = exchanges.len();
        Cassette::new(exchanges).write(&self.cassette)?;
        self.state().saved = Some((Instant::now(), started.elapsed()));
        Ok(count)
    }
}

#[derive(Debug)]
struct Proxy {
    client: reqwest::Client,
    upstream: String,
    kind: Option<Protocol>,
    tape: Arc<Tape>,
}

/// A family of paths belongs to a kind: OpenAI's two share the list of models.
fn belongs(kind: Protocol, endpoint: &protocol::Endpoint) -> bool {
    match endpoint {
        protocol::Endpoint::Reply(call) => call.protocol == kind,
        protocol::Endpoint::Models(of, _) => {
            let is_openai = |kind| matches!(kind, Protocol::OpenaiResponses | Protocol::OpenaiChat);
            *of == kind || is_openai(*of) && is_openai(kind)
        }
    }
}

async fn pass(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    let endpoint = match head.method {
        Method::GET | Method::POST => {
            protocol::endpoint(head.method == Method::POST, path, query, &head.headers)
        }
        _ => None,
    };
    let wanted = endpoint.is_some_and(|endpoint| proxy.kind.is_none_or(|kind| belongs(kind, &endpoint)));
    if !wanted {
        let message = format!("this recorder does not pass on {} {path}", head.method);
        return error_response(StatusCode::NOT_FOUND, &message);
    }
    let Some(body) = serve::read(body).await else {
        let message = format!("a request has at most {} bytes", limits::BODY_BYTES);
        return error_response(StatusCode::PAYLOAD_TOO_LARGE, &message);
    };
    let Some(place) = proxy.tape.place() else {
        return error_response(
            StatusCode::INSUFFICIENT_STORAGE,
            "the cassette is full; record on another one",
        );
    };
    let request = RecordedRequest {
        method: head.method.to_string(),
        path: path.to_owned(),
        query: query_without_secrets(query),
        body: cassette::canonical(&body),
    };
    let target = head.uri.path_and_query().map_or(path, |both| both.as_str());
    let sent = proxy
        .client
        .request(head.method.clone(), format!("{}{target}", proxy.upstream))
        .headers(forwarded(&head.headers))
        .body(body)
        .send();
    let started = Instant::now();
    match sent.await {
        Ok(response) => answer(&proxy, place, request, started, response),
        Err(error) => {
            // The address is the user's own; the query, which may hold a key, is not shown.
            let error = error.without_url();
            error_response(StatusCode::BAD_GATEWAY, &format!("{} did not answer: {error}", proxy.upstream))
        }
    }
}

/// Passes an answer on as it arrives.
fn answer(
    proxy: &Proxy,
    place: usize,
    request: RecordedRequest,
    started: Instant,
    upstream: reqwest::Response,
) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = upstream.status();
    *response.headers_mut() = forwarded(upstream.headers());
    let text = |name: &HeaderName| {
        let value = upstream.headers().get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let answered = RecordedResponse {
        status: upstream.status().as_u16(),
        content_type: text(&CONTENT_TYPE).unwrap_or_default(),
        headers: KEPT_HEADERS.iter().filter_map(|name| Some((name.to_string(), text(name)?))).collect(),
        cut: true,
        chunks: Vec::new(),
    };
    let taping = Taping {
        tape: Arc::clone(&proxy.tape),
        place,
        exchange: Some(Exchange { request, response: answered }),
        started,
        bytes: 0,
        upstream,
    };
    let chunks = futures::stream::unfold(Some(taping), |taping| async move {
        let mut taping = taping?;
        match taping.next().await {
            Some(Ok(bytes)) => Some((Ok(bytes), Some(taping))),
            Some(Err(error)) => Some((Err(error), None)),
            None => None,
        }
    });
    *response.body_mut() = Body::from_stream(chunks);
    response
}

const KEPT_HEADERS: [HeaderName; 3] =
    [RETRY_AFTER, HeaderName::from_static("request-id"), HeaderName::from_static("x-request-id")];

/// An answer on its way to the client. Whatever arrived is recorded, however it ends.
struct Taping {
    tape: Arc<Tape>,
    place: usize,
    exchange: Option<Exchange>,
    started: Instant,
    bytes: usize,
    upstream: reqwest::Response,
}

impl Taping {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        let exchange = self.exchange.as_mut()?;
        match self.upstream.chunk().await {
            Ok(Some(bytes)) => {
                self.bytes += bytes.len();
                if self.bytes > limits::ANSWER_BYTES {
                    let message = format!("the answer has more than {} bytes", limits::ANSWER_BYTES);
                    return Some(Err(io::Error::other(message)));
                }
                let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
                exchange.response.chunks.push(Chunk::new(at_ms, &bytes));
                Some(Ok(bytes))
            }
            Ok(None) => {
                exchange.response.cut = false;
                None
            }
            Err(error) => Some(Err(io::Error::other(error.without_url()))),
        }
    }
}

impl Drop for Taping {
    fn drop(&mut self) {
        let Some(exchange) = self.exchange.take() else { return };
        self.tape.keep(self.place, exchange);
        if self.tape.wants_saving() {
            let tape = Arc::clone(&self.tape);
            let save = move || {
                if let Err(error) = tape.save() {
                    tracing::warn!("the cassette could not be written: {error}");
                }
            };
            // At the very end there is no runtime to run it on; stopping saves by itself.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn_blocking(save);
            }
        }
    }
}

/// Headers without those that belong to one connection. Nothing is compressed, so that a cassette
/// can be read.
fn forwarded(headers: &HeaderMap) -> HeaderMap {
    const OWN: [HeaderName; 9] = [
        ACCEPT_ENCODING,
        CONNECTION,
        CONTENT_ENCODING,
        CONTENT_LENGTH,
        HOST,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    let mut kept = headers.clone();
    for name in OWN {
        kept.remove(name);
    }
    for name in ["keep-alive", "proxy-authorization", "proxy-connection"] {
        kept.remove(name);
    }
    kept
}

fn error_response(status: StatusCode, message: &str) -> Response {
    let body = json!({ "type": "error", "error": { "type": "recorder_error", "message": message } });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
