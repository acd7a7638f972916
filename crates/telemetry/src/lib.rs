//! Traces: the spans of `tracing`, sent to an OpenTelemetry collector over OTLP/HTTP.
//!
//! Other crates make their spans with `tracing`, the target [`TARGET`] and the names of OpenTelemetry's
//! semantic conventions. Fields that begin with `otel.` say how a span is sent: `otel.name` is its name,
//! `otel.kind` its kind (`server` or `client`), `otel.status_code = "ERROR"` marks a failure,
//! `otel.parent` is the `traceparent` of a caller, and `otel.end` ends the span before its children do.
//!
//! This crate must not know personas, sessions or models. Work never waits for it: a span that finds the
//! queue full is counted and lost.

mod limits;
pub use limits::FLUSH;

mod settings;
pub use settings::{SettingsError, SettingsProblem, TraceSettings, check_endpoint};

mod ids;
mod span;

mod layer;
pub use layer::{TARGET, TraceLayer, is_trace};

mod otlp;

mod counts;
pub use counts::{SpanCounts, span_counts};

mod sender;
pub use sender::{SendError, probe};

mod exporter;
pub use exporter::{Exporter, start};
