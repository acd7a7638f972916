//! Names, attributes and parents of spans.

use serde_json::{Value, json};
use telemetry::{Exporter, FLUSH, TraceLayer};
use tracing::field::Empty;
use tracing::{Dispatch, info_span};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::collector::{Collector, attribute};

const JSON: (&str, &str) = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");

pub(crate) fn dispatch(layer: TraceLayer) -> Dispatch {
    tracing_subscriber::registry().with(layer.with_filter(filter_fn(telemetry::is_trace))).into()
}

/// The spans that some work made, as JSON.
fn spans(work: impl FnOnce()) -> Vec<Value> {
    let collector = Collector::start(&[]);
    let (layer, exporter): (_, Exporter) = telemetry::start(collector.settings(&[JSON])).expect("a thread");
    tracing::dispatcher::with_default(&dispatch(layer), work);
    exporter.finish(FLUSH * 5);
    collector.spans()
}

#[track_caller]
fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

#[test]
fn children_name_their_parents() {
    let spans = spans(|| {
        let outer =
            info_span!(target: "traces", "outer", otel.kind = "server", otel.name = "GET /x").entered();
        // A span of another target is not a parent.
        let _between = info_span!("between").entered();
        info_span!(target: "traces", "inner", tokens = 3_u64, late = Empty).in_scope(|| {
            tracing::Span::current().record("late", "yes");
        });
        drop(outer);
    });
    assert_eq!(spans.len(), 2, "{spans:#?}");
    let (outer, inner) = (named(&spans, "GET /x"), named(&spans, "inner"));
    assert_eq!((&outer["kind"], &inner["kind"]), (&json!(2), &json!(1)));
    assert_eq!(outer.get("parentSpanId"), None);
    assert_eq!((&inner["parentSpanId"], &inner["traceId"]), (&outer["spanId"], &outer["traceId"]));
    assert_eq!(attribute(inner, "tokens"), json!({ "intValue": "3" }));
    assert_eq!(attribute(inner, "late"), json!({ "stringValue": "yes" }));
    assert_eq!(attribute(outer, "otel.kind"), Value::Null);
}

#[test]
fn a_callers_trace_goes_on() {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let spans = spans(|| {
        let _outer = info_span!(target: "traces", "outer", otel.parent = parent).entered();
        let _inner = info_span!(target: "traces", "inner", otel.parent = "00-nonsense").entered();
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        let _unsampled =
            info_span!(target: "traces", parent: None, "unsampled", otel.parent = parent).entered();
        info_span!(target: "traces", "below").in_scope(|| {});
        info_span!(target: "traces", parent: None, "invalid", otel.parent = "00-nonsense").in_scope(|| {});
    });
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["invalid", "inner", "outer"], "what the caller does not sample is not sent");
    let outer = named(&spans, "outer");
    assert_eq!(outer["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!((&outer["parentSpanId"], &outer["flags"]), (&json!("00f067aa0ba902b7"), &json!(0x301)));
    assert_eq!(named(&spans, "inner")["parentSpanId"], outer["spanId"]);
    assert_eq!(named(&spans, "inner")["flags"], 0x101);
    assert_eq!(named(&spans, "invalid").get("parentSpanId"), None);
}

#[test]
fn a_span_may_end_before_its_children() {
    let spans = spans(|| {
        let outer = info_span!(target: "traces", "outer", otel.end = Empty, otel.status_code = Empty);
        let inner = outer.in_scope(|| info_span!(target: "traces", "inner"));
        outer.record("otel.status_code", "ERROR");
        outer.record("otel.end", true);
        // It is gone: nothing is added to it.
        outer.record("otel.end", true);
        inner.in_scope(|| drop(info_span!(target: "traces", "innermost")));
        drop((outer, inner));
    });
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["outer", "innermost", "inner"]);
    assert_eq!(spans[0]["status"], json!({ "code": 2 }));
    assert_eq!(spans[2]["parentSpanId"], spans[0]["spanId"]);
    let time =
        |span: &Value, field: &str| span[field].as_str().expect("a time").parse::<u64>().expect("a number");
    assert!(time(&spans[0], "endTimeUnixNano") <= time(&spans[2], "endTimeUnixNano"));
    assert!(spans.iter().all(|span| time(span, "startTimeUnixNano") <= time(span, "endTimeUnixNano")));
}

#[test]
fn texts_are_cut_and_reasons_are_a_list() {
    let long = "é".repeat(2_000);
    let spans = spans(|| {
        let reasons = "gen_ai.response.finish_reasons";
        let span = info_span!(target: "traces", "x", long = %long, gen_ai.response.finish_reasons = Empty);
        span.record(reasons, "stop");
    });
    let text = attribute(&spans[0], "long")["stringValue"].as_str().expect("a text").to_owned();
    assert_eq!((text.len(), long.starts_with(&text)), (1_024, true));
    let list = json!({ "arrayValue": { "values": [{ "stringValue": "stop" }] } });
    assert_eq!(attribute(&spans[0], "gen_ai.response.finish_reasons"), list);
}
