//! `GET /metrics`: counts of this process, in the text format of Prometheus.
//!
//! A registry of our own: two maps and a few gauges that are read when they are asked for. Every label comes
//! from a bounded set.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use app::Runtime;
use app::running::SessionCounts;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use telemetry::{SpanCounts, span_counts};
use tokio::time::timeout;

use crate::limits::HEALTH_TIMEOUT;

mod exposition;
use exposition::{Exposition, Type};

/// Upper bounds of the durations, in microseconds and as Prometheus writes them.
const BUCKETS: [(u64, &str); 11] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (500_000, "0.5"),
    (2_000_000, "2"),
    (10_000_000, "10"),
];

/// Answered requests, by operation and status.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<BTreeMap<&'static str, Requests>>);

/// The requests of one operation.
#[derive(Debug, Default)]
struct Requests {
    by_status: BTreeMap<u16, u64>,
    /// How many took at most this long, and longer than the bucket before.
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

/// Open streams and connections.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Open {
    pub(crate) session_streams: usize,
    pub(crate) test_streams: usize,
    pub(crate) track_streams: usize,
    pub(crate) event_streams: usize,
    /// `None` if another server accepts the connections.
    pub(crate) connections: Option<usize>,
}

impl Metrics {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Requests>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request when its answer begins.
    pub(crate) fn count(&self, operation: &'static str, status: StatusCode, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut all = self.lock();
        let requests = all.entry(operation).or_default();
        *requests.by_status.entry(status.as_u16()).or_default() += 1;
        requests.count += 1;
        requests.sum += took;
        if let Some(at) = BUCKETS.iter().position(|(most, _)| micros <= *most) {
            requests.buckets[at] += 1;
        }
    }

    /// Everything that is counted, as text.
    pub(crate) async fn answer(&self, runtime: &Runtime, open: Open) -> Response {
        let sessions = match timeout(HEALTH_TIMEOUT, runtime.session_counts()).await {
            Ok(Ok(counts)) => Some(counts),
            // The other figures are good without the database.
            Ok(Err(error)) => {
                tracing::warn!(%error, "sessions were not counted");
                None
            }
            Err(_) => None,
        };
        let mut text = Exposition::default();
        text.family("masque_info", Type::Gauge, "The version that runs.");
        text.sample("masque_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        self.write_requests(&mut text);
        write_gauges(&mut text, open);
        write_traces(&mut text);
        if let Some(SessionCounts { idle, running, waiting }) = sessions {
            let name = "masque_sessions";
            text.family(name, Type::Gauge, "Sessions in the database, by state.");
            for (state, count) in [("idle", idle), ("running", running), ("waiting", waiting)] {
                text.sample(name, &[("state", state)], count);
            }
        }
        write_runtime(&mut text, runtime);
        ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text.into_text()).into_response()
    }

    fn write_requests(&self, text: &mut Exposition) {
        let all = self.lock();
        let name = "masque_http_requests_total";
        text.family(name, Type::Counter, "Answered requests, by operation and status.");
        for (operation, requests) in all.iter() {
            for (status, count) in &requests.by_status {
                text.sample(name, &[("operation", operation), ("status", &status.to_string())], *count);
            }
        }
        let name = "masque_http_request_duration_seconds";
        text.family(name, Type::Histogram, "Time until an answer or a stream begins.");
        for (operation, requests) in all.iter() {
            let mut below = 0;
            for (bucket, (_, bound)) in requests.buckets.iter().zip(BUCKETS) {
                below += bucket;
                text.part(name, "_bucket", &[("operation", operation), ("le", bound)], below);
            }
            text.part(name, "_bucket", &[("operation", operation), ("le", "+Inf")], requests.count);
            text.part(name, "_sum", &[("operation", operation)], requests.sum.as_secs_f64());
            text.part(name, "_count", &[("operation", operation)], requests.count);
        }
    }
}

