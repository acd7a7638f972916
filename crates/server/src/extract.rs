//! Requests, read into the fields of an input: from the path, the query or a JSON body.

use app::{Code, Remedy, Report};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, Query, RawPathParams};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri};
use hyper::body::Body as _;
use mcp::http::is_length_limit;
use operations::schema::{Field, FieldType};
use operations::{Operation, Route};
use persona::{Kind, ParseKindError};
use serde_json::{Map, Value};
use tokio::time::timeout;
use uuid::Uuid;

use crate::limits::{BODY_BYTES, BODY_TIMEOUT};
use crate::problem::Problem;

/// Characters of a request that a message repeats.
const SHOWN_CHARS: usize = 80;

pub(crate) type Fields = Map<String, Value>;

/// Reads a request. Path segments fill fields of their own; the query of a read and the body of a
/// write may repeat them but not contradict them.
pub(crate) async fn fields(
    operation: &Operation,
    route: Route,
    known: &[Field],
    parts: &mut Parts,
    body: Body,
) -> Result<Fields, Problem> {
    let in_path = path(route, parts).await?;
    let fields = match route.method.has_body() {
        false if !body.is_end_stream() => {
            return Err(Problem::invalid(
                "this request takes its fields from the address, such as ?scope=shared, not from a body",
            ));
        }
        false => query(&parts.uri, known).map_err(|wrong| wrong.problem(operation, &in_path))?,
        true => {
            let is_needed = known
                .iter()
                .any(|field| field.required && !in_path.iter().any(|(filled, _)| *filled == field.name));
            only_body(&parts.uri)?;
            json(&parts.headers, body, is_needed).await?
        }
    };
    with_path(fields, in_path)
}

fn with_path(mut fields: Fields, in_path: Vec<(&str, String)>) -> Result<Fields, Problem> {
    for (field, value) in in_path {
        match fields.insert(field.to_owned(), Value::from(value.as_str())) {
            Some(given) if !given.is_null() && given != *value => {
                let given = shown(&given.to_string());
                return Err(Problem::invalid(format!(
                    "{field} is {value:?} in the path and {given} in the request; leave {field} out"
                )));
            }
            _ => {}
        }
    }
    Ok(fields)
}

/// The fields that a path fills. An invalid kind or session id makes the path unknown.
async fn path(route: Route, parts: &mut Parts) -> Result<Vec<(&'static str, String)>, Problem> {
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|error| Problem::invalid(format!("the address: {error}")))?;
    let mut filled = Vec::new();
    for (segment, field) in route.parameters() {
        let value = params.iter().find(|(name, _)| *name == segment).map(|(_, value)| value);
        let value = value.ok_or_else(|| Problem::invalid(format!("the address has no {segment}")))?;
        match segment {
            "kind" => {
                let kind: Result<Kind, ParseKindError> = value.parse();
                kind.map_err(|error| Problem::unknown_path(&error))?;
            }
            "id" => {
                Uuid::parse_str(value).map_err(|_| {
                    let message = format!("there is no session {:?}", shown(value));
                    Report::new(Code::UnknownSession, message).with_remedy(Remedy::ListSessions)
                })?;
            }
            _ => {}
        }
        filled.push((field, value.to_owned()));
    }
    Ok(filled)
}

pub(crate) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// Reads a query by the input's schema. Lists repeat their name; other fields appear once.
fn query(uri: &Uri, known: &[Field]) -> Result<Fields, QueryError> {
    let pairs: Query<Vec<(String, String)>> =
        Query::try_from_uri(uri).map_err(|error| QueryError::Wrong(format!("the address: {error}")))?;
    let mut fields = Map::new();
    for (name, text) in pairs.0 {
        // Parsing the input refuses a field that it does not know, and suggests a near one.
        let of_type = known.iter().find(|field| field.name == name).map_or(FieldType::Text, |field| field.of);
        if of_type == FieldType::List {
            if let Value::Array(list) = fields.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                list.push(Value::String(text));
            }
            continue;
        }
        if fields.contains_key(&name) {
            let twice = format!("{:?} is given twice; give it once", shown(&name));
            return Err(QueryError::Wrong(twice));
        }
        let value = value(&name, text, of_type)?;
        fields.insert(name, value);
    }
    Ok(fields)
}

/// The error of a query.
#[derive(Debug)]
enum QueryError {
    Wrong(String),
    /// The field is an object, which only a body can hold.
    TooBig(String),
}

impl QueryError {
    /// Names the request that takes the field in its body.
    fn problem(self, operation: &Operation, in_path: &[(&str, String)]) -> Problem {
        let name = match self {
            Self::Wrong(detail) => return Problem::invalid(detail),
            Self::TooBig(name) => name,
        };
        let with_body = operation.http.routes().find(|route| route.method.has_body()).map(|route| {
            let filled =
                route.parameters().zip(in_path).fold(route.path(), |path, ((segment, _), (_, value))| {
                    path.replace(&format!("{{{segment}}}"), &shown(value))
                });
            format!("; send it in the body of {} {filled}", route.method.as_str())
        });
        Problem::invalid(format!("{name} does not fit into an address{}", with_body.unwrap_or_default()))
    }
}

fn value(name: &str, text: String, of_type: FieldType) -> Result<Value, QueryError> {
    let wrong = |problem: &str| QueryError::Wrong(format!("{name}: {:?} {problem}", shown(&text)));
    match of_type {
        FieldType::Text | FieldType::List => Ok(Value::String(text)),
        FieldType::Integer => match text.parse::<i64>() {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => Err(wrong("is not a whole number")),
        },
        FieldType::Number => match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => Ok(Value::from(number)),
            None => Err(wrong("is not a number")),
        },
        FieldType::Flag => match text.parse() {
            Ok(flag) => Ok(Value::Bool(flag)),
            Err(_) => Err(wrong("is neither true nor false")),
        },
        FieldType::Object => Err(QueryError::TooBig(name.to_owned())),
    }
}

/// Reads a JSON object. A request whose fields are all optional may leave the body out.
async fn json(headers: &HeaderMap, body: Body, is_needed: bool) -> Result<Fields, Problem> {
    if !is_needed && body.is_end_stream() {
        return Ok(Map::new());
    }
    let bytes = read(headers, body).await?;
    if bytes.trim_ascii().is_empty() {
        return Err(Problem::invalid("the body is empty; send a JSON object"));
    }
    let value = serde_json::from_slice(&bytes)
        .map_err(|error| Problem::invalid(format!("the body is not valid JSON: {error}")))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(Problem::invalid("the body is not a JSON object")),
    }
}

/// Refuses a query if the fields belong in the body: a silently ignored scope would write to another
/// place.
fn only_body(uri: &Uri) -> Result<(), Problem> {
    match uri.query().filter(|query| !query.is_empty()) {
        None => Ok(()),
        Some(query) => Err(Problem::invalid(format!(
            "this request takes its fields from its body, not from the address: {:?}",
            shown(query)
        ))),
    }
}

/// Reads a body. Fails on a wrong type, excess length or a time-out. Pages of other sites cannot send
/// this type without a preflight request.
async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    check_type(headers)?;
    let too_long = || {
        let detail = format!("the body is too long (at most {BODY_BYTES} bytes)");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > BODY_BYTES) {
        return Err(too_long());
    }
    match timeout(BODY_TIMEOUT, axum::body::to_bytes(body, BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(too_long()),
        Ok(Err(_)) => Err(Problem::invalid("the body broke off")),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive")),
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "send the body as JSON with Content-Type: application/json";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
}

#[cfg(test)]
mod tests;
