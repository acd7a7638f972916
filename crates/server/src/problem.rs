//! Errors of plain HTTP routes, as `application/problem+json`.

use app::ErrorKind;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, ETAG, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::limits::BUSY_RETRY_AFTER_S;

/// What went wrong, for programs and people.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    retry_after_s: Option<u64>,
    /// The revision that a failed condition met, and its tag.
    current: Option<(Option<i64>, Option<String>)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after_s: None, current: None }
    }

    /// Something that was sent cannot be understood.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    #[cfg(test)]
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// It passes: says when to ask again.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }
}

impl Problem {
    /// Makes a failed condition of it, with the revision that is there.
    pub(crate) fn precondition_failed(self, revision: Option<i64>, tag: Option<String>) -> Self {
        Self { status: StatusCode::PRECONDITION_FAILED, current: Some((revision, tag)), ..self }
    }
}

/// The one place where kinds of errors become statuses.
impl From<app::Error> for Problem {
    fn from(error: app::Error) -> Self {
        let detail = error.to_string();
        match error.kind() {
            ErrorKind::Missing => Self::new(StatusCode::NOT_FOUND, detail),
            ErrorKind::Conflict => Self::new(StatusCode::CONFLICT, detail),
            ErrorKind::Invalid => Self::invalid(detail),
            ErrorKind::Denied => Self::new(StatusCode::FORBIDDEN, detail),
            ErrorKind::Busy => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(BUSY_RETRY_AFTER_S)
            }
            ErrorKind::Broken => {
                tracing::error!(%error, "a request failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let (revision, tag) = self.current.unwrap_or_default();
        if let Some(revision) = revision {
            body["current_revision"] = revision.into();
        }
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            headers.insert(ETAG, tag);
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
