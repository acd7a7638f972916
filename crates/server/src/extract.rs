//! Requests, read into the fields of an input: from the path, the query or a JSON body.

use app::{Code, Remedy, Report};
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Query, RawPathParams};
use http::request::Parts;
use http::{HeaderMap, Uri};
use hyper::body::Body as _;
use mcp::http::read_body;
use operations::schema::{FieldType, InputField};
use operations::{Operation, Route};
use persona::{Kind, ParseKindError};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::limits::{BODY_BYTES, BODY_TIMEOUT, IMPORT_BODY_BYTES};
use crate::problem::Problem;
use crate::request_error::RequestError;

/// The operation whose body may have a whole file.
const IMPORT: &str = "import_entities";
/// Characters of a request that a message repeats.
const SHOWN_CHARS: usize = 80;

pub(crate) type Fields = Map<String, Value>;

/// Reads a request. Path segments fill fields of their own; the query of a read and the body of a
/// write may repeat them but not contradict them.
pub(crate) async fn fields(
    operation: &Operation,
    route: Route,
    known: &[InputField],
    parts: &mut Parts,
    body: Body,
) -> Result<Fields, Problem> {
    let in_path = path(route, parts).await?;
    let fields = match route.method.has_body() {
        false if !body.is_end_stream() => {
            return Err(RequestError::BodyNotAllowed.into());
        }
        false => query(&parts.uri, known).map_err(|wrong| with_request(wrong, operation, &in_path))?,
        true => {
            let is_needed = known
                .iter()
                .any(|field| field.required && !in_path.iter().any(|(filled, _)| *filled == field.name));
            only_body(&parts.uri)?;
            let most = if operation.name == IMPORT { IMPORT_BODY_BYTES } else { BODY_BYTES };
            json(&parts.headers, body, most, is_needed).await?
        }
    };
    with_path(fields, in_path)
}

fn with_path(mut fields: Fields, in_path: Vec<(&str, String)>) -> Result<Fields, Problem> {
    for (field, value) in in_path {
        match fields.insert(field.to_owned(), Value::from(value.as_str())) {
            Some(given) if !given.is_null() && given != *value => {
                let given = shown(&given.to_string());
                return Err(RequestError::Contradiction { field: field.to_owned(), value, given }.into());
            }
            _ => {}
        }
    }
    Ok(fields)
}

/// The fields that a path fills. An invalid kind or session id makes the path unknown.
async fn path(route: Route, parts: &mut Parts) -> Result<Vec<(&'static str, String)>, Problem> {
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|error| RequestError::Address(error.to_string()))?;
    let mut filled = Vec::new();
    for (segment, field) in route.parameters() {
        let value = params.iter().find(|(name, _)| *name == segment).map(|(_, value)| value);
        let value = value.ok_or_else(|| RequestError::Address(format!("no {segment}")))?;
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
fn query(uri: &Uri, known: &[InputField]) -> Result<Fields, RequestError> {
    let pairs: Query<Vec<(String, String)>> =
        Query::try_from_uri(uri).map_err(|error| RequestError::Address(error.to_string()))?;
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
            return Err(RequestError::NamedTwice { name: shown(&name) });
        }
        let value = value(&name, text, of_type)?;
        fields.insert(name, value);
    }
    Ok(fields)
}

/// Names the request that takes an object in its body.
fn with_request(error: RequestError, operation: &Operation, in_path: &[(&str, String)]) -> RequestError {
    let RequestError::ObjectInQuery { name, .. } = error else { return error };
    let request = operation.http.routes().find(|route| route.method.has_body()).map(|route| {
        let filled =
            route.parameters().zip(in_path).fold(route.path(), |path, ((segment, _), (_, value))| {
                path.replace(&format!("{{{segment}}}"), &shown(value))
            });
        format!("{} {filled}", route.method.as_str())
    });
    RequestError::ObjectInQuery { name, request }
}

fn value(name: &str, text: String, of_type: FieldType) -> Result<Value, RequestError> {
    let wrong =
        |expected| RequestError::InvalidValue { name: name.to_owned(), given: shown(&text), expected };
    match of_type {
        FieldType::Text | FieldType::List => Ok(Value::String(text)),
        FieldType::Integer => match text.parse::<i64>() {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => Err(wrong("a whole number")),
        },
        FieldType::Number => match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => Ok(Value::from(number)),
            None => Err(wrong("a number")),
        },
        FieldType::Flag => match text.parse() {
            Ok(flag) => Ok(Value::Bool(flag)),
            Err(_) => Err(wrong("true or false")),
        },
        FieldType::Object => Err(RequestError::ObjectInQuery { name: name.to_owned(), request: None }),
    }
}

/// Reads a JSON object. A request whose fields are all optional may leave the body out.
async fn json(headers: &HeaderMap, body: Body, most: usize, is_needed: bool) -> Result<Fields, Problem> {
    if !is_needed && body.is_end_stream() {
        return Ok(Map::new());
    }
    let bytes = read_body(headers, body, most, BODY_TIMEOUT).await?;
    if bytes.trim_ascii().is_empty() {
        return Err(RequestError::EmptyBody.into());
    }
    let value =
        serde_json::from_slice(&bytes).map_err(|error| RequestError::InvalidJson(error.to_string()))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(RequestError::NotAnObject.into()),
    }
}

/// Refuses a query if the fields belong in the body: a silently ignored scope would write to another
/// place.
fn only_body(uri: &Uri) -> Result<(), Problem> {
    match uri.query().filter(|query| !query.is_empty()) {
        None => Ok(()),
        Some(query) => Err(RequestError::QueryNotAllowed { query: shown(query) }.into()),
    }
}

#[cfg(test)]
mod tests;
