//! Reads the JSON body of a request.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::LengthLimitError;
use persona::{AsReport, Code, Remedy};
use tokio::time::timeout;

/// A body that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is not sent as JSON")]
    MediaType,
    #[error("the body is larger than {most} bytes")]
    TooLarge { most: usize },
    #[error("the body ended early")]
    Incomplete,
    #[error("the body took too long to arrive")]
    TimedOut,
}

impl AsReport for BodyError {
    fn code(&self) -> Code {
        match self {
            Self::MediaType => Code::UnsupportedMediaType,
            Self::TooLarge { .. } => Code::BodyTooLarge,
            Self::Incomplete => Code::IncompleteBody,
            Self::TimedOut => Code::RequestTimeout,
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::MediaType => vec![Remedy::SendJson],
            Self::TooLarge { .. } => vec![Remedy::Shorten],
            Self::Incomplete | Self::TimedOut => vec![Remedy::Repeat],
        }
    }
}

/// Reads a body of the right type, length and speed. A page of another site cannot send this type without
/// a preflight request.
pub async fn read_body(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    patience: Duration,
) -> Result<Bytes, BodyError> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        return Err(BodyError::MediaType);
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > most) {
        return Err(BodyError::TooLarge { most });
    }
    match timeout(patience, axum::body::to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(BodyError::TooLarge { most }),
        Ok(Err(_)) => Err(BodyError::Incomplete),
        Err(_) => Err(BodyError::TimedOut),
    }
}

/// True if a body could not be read because it is too long.
fn is_length_limit(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}
