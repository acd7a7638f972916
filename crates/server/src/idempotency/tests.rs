use app::Code;
use http::Request;
use serde_json::json;

use super::*;

fn read(
    name: &str,
    request: http::request::Builder,
    fields: &serde_json::Value,
) -> ApiResult<Option<RequestKey>> {
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let operation = operations::find(name).expect("an operation");
    RequestKey::read(operation, &parts, fields.as_object().expect("fields"))
}

fn put(key: &str) -> http::request::Builder {
    Request::put("/api/library/part/calm").header("idempotency-key", key)
}

#[test]
fn a_key_is_short_and_visible() {
    let fields = json!({});
    let long = "x".repeat(KEY_CHARS);
    for key in ["a", "8e03978e-40d5-43dd-bc93-6894a57f9324", "\"quoted\"", &long] {
        let read = read("save_entity", put(key), &fields).expect("a key").expect("it is there");
        assert_eq!(read.key, key);
    }
    for key in ["", "a b", "\u{e9}", &format!("{long}x")] {
        let refused = read("save_entity", put(key), &fields).expect_err("no key");
        assert_eq!(refused.report().code, Code::InvalidValue, "{key}");
        assert_eq!(refused.report().subject.field.as_deref(), Some("Idempotency-Key"));
    }
}

#[test]
fn reads_and_requests_without_one_have_no_key() {
    let fields = json!({});
    assert_eq!(read("list_library", put("a"), &fields).expect("no refusal"), None);
    assert_eq!(read("save_entity", Request::put("/x"), &fields).expect("no refusal"), None);
}

#[test]
fn a_fingerprint_tells_requests_apart() {
    let fields = json!({ "entity": { "content": "a" }, "name": "calm" });
    let fingerprint = |request: http::request::Builder, fields: &serde_json::Value| {
        read("save_entity", request, fields).expect("a key").expect("it is there").fingerprint
    };
    let first = fingerprint(put("a"), &fields);
    assert_eq!(first, fingerprint(put("b").header("date", "now"), &fields));
    let others = [
        fingerprint(put("a"), &json!({ "entity": { "content": "b" }, "name": "calm" })),
        fingerprint(put("a").header("if-match", "\"shared:3\""), &fields),
        fingerprint(put("a").header("if-none-match", "\"shared:3\""), &fields),
        fingerprint(put("a").method("PATCH"), &fields),
        fingerprint(put("a").uri("/api/library/part/warm"), &fields),
    ];
    for (place, other) in others.iter().enumerate() {
        assert!(*other != first && !others[..place].contains(other), "{place}");
    }
}
