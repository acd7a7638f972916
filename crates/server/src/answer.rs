//! A complete answer, before it becomes a response.

use app::StoredAnswer;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::limits::KEPT_ANSWER_BYTES;
use crate::request_error::RequestError;

/// Status, headers and text of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// The same answer, to be kept.
    pub(crate) fn to_stored(&self) -> StoredAnswer {
        let headers = self
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
        StoredAnswer {
            status: self.status.as_u16(),
            headers: headers.collect(),
            body: (self.body.len() <= KEPT_ANSWER_BYTES)
                .then(|| String::from_utf8_lossy(&self.body).into_owned()),
        }
    }

    /// A kept answer again.
    pub(crate) fn from_stored(stored: StoredAnswer) -> Result<Self, RequestError> {
        let status = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = stored.headers.into_iter().filter_map(|(name, value)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        });
        let body = stored.body.ok_or(RequestError::NotKept)?.into();
        Ok(Self { status, headers: headers.collect(), body })
    }
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        let mut response = Self::new(Body::from(answer.body));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        response
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        self.into()
    }
}
