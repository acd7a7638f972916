//! Classifies a provider's refusal.

use std::time::{Duration, SystemTime};

use llm::{Failure, FailureKind};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::limits;

#[cfg(test)]
mod tests;

/// A provider's error object, in any of the usual shapes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    pub(crate) message: Option<String>,
    pub(crate) code: Option<String>,
    /// Some servers put the HTTP status into the object.
    pub(crate) status: Option<u16>,
    pub(crate) retry_after: Option<Duration>,
    /// The field of the request that is wrong, if a field of the error names it.
    pub(crate) parameter: Option<String>,
}

impl ErrorBody {
    /// Reads the body of an answer: `{"error": {…}}`, `{"error": "…"}`, `[{"error": …}]`, or the
    /// error's fields themselves.
    pub(crate) fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(Value::Array(items)) => items.first().map(Self::of_body).unwrap_or_default(),
            Ok(body) => Self::of_body(&body),
            Err(_) => Self::default(),
        }
    }

    fn of_body(body: &Value) -> Self {
        Self::of(body.get("error").unwrap_or(body))
    }

    /// Reads an error object, or a sentence in its place.
    pub(crate) fn of(error: &Value) -> Self {
        if let Value::String(message) = error {
            return Self { message: Some(message.clone()), ..Self::default() };
        }
        let text = |key: &str| error.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let reason = details.iter().find_map(|detail| detail.get("reason").and_then(Value::as_str));
        Self {
            message: text("message").or_else(|| text("detail")).map(str::to_owned),
            code: reason
                .or_else(|| text("code"))
                .or_else(|| text("type"))
                .or_else(|| text("status"))
                .map(str::to_owned),
            status: error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()),
            retry_after: details
                .iter()
                .find_map(|detail| detail.get("retryDelay").and_then(Value::as_str))
                .and_then(|delay| seconds(delay.strip_suffix('s')?)),
            parameter: text("param")
                .or_else(|| {
                    let fields = details.iter().flat_map(|detail| items(&detail["fieldViolations"]));
                    fields.into_iter().find_map(|violation| violation["field"].as_str())
                })
                .map(str::to_owned)
                .or_else(|| items(&error["detail"]).find_map(|wrong| location(&wrong["loc"])))
                .map(|name| name.chars().take(limits::MESSAGE_CHARS).collect()),
        }
    }

    /// The failure that an event in mid-stream announces.
    pub(crate) fn in_stream(self) -> Failure {
        let code = self.code.as_deref().unwrap_or_default();
        let message = self.message.as_deref().unwrap_or_default();
        let kind = match self.status.filter(|status| (400..600).contains(status)) {
            Some(status) => by_status(status, code, message),
            None => by_code(code, message).unwrap_or(FailureKind::Transport),
        };
        let mut failure = Failure::new(kind, sentence(message, code));
        failure.code = self.code;
        failure.parameter = self.parameter;
        failure.retry_after = self.retry_after;
        failure
    }

    /// The failure of an answer with this status.
    pub(crate) fn with_status(self, status: u16, headers: &HeaderMap, now: SystemTime) -> Failure {
        let code = self.code.as_deref().unwrap_or_default();
        let message = self.message.as_deref().unwrap_or_default();
        let kind = by_status(status, code, message);
        let said = if (300..400).contains(&status) {
            "it redirects the request, and keys are not sent along; set base_url to the address that \
             answers"
                .to_owned()
        } else if status == 404 && !message.to_lowercase().contains("model") {
            let said = sentence(message, code);
            format!("{}; check base_url and the name of the model", said.trim_end_matches('.'))
        } else {
            sentence(message, code)
        };
        let mut failure = Failure::new(kind, format!("HTTP {status}: {said}"));
        failure.status = Some(status);
        failure.code = self.code;
        failure.parameter = self.parameter;
        failure.request_id = request_id(headers);
        failure.retry_after = retry_after(headers, now).or(self.retry_after);
        failure
    }
}

/// The elements of an array; anything else has none.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The place of an invalid field, as servers in Python give it: `["body", "response_format", "type"]`.
fn location(place: &Value) -> Option<String> {
    let words: Vec<&str> = items(place).filter_map(Value::as_str).collect();
    (!words.is_empty()).then(|| words.join("."))
}

/// The provider's own message, or its code if there is none.
fn sentence(message: &str, code: &str) -> String {
    let message = message.trim();
    let mut characters = message.chars();
    let mut text: String = characters.by_ref().take(limits::MESSAGE_CHARS).collect();
    if characters.next().is_some() {
        text.push('…');
    }
    match (text.is_empty(), code.is_empty()) {
        (false, _) => text,
        (true, false) => code.chars().take(limits::MESSAGE_CHARS).collect(),
        (true, true) => "no reason given".to_owned(),
    }
}

fn by_status(status: u16, code: &str, message: &str) -> FailureKind {
    let known = by_code(code, message);
    match status {
        400 | 413 | 422 if known == Some(FailureKind::ContextExceeded) => FailureKind::ContextExceeded,
        500 if matches!(code, "exceed_context_size_error") => FailureKind::ContextExceeded,
        408 | 500..=599 => FailureKind::Transport,
        429 => FailureKind::RateLimited,
        _ if matches!(code, "model_not_found") => FailureKind::UnknownModel,
        401 | 403 => FailureKind::Unauthorized,
        404 if known == Some(FailureKind::UnknownModel) || message.to_lowercase().contains("model") => {
            FailureKind::UnknownModel
        }
        400 if known == Some(FailureKind::Unauthorized) => FailureKind::Unauthorized,
        _ => FailureKind::Rejected,
    }
}

/// Classifies by the code alone: an event in mid-stream has no status.
fn by_code(code: &str, message: &str) -> Option<FailureKind> {
    Some(match code {
        "context_length_exceeded" | "exceed_context_size_error" | "request_too_large" => {
            FailureKind::ContextExceeded
        }
        "overloaded_error"
        | "api_error"
        | "server_error"
        | "internal_server_error"
        | "timeout_error"
        | "UNAVAILABLE"
        | "INTERNAL"
        | "DEADLINE_EXCEEDED" => FailureKind::Transport,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "RESOURCE_EXHAUSTED" => {
            FailureKind::RateLimited
        }
        "authentication_error"
        | "permission_error"
        | "invalid_api_key"
        | "API_KEY_INVALID"
        | "UNAUTHENTICATED"
        | "PERMISSION_DENIED" => FailureKind::Unauthorized,
        "model_not_found" | "not_found_error" | "NotFoundError" | "NOT_FOUND" => FailureKind::UnknownModel,
        _ if says_context_exceeded(message) => FailureKind::ContextExceeded,
        "invalid_request_error" | "invalid_prompt" | "INVALID_ARGUMENT" => FailureKind::Rejected,
        _ => return None,
    })
}

/// Several providers report this in their message only.
fn says_context_exceeded(message: &str) -> bool {
    let message = message.to_lowercase();
    let has = |text: &str| message.contains(text);
    has("prompt is too long")
        || has("maximum context length")
        || has("context length exceeded")
        || has("context window")
        || has("exceed context limit")
        || has("exceeds the available context size")
        || (has("input token count") && has("exceed"))
}

pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    ["request-id", "x-request-id"]
        .into_iter()
        .find_map(|name| headers.get(name)?.to_str().ok())
        .filter(|id| !id.is_empty())
        .map(|id| id.chars().take(200).collect())
}

/// `retry-after-ms`, or `retry-after` as seconds or as a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(after) = text("retry-after-ms").and_then(seconds) {
        return Some(after / 1_000);
    }
    let text = text("retry-after")?;
    seconds(text).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}
