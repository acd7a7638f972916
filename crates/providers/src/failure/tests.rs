use std::time::{Duration, SystemTime};

use llm::FailureKind::{self, ContextExceeded, RateLimited, Rejected, Transport, Unauthorized, UnknownModel};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;

use super::ErrorBody;

fn failure(status: u16, body: &str) -> llm::Failure {
    ErrorBody::read(body).with_status(status, &HeaderMap::new(), SystemTime::UNIX_EPOCH)
}

fn check(status: u16, body: &str, kind: FailureKind) {
    let failure = failure(status, body);
    assert_eq!(failure.kind, kind, "{status} {body}");
    assert_eq!(failure.status, Some(status));
}

#[test]
fn statuses() {
    for status in [408, 500, 502, 503, 504, 529] {
        check(status, "<html>", Transport);
    }
    check(429, "", RateLimited);
    check(429, r#"{"error":{"message":"too many tokens of context window per minute"}}"#, RateLimited);
    check(429, r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#, RateLimited);
    check(401, "", Unauthorized);
    check(403, r#"{"error":{"type":"permission_error","message":"no"}}"#, Unauthorized);
    check(403, r#"{"error":{"message":"no access to model","code":"model_not_found"}}"#, UnknownModel);
    check(404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#, UnknownModel);
    check(404, r#"{"error":{"message":"it is not there","code":"model_not_found"}}"#, UnknownModel);
    check(
        404,
        r#"{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}"#,
        UnknownModel,
    );
    check(404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, UnknownModel);
    check(404, "404 page not found", Rejected);
    check(400, r#"{"error":{"type":"invalid_request_error","message":"temperature: too high"}}"#, Rejected);
    check(422, r#"{"detail":"no"}"#, Rejected);
    check(413, "", Rejected);
    check(302, "", Rejected);
}

#[test]
fn an_exceeded_context_is_found_by_code_or_message() {
    for (status, body) in [
        (400, r#"{"error":{"message":"…","type":"invalid_request_error","code":"context_length_exceeded"}}"#),
        (400, r#"{"error":{"code":400,"message":"…","type":"exceed_context_size_error","n_ctx":4096}}"#),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 5 tokens > 4 maximum"}}"#,
        ),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 9"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
        ),
        (
            400,
            r#"{"object":"error","type":"BadRequestError","message":"This model's maximum context length is 8 tokens"}"#,
        ),
        (422, r#"{"detail":"maximum context length is 8 tokens"}"#),
        (413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
    ] {
        check(status, body, ContextExceeded);
    }
}

#[test]
fn a_wrong_key_is_a_wrong_key_whatever_the_status() {
    let body = json!([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}}]);
    check(400, &body.to_string(), Unauthorized);
}

#[test]
fn the_message_is_the_providers_own_and_not_too_long() {
    let said =
        failure(400, r#"{"error":{"type":"invalid_request_error","message":" temperature: too high "}}"#);
    assert_eq!(said.message, "HTTP 400: temperature: too high");
    assert_eq!(said.code.as_deref(), Some("invalid_request_error"));
    assert_eq!(failure(503, "<html>").message, "HTTP 503: no reason given");
    assert_eq!(
        failure(529, r#"{"error":{"type":"overloaded_error"}}"#).message,
        "HTTP 529: overloaded_error"
    );
    let long = failure(400, &json!({"error": {"message": "ä".repeat(10_000)}}).to_string());
    assert_eq!(long.message.chars().count(), "HTTP 400: ".len() + 501);
    assert!(failure(307, "").message.contains("base_url"));
    assert!(failure(404, "").message.contains("base_url"));
    let message = failure(404, r#"{"error":"Nothing is here."}"#).message;
    assert!(message.starts_with("HTTP 404: Nothing is here; ") && message.contains("base_url"), "{message}");
}

fn waits(headers: &[(&'static str, &str)], body: &str) -> Option<Duration> {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value")))
        .collect();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    ErrorBody::read(body).with_status(429, &headers, now).retry_after
}

#[test]
fn how_long_to_wait() {
    let s = Duration::from_secs;
    assert_eq!(waits(&[], ""), None);
    assert_eq!(waits(&[("retry-after", "20")], ""), Some(s(20)));
    assert_eq!(waits(&[("retry-after", "1.5")], ""), Some(Duration::from_millis(1_500)));
    assert_eq!(
        waits(&[("retry-after", "20"), ("retry-after-ms", "250")], ""),
        Some(Duration::from_millis(250))
    );
    assert_eq!(waits(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], ""), Some(s(30)));
    assert_eq!(waits(&[("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")], ""), Some(s(0)));
    for nonsense in ["soon", "-1", "NaN", "inf", "1e300"] {
        assert_eq!(waits(&[("retry-after", nonsense)], ""), None, "{nonsense}");
    }
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
    assert_eq!(waits(&[], body), Some(Duration::from_millis(34_500)));
}

#[test]
fn events_in_mid_stream_are_classified_by_code() {
    let kind = |code: &str| ErrorBody::of(&json!({"type": code, "message": "…"})).in_stream().kind;
    assert_eq!(kind("overloaded_error"), Transport);
    assert_eq!(kind("api_error"), Transport);
    assert_eq!(kind("rate_limit_error"), RateLimited);
    assert_eq!(kind("authentication_error"), Unauthorized);
    assert_eq!(kind("not_found_error"), UnknownModel);
    assert_eq!(kind("invalid_request_error"), Rejected);
    assert_eq!(kind("context_length_exceeded"), ContextExceeded);
    assert_eq!(kind("never_heard_of"), Transport);
    assert_eq!(ErrorBody::of(&json!({"code": 503, "message": "…"})).in_stream().kind, Transport);
    assert_eq!(ErrorBody::of(&json!({"code": 429, "message": "…"})).in_stream().kind, RateLimited);
    assert_eq!(ErrorBody::of(&json!("out of memory")).in_stream().message, "out of memory");
}
