//! Spans in OTLP, the protocol of OpenTelemetry: described once, written as protobuf or as JSON.

use crate::span::{Span, Value};

mod json;
mod message;
use message::{Field, Message};
mod protobuf;

/// The name under which the spans' makers are known.
const SCOPE: &str = "masque";
/// The bit of a span's flags that says whether its parent is remote, and the one for a remote parent.
const HAS_IS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;
const SAMPLED: u32 = 1;
const STATUS_ERROR: u64 = 2;

/// The form of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    /// As `OTEL_EXPORTER_OTLP_PROTOCOL` names it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Protobuf => "http/protobuf",
            Self::Json => "http/json",
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// The body of an `ExportTraceServiceRequest`.
    pub(crate) fn write(self, resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
        let request = request(resource, spans);
        match self {
            Self::Protobuf => protobuf::write(&request),
            Self::Json => json::write(&request).to_string().into_bytes(),
        }
    }
}

/// The request with some spans. Without spans it has the resource alone, which a collector accepts.
fn request(resource: &[(String, String)], spans: &[Span]) -> Message {
    let attributes = resource.iter().map(|(key, value)| attribute(key, &Value::Text(value.clone())));
    let resource = Message::default().with(1, "attributes", Field::Many(attributes.collect()));
    let mut resource_spans = Message::default().with(1, "resource", Field::One(resource));
    if !spans.is_empty() {
        let scope = Message::default().with(1, "name", Field::Text(SCOPE.to_owned()));
        let spans = spans.iter().map(span).collect();
        let scope_spans = Message::default().with(1, "scope", Field::One(scope));
        let scope_spans = scope_spans.with(2, "spans", Field::Many(spans));
        resource_spans = resource_spans.with(2, "scopeSpans", Field::Many(vec![scope_spans]));
    }
    Message::default().with(1, "resourceSpans", Field::Many(vec![resource_spans]))
}

fn span(span: &Span) -> Message {
    let attributes = span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    let remote = if span.is_parent_remote { IS_REMOTE } else { 0 };
    let mut message = Message::default()
        .with(1, "traceId", Field::Id(span.place.trace.bytes().to_vec()))
        .with(2, "spanId", Field::Id(span.place.span.bytes().to_vec()));
    if let Some(parent) = &span.parent {
        message = message.with(4, "parentSpanId", Field::Id(parent.bytes().to_vec()));
    }
    message = message
        .with(5, "name", Field::Text(span.name.clone()))
        .with(6, "kind", Field::Choice(span.kind as u64))
        .with(7, "startTimeUnixNano", Field::Time(span.start))
        .with(8, "endTimeUnixNano", Field::Time(span.end))
        .with(9, "attributes", Field::Many(attributes));
    if span.is_failed {
        let status = Message::default().with(3, "code", Field::Choice(STATUS_ERROR));
        message = message.with(15, "status", Field::One(status));
    }
    message.with(16, "flags", Field::Flags(SAMPLED | HAS_IS_REMOTE | remote))
}

fn attribute(key: &str, value: &Value) -> Message {
    Message::default().with(1, "key", Field::Text(key.to_owned())).with(2, "value", Field::One(any(value)))
}

fn any(value: &Value) -> Message {
    let message = Message::default();
    match value {
        Value::Text(text) => message.with(1, "stringValue", Field::Text(text.clone())),
        Value::Flag(flag) => message.with(2, "boolValue", Field::Flag(*flag)),
        Value::Whole(whole) => message.with(3, "intValue", Field::Whole(*whole)),
        Value::Number(number) => message.with(4, "doubleValue", Field::Number(*number)),
        Value::Words(words) => {
            let values = words.iter().map(|word| any(&Value::Text(word.clone()))).collect();
            let list = Message::default().with(1, "values", Field::Many(values));
            message.with(5, "arrayValue", Field::One(list))
        }
    }
}

#[cfg(test)]
mod tests;
