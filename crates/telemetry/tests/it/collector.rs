//! A collector on loopback that keeps what it gets.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::any;
use serde_json::Value;
use telemetry::TraceSettings;

/// No test waits longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Debug, Default)]
struct State {
    received: Vec<Received>,
    /// The statuses of the next answers. Then all are 200.
    answers: VecDeque<u16>,
}

/// Runs until it is dropped.
pub(crate) struct Collector {
    state: Arc<Mutex<State>>,
    pub(crate) url: String,
    _runtime: tokio::runtime::Runtime,
}

impl Collector {
    pub(crate) fn start(answers: &[u16]) -> Self {
        let state = Arc::new(Mutex::new(State { answers: answers.to_vec().into(), ..State::default() }));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let kept = Arc::clone(&state);
        let router =
            Router::new().fallback(any(move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
                let mut state = kept.lock().expect("a lock");
                state.received.push(Received { path: uri.path().to_owned(), headers, body });
                let status = state.answers.pop_front().unwrap_or(200);
                StatusCode::from_u16(status).expect("a status")
            }));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { state, url, _runtime: runtime }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().expect("a lock").received.clone()
    }

    /// Waits until there are as many requests.
    pub(crate) fn wait_for(&self, requests: usize) -> Vec<Received> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let received = self.received();
            if received.len() >= requests {
                return received;
            }
            assert!(Instant::now() < deadline, "{} of {requests} requests came", received.len());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The settings for this collector, with further variables.
    pub(crate) fn settings(&self, variables: &[(&str, &str)]) -> TraceSettings {
        settings(&self.url, variables)
    }

    /// All spans in JSON that were received, by their names.
    pub(crate) fn spans(&self) -> Vec<Value> {
        let bodies = self.received().into_iter().map(|received| received.body);
        bodies.flat_map(|body| spans_of(&serde_json::from_slice(&body).expect("JSON"))).collect()
    }
}

pub(crate) fn settings(endpoint: &str, variables: &[(&str, &str)]) -> TraceSettings {
    let lookup = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    TraceSettings::find(&lookup, Some(endpoint)).expect("valid").expect("an endpoint")
}

fn spans_of(request: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let resources = list(&request["resourceSpans"]).into_iter();
    let scopes = resources.flat_map(|resource| list(&resource["scopeSpans"]));
    scopes.flat_map(|scope| list(&scope["spans"])).collect()
}

/// The value of an attribute of a span, or null.
pub(crate) fn attribute(span: &Value, key: &str) -> Value {
    let attributes = span["attributes"].as_array().cloned().unwrap_or_default();
    let found = attributes.into_iter().find(|attribute| attribute["key"] == key);
    found.map_or(Value::Null, |attribute| attribute["value"].clone())
}
