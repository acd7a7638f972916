//! What a request says: its path, the fields of its address, the JSON of its body.

use app::inputs::parse;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts as _, Query, RawPathParams, Request};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri};
use hyper::body::Body as _;
use mcp::http::is_length_limit;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::limits::{BODY_BYTES, BODY_TIMEOUT};
use crate::problem::Problem;

/// How much of what was sent is repeated in a message.
const SHOWN_CHARS: usize = 80;

/// An address has only text; these names mean something else, wherever they stand.
const NUMBERS: [&str; 3] = ["if_revision", "limit", "max_tokens"];
const FLAGS: [&str; 3] = ["compiled", "detail", "force"];
/// These may stand several times.
const LISTS: [&str; 3] = ["scopes", "tags", "types"];

pub(crate) async fn in_path<S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
    name: &str,
) -> Result<String, Problem> {
    let params = RawPathParams::from_request_parts(parts, state).await;
    let params = params.map_err(|error| Problem::invalid(format!("the address: {error}")))?;
    let found = params.iter().find(|(key, _)| *key == name);
    found
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| Problem::invalid(format!("the address has no {name}")))
}

pub(crate) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// What follows the `?`, as the fields of an input.
pub(crate) fn query(uri: &Uri) -> Result<Map<String, Value>, Problem> {
    let pairs: Query<Vec<(String, String)>> =
        Query::try_from_uri(uri).map_err(|error| Problem::invalid(format!("the address: {error}")))?;
    let mut fields = Map::new();
    for (name, text) in pairs.0 {
        if LISTS.contains(&name.as_str()) {
            let list = fields.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(Value::String(text));
            }
            continue;
        }
        if fields.contains_key(&name) {
            return Err(Problem::invalid(format!(
                "{:?} stands twice in the address; once is enough",
                shown(&name)
            )));
        }
        let value = meant(&name, text)?;
        fields.insert(name, value);
    }
    Ok(fields)
}

fn meant(name: &str, text: String) -> Result<Value, Problem> {
    let wrong = |problem: &str| Problem::invalid(format!("{name}: {:?} {problem}", shown(&text)));
    if NUMBERS.contains(&name) {
        let number = text.parse::<i64>().ok().filter(|number| *number >= 0);
        return number.map(Value::from).ok_or_else(|| wrong("is no whole number, 0 or more"));
    }
    if FLAGS.contains(&name) {
        let flag: Result<bool, _> = text.parse();
        return flag.map(Value::Bool).map_err(|_| wrong("is neither true nor false"));
    }
    Ok(Value::String(text))
}

/// An input from what a query or a body says and what the path says. The path has the last word, and
/// may be repeated but not contradicted.
pub(crate) fn with_path<T: DeserializeOwned>(
    mut fields: Map<String, Value>,
    path: &[(&str, &str)],
) -> Result<T, Problem> {
    for (name, value) in path {
        match fields.insert((*name).to_owned(), Value::from(*value)) {
            Some(said) if said != *value => {
                let said = shown(&said.to_string());
                return Err(Problem::invalid(format!(
                    "the path says that {name} is {value:?}, and the request says {said}; leave {name} out"
                )));
            }
            _ => {}
        }
    }
    parsed(fields)
}

/// Null leaves a field alone, as if it were not there.
fn parsed<T: DeserializeOwned>(mut fields: Map<String, Value>) -> Result<T, Problem> {
    fields.retain(|_, value| !value.is_null());
    parse(&fields).map_err(Problem::invalid)
}

/// A body in JSON.
#[derive(Debug)]
pub(crate) struct Input<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Input<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        parsed(fields_of(request).await?).map(Self)
    }
}

/// A body in JSON that means something by null.
#[derive(Debug)]
pub(crate) struct WithNulls<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for WithNulls<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        parse(&fields_of(request).await?).map(Self).map_err(Problem::invalid)
    }
}

async fn fields_of(request: Request) -> Result<Map<String, Value>, Problem> {
    only_body(request.uri())?;
    let bytes = read(request).await?;
    if bytes.trim_ascii().is_empty() {
        return Err(Problem::invalid("the body is empty; send a JSON object"));
    }
    let value = serde_json::from_slice(&bytes)
        .map_err(|error| Problem::invalid(format!("the body is no JSON that can be read: {error}")))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(Problem::invalid("the body is JSON, but no object; send one, in {}")),
    }
}

/// Refuses fields of the address where they belong into the body: one that is overlooked may be the
/// scope that was meant.
fn only_body(uri: &Uri) -> Result<(), Problem> {
    match uri.query().filter(|query| !query.is_empty()) {
        None => Ok(()),
        Some(query) => Err(Problem::invalid(format!(
            "the fields of this request belong into its body, not into the address: {:?}",
            shown(query)
        ))),
    }
}

/// A request without a body: its fields are in the address.
#[derive(Debug)]
pub(crate) struct NoBody;

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        match request.body().is_end_stream() {
            true => Ok(Self),
            false => Err(Problem::invalid(
                "the fields of this request belong into the address, as in ?scope=shared, and not into a body",
            )),
        }
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

#[cfg(test)]
mod tests;
