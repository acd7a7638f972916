//! Plays a cassette back, and reports where a client differs from the recording.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::cassette::{self, Cassette, Difference, RecordedRequest, RecordedResponse, difference};
use crate::limits;
use crate::serve::{self, Ending, Listening, Player, Step, query_without_secrets};

/// The most differences that are reported at the end.
const DIFFERENCES: usize = 100;

/// The speed of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tempo {
    /// With the pauses that the provider made.
    #[default]
    AsRecorded,
    AtOnce,
}

/// A cassette that listens.
#[derive(Debug)]
pub struct Replay {
    listening: Listening,
    deck: Arc<Deck>,
}

impl Replay {
    pub fn start(cassette: Cassette, tempo: Tempo, listener: TcpListener) -> io::Result<Self> {
        let deck = Arc::new(Deck { cassette, tempo, state: Mutex::default() });
        let router = Router::new().fallback(play).with_state(Arc::clone(&deck));
        Ok(Self { listening: Listening::start(listener, router)?, deck })
    }

    pub fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The number of played exchanges.
    pub fn played(&self) -> usize {
        self.deck.state().next
    }

    /// Exchanges not yet requested.
    pub fn remaining(&self) -> usize {
        self.deck.cassette.exchanges.len() - self.played()
    }

    /// Differences as sentences, the first hundred.
    pub fn differences(&self) -> Vec<String> {
        self.deck.state().differences.clone()
    }

    /// Ends all connections and frees the port.
    pub async fn stop(self) {
        self.listening.stop().await;
    }
}

#[derive(Debug)]
struct Deck {
    cassette: Cassette,
    tempo: Tempo,
    state: Mutex<ReplayState>,
}

#[derive(Debug, Default)]
struct ReplayState {
    next: usize,
    differences: Vec<String>,
}

/// The answer to a request.
enum ReplayStep<'a> {
    Plays(&'a RecordedResponse),
    Differs(usize, Difference),
    IsOver,
}

impl Deck {
    fn state(&self) -> MutexGuard<'_, ReplayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next exchange, if the request matches. A request that differs does not advance the cassette, so
    /// a fixed client can try again.
    fn turn(&self, sent: &RecordedRequest) -> ReplayStep<'_> {
        let mut state = self.state();
        let Some(exchange) = self.cassette.exchanges.get(state.next) else {
            state.note(format!("{} {}: the cassette has no more exchanges", sent.method, sent.path));
            return ReplayStep::IsOver;
        };
        let number = state.next + 1;
        match difference(&exchange.request, sent) {
            None => {
                state.next = number;
                ReplayStep::Plays(&exchange.response)
            }
            Some(found) => {
                state.note(format!("exchange {number}: {}", found.sentence()));
                ReplayStep::Differs(number, found)
            }
        }
    }
}

impl ReplayState {
    fn note(&mut self, difference: String) {
        tracing::warn!("{difference}");
        if self.differences.len() < DIFFERENCES {
            self.differences.push(difference);
        }
    }
}

async fn play(State(deck): State<Arc<Deck>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Some(body) = serve::read(body).await else {
        let message = format!("a request has at most {} bytes", limits::BODY_BYTES);
        return error_response(StatusCode::PAYLOAD_TOO_LARGE, &message, &Value::Null);
    };
    let sent = RecordedRequest {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: query_without_secrets(head.uri.query().unwrap_or_default()),
        body: cassette::canonical(&body),
    };
    match deck.turn(&sent) {
        ReplayStep::Plays(answered) => answer(answered, deck.tempo).await,
        ReplayStep::Differs(number, found) => {
            let message = format!("this is not request {number} of the cassette: {}", found.sentence());
            let mut detail = found.json();
            detail["exchange"] = number.into();
            error_response(StatusCode::CONFLICT, &message, &detail)
        }
        ReplayStep::IsOver => {
            let message = match deck.cassette.exchanges.len() {
                1 => "the cassette has only 1 exchange".to_owned(),
                exchanges => format!("the cassette has only {exchanges} exchanges"),
            };
            error_response(StatusCode::CONFLICT, &message, &Value::Null)
        }
    }
}

/// The head comes with the first bytes, as when it was recorded.
async fn answer(answered: &RecordedResponse, tempo: Tempo) -> Response {
    let (mut bytes, mut steps): (Vec<u8>, Vec<Step>) = (Vec::new(), Vec::new());
    let first = answered.chunks.first().map_or(0, |chunk| chunk.at_ms);
    for chunk in &answered.chunks {
        // Reading the cassette has checked that this is possible.
        bytes.extend(chunk.bytes().unwrap_or_default());
        let due = match tempo {
            Tempo::AsRecorded => Duration::from_millis(chunk.at_ms.saturating_sub(first)).min(limits::WAIT),
            Tempo::AtOnce => Duration::ZERO,
        };
        steps.push(Step { due, end: bytes.len() });
    }
    if tempo == Tempo::AsRecorded {
        tokio::time::sleep(Duration::from_millis(first).min(limits::WAIT)).await;
    }
    let ending = if answered.cut { Ending::Cut } else { Ending::Whole };
    let mut response = Response::new(Body::from_stream(Player::new(bytes, steps, ending, Arc::default())));
    *response.status_mut() = StatusCode::from_u16(answered.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let kind = [(CONTENT_TYPE.to_string(), answered.content_type.clone())];
    for (name, value) in kind.iter().chain(&answered.headers).filter(|(_, value)| !value.is_empty()) {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn error_response(status: StatusCode, message: &str, difference: &Value) -> Response {
    let body = json!({
        "type": "error",
        "error": { "type": "replay_difference", "message": message, "difference": difference },
    });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
