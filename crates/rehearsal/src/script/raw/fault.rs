//! The faults of a reply, as they are written.

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::{Checked, Wrong, dates_as_text, milliseconds};
use crate::script::fault::{Cut, ErrorEvent, Fault, HttpError, Stall};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFault {
    status: Option<Spanned<u16>>,
    retry_after_s: Option<u64>,
    code: Option<String>,
    message: Option<String>,
    #[serde(default)]
    context_exceeded: bool,
    body: Option<toml::Value>,
    content_type: Option<Spanned<String>>,
    stall_ms: Option<Spanned<u64>>,
    /// For stalls and error events.
    after: Option<usize>,
    cut_after: Option<usize>,
    #[serde(default)]
    half_event: bool,
    #[serde(default)]
    clean: bool,
    #[serde(default)]
    malformed_tool_json: bool,
    error_event: Option<Spanned<String>>,
}

pub(super) fn check(raw: Spanned<RawFault>) -> Checked<Fault> {
    let span = raw.span();
    let wrong = |message: &str| Err(Wrong(span.clone(), message.to_owned()));
    let raw = raw.into_inner();
    let cuts = raw.cut_after.is_some() || raw.half_event;
    let refuses = raw.status.is_some() || raw.context_exceeded;
    if refuses && (cuts || raw.malformed_tool_json || raw.error_event.is_some() || raw.after.is_some()) {
        return wrong("a status is the whole answer: it has no tokens to cut, stall or fail after");
    }
    if !refuses && (raw.retry_after_s.is_some() || raw.code.is_some() || raw.message.is_some()) {
        return wrong("retry_after_s, code and message belong to a status");
    }
    if raw.clean && !cuts {
        return wrong("clean says how a cut ends: give cut_after or half_event too");
    }
    if raw.after.is_some() && raw.stall_ms.is_none() && raw.error_event.is_none() {
        return wrong(
            "after says when to stall or to send the error event: give stall_ms or error_event too",
        );
    }
    if cuts && raw.error_event.is_some() {
        return wrong("an error event ends the answer: it cannot be cut as well");
    }
    if raw.error_event.as_ref().is_some_and(|code| code.get_ref().is_empty()) {
        return wrong("error_event is the code of the error, such as overloaded_error");
    }
    let content_type = raw.content_type.map(content_type).transpose()?;
    let body = raw.body.map(body).transpose().map_err(|message| Wrong(span.clone(), message))?;
    let stall = match raw.stall_ms {
        Some(wait) => Some(Stall { wait: milliseconds(&wait)?, after: raw.after }),
        None => None,
    };
    let fault = Fault {
        refused: refused(raw.status, raw.retry_after_s, raw.code, raw.message, raw.context_exceeded)?,
        stall,
        cut: cuts.then_some(Cut { after: raw.cut_after, half_event: raw.half_event, clean: raw.clean }),
        malformed_tool_json: raw.malformed_tool_json,
        content_type,
        body,
        error_event: raw.error_event.map(|code| ErrorEvent { code: code.into_inner(), after: raw.after }),
    };
    if fault == Fault::default() {
        return wrong("this fault does nothing; give it a status, stall_ms, cut_after or another one");
    }
    Ok(fault)
}

fn refused(
    status: Option<Spanned<u16>>,
    retry_after_s: Option<u64>,
    code: Option<String>,
    message: Option<String>,
    context_exceeded: bool,
) -> Checked<Option<HttpError>> {
    let status = match status {
        None if context_exceeded => 400,
        None => return Ok(None),
        Some(status) if (300..=599).contains(status.get_ref()) => status.into_inner(),
        Some(status) => {
            return Err(Wrong(status.span(), "the status of a fault is 300 to 599".to_owned()));
        }
    };
    Ok(Some(HttpError { status, retry_after_s, code, message, context_exceeded }))
}

fn content_type(raw: Spanned<String>) -> Checked<String> {
    if http::HeaderValue::from_str(raw.get_ref()).is_err() {
        return Err(Wrong(raw.span(), "this cannot be sent as a content type".to_owned()));
    }
    Ok(raw.into_inner())
}

/// A text is sent as it is, anything else as JSON.
fn body(raw: toml::Value) -> Result<String, String> {
    match raw {
        toml::Value::String(text) => Ok(text),
        other => {
            let value: Value = serde_json::to_value(other).map_err(|error| error.to_string())?;
            Ok(dates_as_text(value).to_string())
        }
    }
}
