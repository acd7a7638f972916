//! Refusals in the protocol's form, before a request reaches the protocol.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

use super::guard::NotLoopback;

/// Bytes of a plain message that are passed on.
const MESSAGE_BYTES: usize = 4 * 1024;

/// The code that the official SDKs use for a session that is gone.
const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32001);

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: ErrorCode::INVALID_REQUEST, message: message.into() }
    }

    pub(super) fn forbidden(refused: &NotLoopback) -> Self {
        Self::new(StatusCode::FORBIDDEN, refused.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": { "code": self.code.0, "message": self.message },
        });
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// Turns a plain-text refusal of the protocol's library into JSON, with the same headers. JSON stays
/// as it is.
pub(super) async fn in_json(response: Response, body: &Bytes) -> Result<Response, Refusal> {
    let content_type = response.headers().get(CONTENT_TYPE);
    if content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json")) {
        return Ok(response);
    }
    let (parts, plain) = response.into_parts();
    let plain = axum::body::to_bytes(plain, MESSAGE_BYTES).await.unwrap_or_default();
    let message = String::from_utf8_lossy(&plain).into_owned();
    let refusal = match parts.status {
        // The guard has checked the content type, so the body itself is wrong.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => not_a_message(body),
        StatusCode::NOT_FOUND => Refusal {
            code: SESSION_NOT_FOUND,
            ..Refusal::new(
                StatusCode::NOT_FOUND,
                "this session is unknown or over; start a new one with initialize",
            )
        },
        status if status.is_server_error() => {
            Refusal { code: ErrorCode::INTERNAL_ERROR, ..Refusal::new(status, message) }
        }
        status => Refusal::new(status, message),
    };
    let mut answer = refusal.into_response();
    for (name, value) in &parts.headers {
        answer.headers_mut().entry(name).or_insert(value.clone());
    }
    Ok(answer)
}

fn not_a_message(body: &Bytes) -> Refusal {
    match serde_json::from_slice::<Value>(body) {
        Err(error) => Refusal {
            code: ErrorCode::PARSE_ERROR,
            ..Refusal::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}"))
        },
        Ok(Value::Array(_)) => Refusal::new(
            StatusCode::BAD_REQUEST,
            "batches are not supported; send one message in each request",
        ),
        Ok(_) => Refusal::new(StatusCode::BAD_REQUEST, "the body is not a JSON-RPC 2.0 message"),
    }
}
