//! Refusals in the protocol's form, before a request reaches the protocol.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use persona::{Code, Remedy, Report};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

use super::status::status_of;
use crate::wording;

/// Bytes of a plain message that are passed on.
const MESSAGE_BYTES: usize = 4 * 1024;

/// The code that the official SDKs use for a session that is gone.
const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32001);

/// A JSON-RPC error, with our own error as its data.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: ErrorCode,
    report: Box<Report>,
}

impl Refusal {
    fn with_code(self, code: ErrorCode) -> Self {
        Self { code, ..self }
    }
}

impl From<Report> for Refusal {
    fn from(report: Report) -> Self {
        let status = status_of(report.code);
        Self { status, code: ErrorCode::INVALID_REQUEST, report: Box::new(report) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let message = self.report.sentence(wording::remedy);
        let report = Report { message: message.clone(), ..*self.report };
        let body = json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": { "code": self.code.0, "message": message, "data": { "error": report } },
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
        StatusCode::NOT_FOUND => {
            let report = Report::new(Code::UnknownSession, "the session is unknown or over");
            Refusal::from(report.with_remedy(Remedy::NewSession)).with_code(SESSION_NOT_FOUND)
        }
        status if status.is_server_error() => {
            let refusal =
                Refusal::from(Report::new(Code::Failed, message)).with_code(ErrorCode::INTERNAL_ERROR);
            Refusal { status, ..refusal }
        }
        status => Refusal { status, ..Report::new(Code::InvalidRequest, message).into() },
    };
    let mut answer = refusal.into_response();
    for (name, value) in &parts.headers {
        answer.headers_mut().entry(name).or_insert(value.clone());
    }
    Ok(answer)
}

fn not_a_message(body: &Bytes) -> Refusal {
    match serde_json::from_slice::<Value>(body) {
        Err(error) => {
            let report = Report::new(Code::InvalidJson, format!("the body is not JSON: {error}"));
            Refusal::from(report).with_code(ErrorCode::PARSE_ERROR)
        }
        Ok(Value::Array(_)) => {
            let message = "batches are not supported; send one message per request";
            Report::new(Code::NotSupported, message).into()
        }
        Ok(_) => Report::new(Code::InvalidRequest, "the body is not a JSON-RPC 2.0 message").into(),
    }
}
