use super::*;
use crate::ids::Place;
use crate::span::Kind;

/// A span with a value of every type. Ids and times are fixed.
fn sample() -> Span {
    let place = Place::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").expect("a place");
    let above = Place::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-0102030405060708-01").expect("a place");
    let mut span = Span::begin("chat m", place, Some(above.span), true);
    (span.start, span.end) = (1_700_000_000_000_000_001, 1_700_000_000_250_000_000);
    (span.kind, span.is_failed) = (Kind::Client, true);
    span.attributes = vec![
        ("text", Value::Text("é".to_owned())),
        ("whole", Value::Whole(300)),
        ("negative", Value::Whole(-2)),
        ("number", Value::Number(0.5)),
        ("flag", Value::Flag(true)),
        ("words", Value::Words(vec!["stop".to_owned()])),
    ];
    span
}

fn resource() -> Vec<(String, String)> {
    vec![("service.name".to_owned(), "masque".to_owned())]
}

#[test]
fn json_follows_the_protocols_mapping() {
    let body = Encoding::Json.write(&resource(), &[sample()]);
    let json: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let expected = serde_json::json!({
        "resourceSpans": [{
            "resource": { "attributes": [{ "key": "service.name", "value": { "stringValue": "masque" } }] },
            "scopeSpans": [{
                "scope": { "name": "masque" },
                "spans": [{
                    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
                    "spanId": "00f067aa0ba902b7",
                    "parentSpanId": "0102030405060708",
                    "name": "chat m",
                    "kind": 3,
                    "startTimeUnixNano": "1700000000000000001",
                    "endTimeUnixNano": "1700000000250000000",
                    "attributes": [
                        { "key": "text", "value": { "stringValue": "é" } },
                        { "key": "whole", "value": { "intValue": "300" } },
                        { "key": "negative", "value": { "intValue": "-2" } },
                        { "key": "number", "value": { "doubleValue": 0.5 } },
                        { "key": "flag", "value": { "boolValue": true } },
                        { "key": "words", "value": { "arrayValue": { "values": [{ "stringValue": "stop" }] } } },
                    ],
                    "status": { "code": 2 },
                    "flags": 0x301,
                }],
            }],
        }],
    });
    assert_eq!(json, expected);
}

/// The bytes that Google's library writes for the same message, with the definitions of OpenTelemetry.
#[test]
fn protobuf_is_written_byte_for_byte() {
    let body = Encoding::Protobuf.write(&resource(), &[sample()]);
    let hex: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, include_str!("tests/sample.hex").trim());
}

#[test]
fn a_request_without_spans_has_the_resource() {
    let body = Encoding::Json.write(&resource(), &[]);
    let json: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let attribute = serde_json::json!({ "key": "service.name", "value": { "stringValue": "masque" } });
    let expected = serde_json::json!({ "resourceSpans": [{ "resource": { "attributes": [attribute] } }] });
    assert_eq!(json, expected);
}

#[test]
fn numbers_that_json_lacks_are_words() {
    for (number, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")] {
        let json = json::write(&any(&Value::Number(number)));
        assert_eq!(json, serde_json::json!({ "doubleValue": word }));
    }
}
