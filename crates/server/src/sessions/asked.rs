//! What a request says: the session in its path, the fields of its address, the JSON of its body.

use app::inputs::parse;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::timeout;
use uuid::Uuid;

use crate::limits::{BODY_BYTES, BODY_TIMEOUT};
use crate::problem::Problem;

/// How much of what was sent is repeated in a message.
const SHOWN_CHARS: usize = 80;

/// The session that a path names.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionId(pub(super) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for SessionId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let id = in_path(parts, state, "id").await?;
        Uuid::parse_str(&id).map(Self).map_err(|_| {
            let detail =
                format!("there is no session {:?}; GET /api/sessions lists those there are", shown(&id));
            Problem::new(StatusCode::NOT_FOUND, detail)
        })
    }
}

/// The call that a path names.
#[derive(Debug)]
pub(super) struct CallId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for CallId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        in_path(parts, state, "call_id").await.map(Self)
    }
}

async fn in_path<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Result<String, Problem> {
    let params = RawPathParams::from_request_parts(parts, state).await;
    let params = params.map_err(|error| Problem::invalid(format!("the address: {error}")))?;
    let found = params.iter().find(|(key, _)| *key == name);
    found
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| Problem::invalid(format!("the address has no {name}")))
}

pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// What follows the `?`, each name once.
pub(super) fn query(uri: &Uri) -> Result<Map<String, Value>, Problem> {
    let pairs: Query<Vec<(String, String)>> =
        Query::try_from_uri(uri).map_err(|error| Problem::invalid(format!("the address: {error}")))?;
    let mut fields = Map::new();
    for (name, value) in pairs.0 {
        if fields.contains_key(&name) {
            return Err(Problem::invalid(format!(
                "{:?} stands twice in the address; once is enough",
                shown(&name)
            )));
        }
        fields.insert(name, Value::String(value));
    }
    Ok(fields)
}

/// A body in JSON.
#[derive(Debug)]
pub(super) struct Input<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Input<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = read(request).await?;
        if bytes.trim_ascii().is_empty() {
            return Err(Problem::invalid("the body is empty; send a JSON object"));
        }
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| Problem::invalid(format!("the body is no JSON that can be read: {error}")))?;
        let Value::Object(fields) = value else {
            return Err(Problem::invalid("the body is JSON, but no object; send one, in {}"));
        };
        parse(&fields).map(Self).map_err(Problem::invalid)
    }
}

/// Reads a body that says that it is JSON, is not too long and comes in time. Pages of other sites
/// cannot send this type without being asked about it first.
async fn read(request: Request) -> Result<Bytes, Problem> {
    check_type(request.headers())?;
    let too_long = || {
        let detail = format!("a body has at most {BODY_BYTES} bytes; put what is longer into a file");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    };
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > BODY_BYTES) {
        return Err(too_long());
    }
    let body = axum::body::to_bytes(request.into_body(), BODY_BYTES);
    match timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(too_long()),
        Ok(Err(_)) => Err(Problem::invalid("the body broke off")),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive")),
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = said.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "send the body as JSON, and say so in a header: Content-Type: application/json";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
}

fn is_length_limit(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        source = error.source();
    }
    false
}
