//! Faults: ways in which an answer fails.

use std::time::Duration;

/// All faults of one reply; several may come together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fault {
    /// An error in place of the answer.
    pub(crate) refused: Option<HttpError>,
    pub(crate) stall: Option<Stall>,
    pub(crate) cut: Option<Cut>,
    /// The arguments of every tool call end in the middle.
    pub(crate) malformed_tool_json: bool,
    pub(crate) content_type: Option<String>,
    /// Sent as it is in place of the answer.
    pub(crate) body: Option<String>,
    pub(crate) error_event: Option<ErrorEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpError {
    pub(crate) status: u16,
    pub(crate) retry_after_s: Option<u64>,
    /// The protocol's code of the error. None: the usual one of the status.
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    /// The request is longer than the model's context, in the words of the protocol.
    pub(crate) context_exceeded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stall {
    pub(crate) wait: Duration,
    /// After this many tokens. None: before everything.
    pub(crate) after: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// After this many tokens. None: in the middle.
    pub(crate) after: Option<usize>,
    /// Half of the event that would come next is still sent.
    pub(crate) half_event: bool,
    /// The body ends as if it were whole, instead of with its connection.
    pub(crate) clean: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErrorEvent {
    pub(crate) code: String,
    /// After this many tokens. None: in the middle.
    pub(crate) after: Option<usize>,
}
