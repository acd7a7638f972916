//! Errors in the words of each protocol.

use serde_json::{Value, json};

use crate::protocol::Protocol;

/// An error in place of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble<'a> {
    pub(crate) status: u16,
    /// The protocol's own word; without, the usual one of the status.
    pub(crate) code: Option<&'a str>,
    pub(crate) message: &'a str,
    /// The field of the request that is wrong.
    pub(crate) parameter: Option<&'a str>,
    pub(crate) retry_after_s: Option<u64>,
    pub(crate) context_exceeded: bool,
    /// The id of the request, which Anthropic repeats in the body.
    pub(crate) request_id: &'a str,
}

pub(crate) fn error_body(protocol: Protocol, trouble: &Trouble<'_>) -> Value {
    match protocol {
        Protocol::Anthropic => anthropic(trouble),
        Protocol::OpenaiResponses | Protocol::OpenaiChat => openai(trouble),
        Protocol::Gemini => gemini(trouble),
    }
}

/// The body of an error event within a stream.
pub(super) fn in_stream(code: &str) -> String {
    match code {
        "overloaded_error" => "Overloaded".to_owned(),
        other => format!("The rehearsal's script fails here: {other}"),
    }
}

fn anthropic(trouble: &Trouble<'_>) -> Value {
    let usual = match trouble.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let message = match trouble.context_exceeded {
        true => "prompt is too long: 200001 tokens > 200000 maximum",
        false => trouble.message,
    };
    json!({
        "type": "error",
        "error": { "type": trouble.code.unwrap_or(usual), "message": message },
        "request_id": trouble.request_id,
    })
}

fn openai(trouble: &Trouble<'_>) -> Value {
    let (kind, usual) = match trouble.status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500.. => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    if trouble.context_exceeded {
        let message =
            "Your input exceeds the context window of this model. Please adjust your input and try again.";
        return json!({ "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": "input",
            "code": "context_length_exceeded",
        } });
    }
    json!({ "error": {
        "message": trouble.message,
        "type": kind,
        "param": trouble.parameter,
        "code": trouble.code.or(usual),
    } })
}

fn gemini(trouble: &Trouble<'_>) -> Value {
    let usual = match trouble.status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let message = match trouble.context_exceeded {
        true => "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        false => trouble.message,
    };
    let mut error = json!({
        "code": trouble.status,
        "message": message,
        "status": trouble.code.unwrap_or(usual),
    });
    if let Some(seconds) = trouble.retry_after_s {
        error["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{seconds}s"),
        }]);
    }
    json!({ "error": error })
}