fn write_gauges(text: &mut Exposition, open: Open) {
    let Open { session_streams, test_streams, track_streams, event_streams, connections } = open;
    let name = "masque_open_streams";
    text.family(
        name,
        Type::Gauge,
        "Open streams of sessions, of tests, of tracks, and of events of the library.",
    );
    text.sample(name, &[("of", "sessions")], session_streams);
    text.sample(name, &[("of", "tests")], test_streams);
    text.sample(name, &[("of", "tracks")], track_streams);
    text.sample(name, &[("of", "library")], event_streams);
    if let Some(connections) = connections {
        text.family("masque_open_connections", Type::Gauge, "Open connections of clients.");
        text.sample("masque_open_connections", &[], connections);
    }
}

/// Spans of traces, if this process sends any.
fn write_traces(text: &mut Exposition) {
    let Some(SpanCounts { sent, dropped }) = span_counts() else { return };
    let name = "masque_trace_spans_total";
    text.family(name, Type::Counter, "Spans that were sent to the collector, or lost.");
    for (outcome, count) in [("sent", sent), ("dropped", dropped)] {
        text.sample(name, &[("outcome", outcome)], count);
    }
}

fn write_runtime(text: &mut Exposition, runtime: &Runtime) {
    text.family("masque_runs", Type::Gauge, "Runs of this process.");
    text.sample("masque_runs", &[], runtime.active_runs());
    let name = "masque_persona_loads_total";
    text.family(name, Type::Counter, "Personas that were loaded, by any front and for runs.");
    text.sample(name, &[], runtime.library().persona_loads());
    let name = "masque_model_queue";
    text.family(name, Type::Gauge, "Calls that wait for a place at a provider (max_concurrent).");
    for (provider, waiting) in runtime.model_queues() {
        text.sample(name, &[("provider", &provider)], waiting);
    }
    let consumed = runtime.consumption();
    let name = "masque_model_calls_total";
    text.family(name, Type::Counter, "Finished calls of models, by persona or (judge), and model.");
    for used in &consumed {
        let labels = [("persona", &*used.persona), ("provider", &*used.provider), ("model", &*used.model)];
        text.sample(name, &labels, used.calls);
    }
    let name = "masque_model_tokens_total";
    text.family(
        name,
        Type::Counter,
        "Tokens of models, by persona and model. Cached ones are part of the input.",
    );
    for used in &consumed {
        for (direction, tokens) in [
            ("input", used.usage.input_tokens),
            ("output", used.usage.output_tokens),
            ("cache_read", used.usage.cache_read_tokens),
            ("cache_write", used.usage.cache_write_tokens),
        ] {
            let labels = [
                ("persona", &*used.persona),
                ("provider", &*used.provider),
                ("model", &*used.model),
                ("direction", direction),
            ];
            text.sample(name, &labels, tokens);
        }
    }
    let name = "masque_model_cost_total";
    text.family(
        name,
        Type::Counter,
        "Cost of models that have a price in config.toml, by persona and model.",
    );
    for used in &consumed {
        let labels = [("persona", &*used.persona), ("provider", &*used.provider), ("model", &*used.model)];
        if let Some(cost) = used.cost {
            text.sample(name, &labels, cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        for ms in [0, 1, 3, 80, 20_000] {
            metrics.count("get_entity", StatusCode::OK, Duration::from_millis(ms));
        }
        metrics.count("get_entity", StatusCode::NOT_FOUND, Duration::from_millis(1));
        let mut text = Exposition::default();
        metrics.write_requests(&mut text);
        let text = text.into_text();
        for line in [
            "# TYPE masque_http_requests_total counter",
            r#"masque_http_requests_total{operation="get_entity",status="200"} 5"#,
            r#"masque_http_requests_total{operation="get_entity",status="404"} 1"#,
            "# TYPE masque_http_request_duration_seconds histogram",
            r#"masque_http_request_duration_seconds_bucket{operation="get_entity",le="0.0005"} 1"#,
            r#"masque_http_request_duration_seconds_bucket{operation="get_entity",le="0.001"} 3"#,
            r#"masque_http_request_duration_seconds_bucket{operation="get_entity",le="0.005"} 4"#,
            r#"masque_http_request_duration_seconds_bucket{operation="get_entity",le="0.1"} 5"#,
            r#"masque_http_request_duration_seconds_bucket{operation="get_entity",le="10"} 5"#,
            r#"masque_http_request_duration_seconds_bucket{operation="get_entity",le="+Inf"} 6"#,
            r#"masque_http_request_duration_seconds_count{operation="get_entity"} 6"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
