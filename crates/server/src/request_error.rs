//! Requests that the server refuses by itself.

use std::time::Duration;

use app::{AsReport, Code, Remedy, Subject};

/// A request that the server refuses by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("{path} does not exist")]
    UnknownPath { path: String },
    #[error("{path} does not support {method}")]
    MethodNotAllowed { method: String, path: String },
    #[error("the address cannot be read: {0}")]
    Address(String),
    #[error("this request has no body")]
    BodyNotAllowed,
    #[error("this request takes its fields from the body, not from the query {query:?}")]
    QueryNotAllowed { query: String },
    #[error("the path has {field} {value:?}, the request {given}")]
    Contradiction { field: String, value: String, given: String },
    #[error("the query names {name:?} twice")]
    NamedTwice { name: String },
    #[error("invalid {name} {given:?} (expected {expected})")]
    InvalidValue { name: String, given: String, expected: &'static str },
    #[error("{name} is an object and cannot be part of a query")]
    ObjectInQuery { name: String, request: Option<String> },
    #[error("the body is empty")]
    EmptyBody,
    #[error("the body is not JSON: {0}")]
    InvalidJson(String),
    #[error("the body is JSON, but not an object")]
    NotAnObject,
    #[error("If-Match {given:?} is not the ETag of an entity")]
    InvalidTag { given: String },
    #[error("this request supports no If-Match")]
    NoCondition,
    #[error("if_revision and If-Match contradict each other")]
    ContradictingConditions,
    #[error("{most} streams of {what} are open, which is the limit")]
    TooManyStreams { what: &'static str, most: usize },
    #[error("the Idempotency-Key is not 1 to {most} visible ASCII characters")]
    InvalidKey { most: usize },
    #[error("a different request had this Idempotency-Key")]
    KeyReused,
    #[error("the first request with this Idempotency-Key is under way")]
    UnderWay,
    #[error(
        "the server stopped during the first request with this Idempotency-Key, or could not store its answer"
    )]
    CutOff,
    #[error("the request with this Idempotency-Key was carried out; its answer is too large to be kept")]
    NotKept,
    #[error("{most} connections are open, which is the limit")]
    TooManyConnections { most: usize },
    #[error("the server is stopping")]
    Stopping,
    #[error("the request took longer than {} s", limit.as_secs())]
    TimedOut { limit: Duration, writes: bool },
    #[error("the server failed; see its log")]
    Crashed,
    #[error("a token in the address of a request could end up in logs")]
    TokenInAddress,
}

const KEY_EXAMPLE: &str = "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324";

/// Paths that a caller may have meant.
const PATHS: [&str; 5] = ["/mcp", "/api/docs", "/api/library/persona", "/api/sessions", "/healthz"];

impl AsReport for RequestError {
    fn code(&self) -> Code {
        match self {
            Self::UnknownPath { .. } => Code::UnknownAddress,
            Self::MethodNotAllowed { .. } => Code::MethodNotAllowed,
            Self::Address(_) => Code::InvalidRequest,
            Self::BodyNotAllowed => Code::BodyNotAllowed,
            Self::QueryNotAllowed { .. } | Self::TokenInAddress => Code::QueryNotAllowed,
            Self::Contradiction { .. } | Self::ContradictingConditions => Code::ConflictingFields,
            Self::NamedTwice { .. } => Code::NamedTwice,
            Self::InvalidValue { .. } | Self::ObjectInQuery { .. } => Code::InvalidValue,
            Self::EmptyBody | Self::InvalidJson(_) | Self::NotAnObject => Code::InvalidJson,
            Self::InvalidTag { .. } | Self::NoCondition => Code::InvalidCondition,
            Self::TooManyStreams { .. } | Self::TooManyConnections { .. } => Code::Overloaded,
            Self::Stopping => Code::ServerStopping,
            Self::TimedOut { .. } => Code::TimedOut,
            Self::InvalidKey { .. } => Code::InvalidValue,
            Self::KeyReused => Code::KeyReused,
            Self::UnderWay => Code::RequestUnderWay,
            Self::CutOff | Self::NotKept => Code::OutcomeUnknown,
            Self::Crashed => Code::Failed,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Contradiction { field, .. } => Subject::field(field),
            Self::NamedTwice { name }
            | Self::InvalidValue { name, .. }
            | Self::ObjectInQuery { name, .. } => Subject::field(name),
            Self::InvalidTag { .. } | Self::NoCondition => Subject::field("If-Match"),
            Self::ContradictingConditions => Subject::field("if_revision"),
            Self::InvalidKey { .. } | Self::KeyReused | Self::UnderWay | Self::CutOff | Self::NotKept => {
                Subject::field("Idempotency-Key")
            }
            _ => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        let leave_out = |field: &str| vec![Remedy::LeaveOut { fields: vec![field.to_owned()] }];
        match self {
            Self::UnknownPath { .. } => {
                vec![Remedy::UseOneOf { words: PATHS.iter().map(|path| (*path).to_owned()).collect() }]
            }
            Self::MethodNotAllowed { .. } => {
                vec![Remedy::UseOneOf { words: vec!["a method of the header Allow".to_owned()] }]
            }
            Self::BodyNotAllowed => vec![Remedy::SendInAddress],
            Self::Contradiction { field, .. } => leave_out(field),
            Self::ObjectInQuery { request: Some(request), .. } => {
                vec![Remedy::SendInBody { request: request.clone() }]
            }
            Self::EmptyBody | Self::InvalidJson(_) | Self::NotAnObject => vec![Remedy::SendJson],
            Self::InvalidTag { .. } => vec![Remedy::WriteAs { example: "\"shared:3\"".to_owned() }],
            Self::NoCondition => leave_out("If-Match"),
            Self::ContradictingConditions => vec![Remedy::SendOne],
            Self::TooManyStreams { .. }
            | Self::TooManyConnections { .. }
            | Self::Stopping
            | Self::TimedOut { .. }
            | Self::UnderWay => vec![Remedy::TryLater],
            Self::InvalidKey { .. } => vec![Remedy::WriteAs { example: KEY_EXAMPLE.to_owned() }],
            Self::KeyReused => vec![Remedy::OtherKey],
            Self::CutOff => vec![Remedy::ReadAgain, Remedy::OtherKey],
            Self::NotKept => vec![Remedy::ReadAgain],
            Self::TokenInAddress => vec![Remedy::SendToken],
            Self::QueryNotAllowed { .. }
            | Self::NamedTwice { .. }
            | Self::InvalidValue { .. }
            | Self::ObjectInQuery { request: None, .. }
            | Self::Address(_)
            | Self::Crashed => Vec::new(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            Self::TooManyStreams { .. }
            | Self::TooManyConnections { .. }
            | Self::Stopping
            | Self::KeyReused => Some(false),
            Self::UnderWay | Self::CutOff | Self::NotKept => Some(true),
            // A write goes on after its client was answered.
            Self::TimedOut { writes, .. } => Some(*writes),
            Self::Crashed => Some(true),
            _ => None,
        }
    }
}
