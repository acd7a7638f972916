//! Failed model calls, classified by remedy.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A failed call. The message is for people and never holds a key or a prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    /// The HTTP status, if any.
    pub status: Option<u16>,
    /// The provider's own code, such as `overloaded_error`.
    pub code: Option<String>,
    /// The parameter that the provider rejects, as it names it.
    pub parameter: Option<String>,
    pub request_id: Option<String>,
    /// The wait that the provider asks for.
    pub retry_after: Option<Duration>,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            code: None,
            parameter: None,
            request_id: None,
            retry_after: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A fault on the way or at the provider: 5xx, time-out, connection, broken stream, overload.
    Transport,
    /// Too many requests for now (429), or a quota that is used up.
    RateLimited,
    /// The request is longer than the model's context.
    ContextExceeded,
    /// The key is missing, wrong, or not allowed to do this.
    Unauthorized,
    /// The model does not exist.
    UnknownModel,
    /// Any other rejected request.
    Rejected,
}

impl FailureKind {
    /// True if the same request may succeed when sent again.
    pub fn is_transport(self) -> bool {
        self == Self::Transport
    }
}
