//! Errors of plain HTTP routes, as problem documents (RFC 9457).

use app::{AsReport as _, ErrorKind, Report};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, ETAG, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use mcp::http::{BodyError, status_of};
use persona::ParseKindError;
use serde_json::json;

use crate::answer::Answer;
use crate::limits::BUSY_RETRY_AFTER_S;
use crate::request_error::RequestError;
use crate::wording;

/// An error, for programs and people.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    report: Box<Report>,
    retry_after_s: Option<u64>,
    /// The revision that a failed condition met, and its tag.
    current: Option<(Option<i64>, Option<String>)>,
}

impl Problem {
    /// A path with an unknown kind.
    pub(crate) fn unknown_path(error: &ParseKindError) -> Self {
        Self { status: StatusCode::NOT_FOUND, ..error.report().into() }
    }

    #[cfg(test)]
    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// A temporary refusal, with a retry time.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }
}

impl Problem {
    /// Turns it into a failed condition, with the current revision.
    pub(crate) fn precondition_failed(self, revision: Option<i64>, tag: Option<String>) -> Self {
        Self { status: StatusCode::PRECONDITION_FAILED, current: Some((revision, tag)), ..self }
    }
}

impl From<Report> for Problem {
    fn from(report: Report) -> Self {
        let status = status_of(report.code);
        let retry_after_s = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(BUSY_RETRY_AFTER_S);
        Self { status, report: Box::new(report), retry_after_s, current: None }
    }
}

impl From<app::Error> for Problem {
    fn from(error: app::Error) -> Self {
        if error.kind() == ErrorKind::Broken {
            tracing::error!(%error, "a request failed");
        }
        error.report().into()
    }
}

impl From<RequestError> for Problem {
    fn from(error: RequestError) -> Self {
        error.report().into()
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        error.report().into()
    }
}

impl From<app::inputs::InputError> for Problem {
    fn from(error: app::inputs::InputError) -> Self {
        error.report().into()
    }
}

impl Problem {
    /// True if the request may have had an effect.
    pub(crate) fn may_have_happened(&self) -> bool {
        self.report.may_have_happened == Some(true)
    }

    pub(crate) fn to_answer(&self) -> Answer {
        let Report { code, kind, subject, candidates, remedies, may_have_happened, .. } = &*self.report;
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.report.sentence(wording::remedy),
            "code": code,
            "kind": kind,
        });
        if !subject.is_empty() {
            body["subject"] = json!(subject);
        }
        if !candidates.is_empty() {
            body["candidates"] = json!(candidates);
        }
        if !remedies.is_empty() {
            body["remedies"] = json!(remedies);
        }
        if let Some(may_have_happened) = may_have_happened {
            body["may_have_happened"] = (*may_have_happened).into();
        }
        let (revision, tag) = self.current.clone().unwrap_or_default();
        if let Some(revision) = revision {
            body["current_revision"] = revision.into();
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            headers.insert(ETAG, tag);
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        Answer { status: self.status, headers, body: body.to_string().into() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.to_answer().into_response()
    }
}
