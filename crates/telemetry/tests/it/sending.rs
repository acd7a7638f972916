//! Requests to the collector, and work without one.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use telemetry::{FLUSH, SendError, probe, span_counts};
use tracing::info_span;

use crate::collector::{Collector, settings};
use crate::trees::dispatch;

/// Ends some spans.
fn work(spans: usize) {
    for _ in 0..spans {
        drop(info_span!(target: "traces", "work"));
    }
}

#[test]
fn a_request_has_the_form_that_collectors_take() {
    let collector = Collector::start(&[]);
    let headers = [("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x")];
    let (layer, exporter) = telemetry::start(collector.settings(&headers)).expect("a thread");
    tracing::dispatcher::with_default(&dispatch(layer), || work(3));
    // Without a stop, the batch goes after a second.
    let received = collector.wait_for(1);
    assert_eq!(received[0].path, "/v1/traces");
    assert_eq!(received[0].headers["content-type"], "application/x-protobuf");
    assert_eq!(received[0].headers["authorization"], "Bearer x");
    // The first field, resource_spans, is a message.
    assert_eq!(received[0].body[0], 0x0a);
    exporter.finish(FLUSH);
    assert_eq!(collector.received().len(), 1, "nothing was left");
}

#[test]
fn an_overloaded_collector_is_asked_again() {
    let collector = Collector::start(&[503, 429]);
    let (layer, exporter) = telemetry::start(collector.settings(&[])).expect("a thread");
    tracing::dispatcher::with_default(&dispatch(layer), || work(1));
    let received = collector.wait_for(3);
    assert!(received.iter().all(|request| request.body == received[0].body));
    exporter.finish(FLUSH);
}

#[test]
fn a_refused_batch_is_lost_and_the_next_one_is_sent() {
    let collector = Collector::start(&[400]);
    let (layer, exporter) = telemetry::start(collector.settings(&[])).expect("a thread");
    let dispatch = dispatch(layer);
    tracing::dispatcher::with_default(&dispatch, || work(1));
    collector.wait_for(1);
    tracing::dispatcher::with_default(&dispatch, || work(1));
    let received = collector.wait_for(2);
    assert_ne!(received[0].body, received[1].body);
    exporter.finish(FLUSH);
}

#[test]
fn a_collector_that_is_away_delays_nothing() {
    // It accepts connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    let (layer, exporter) = telemetry::start(settings(&url, &[])).expect("a thread");
    let dropped = || span_counts().expect("counts").dropped;
    let (started, before) = (Instant::now(), dropped());
    // More than the queue and the batch on its way hold.
    tracing::dispatcher::with_default(&dispatch(layer), || work(10_000));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(dropped() - before >= 7_000, "{} of 10,000 are dropped", dropped() - before);
    let started = Instant::now();
    exporter.finish(Duration::from_millis(200));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn a_probe_says_whether_the_collector_answers() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let probe = |settings| runtime.block_on(probe(settings));
    let (fine, strict, closed) = (Collector::start(&[]), Collector::start(&[400]), Collector::start(&[401]));
    assert!(probe(fine.settings(&[])).is_ok());
    assert!(probe(strict.settings(&[])).is_ok(), "it refuses empty requests only");
    let refused = probe(closed.settings(&[])).expect_err("a refusal");
    assert!(matches!(refused, SendError::Refused { status: 401, .. }), "{refused}");
    let url = fine.url.clone();
    drop((fine, strict, closed));
    let away = probe(settings(&url, &[])).expect_err("no answer");
    assert!(matches!(away, SendError::Transport(_)) && !away.to_string().contains("127.0.0.1"), "{away}");
}
