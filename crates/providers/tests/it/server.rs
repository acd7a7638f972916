//! A server that answers as a test wants, and remembers what it was asked.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use axum::serve::ListenerExt;
use futures_util::{StreamExt, stream};
use llm::{Failure, Message, Provider, ReplyEvent, Sampling, System};
use providers::{Kind, ProviderSettings, Providers};
use serde_json::{Value, json};

/// A request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Starts one that gives every request to `answer`.
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static) -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let remembered = Arc::clone(&seen);
        let handler = move |request: Request| {
            let (answer, remembered) = (answer.clone(), Arc::clone(&remembered));
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1_000_000).await.expect("a body");
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let seen = Seen { method: head.method, uri: head.uri, headers: head.headers, body };
                remembered.lock().expect("the list").push(seen.clone());
                answer(&seen)
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let counted = Arc::clone(&connections);
        let listener = listener.tap_io(move |connection| {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = connection.set_nodelay(true);
        });
        let router = axum::Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, seen, connections }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("the list").clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The settings of a provider of this kind at this server.
    pub(crate) fn settings(&self, kind: Kind) -> ProviderSettings {
        ProviderSettings { base_url: Some(self.url.clone()), ..ProviderSettings::new(kind) }
    }
}

pub(crate) fn status(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    for (name, value) in headers {
        let name = axum::http::HeaderName::try_from(*name).expect("a header");
        response.headers_mut().insert(name, value.parse().expect("a value"));
    }
    response
}

/// A stream of events that is sent at once.
pub(crate) fn events(body: impl Into<Body>) -> Response {
    status(200, &[("content-type", "text/event-stream; charset=utf-8"), ("x-request-id", "req-1")], body)
}

/// A body that comes in these pieces, and then stays open for ever.
pub(crate) fn stalled(pieces: &[&str]) -> Body {
    let pieces: Vec<_> =
        pieces.iter().map(|piece| Ok::<_, Infallible>(Bytes::from((*piece).to_owned()))).collect();
    Body::from_stream(stream::iter(pieces).chain(stream::pending()))
}

/// A body that comes in these pieces, after which the connection is lost.
pub(crate) fn lost(pieces: &[&str]) -> Body {
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::from((*piece).to_owned()))).collect();
    let end = stream::once(async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(std::io::Error::other("lost"))
    });
    Body::from_stream(stream::iter(pieces).chain(end))
}

/// The shortest whole answers, which say `Hi`.
pub(crate) fn hello(kind: Kind) -> &'static str {
    match kind {
        Kind::Anthropic => concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\"}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
        Kind::OpenaiResponses => concat!(
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[]}}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}}\n\n",
        ),
        Kind::OpenaiChat => concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n",
            "data: [DONE]\n\n",
        ),
        Kind::Gemini => concat!(
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\n\n",
            "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1,\"candidatesTokenCount\":2}}\n\n",
        ),
    }
}

pub(crate) fn provider(settings: ProviderSettings, variables: &[(&str, &str)]) -> Arc<dyn Provider> {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings = BTreeMap::from([("mine".to_owned(), settings)]);
    let providers = Providers::build(settings, &|name| variables.get(name).cloned()).expect("providers");
    providers.get("mine").expect("a provider")
}

pub(crate) fn request() -> llm::Request {
    llm::Request {
        model: "model-1".into(),
        system: System { stable: "Be kind.".into(), context: None, reminder: None },
        messages: vec![Message::User { results: vec![], texts: vec!["Hi".into()] }.into()],
        tools: Arc::default(),
        sampling: Sampling::default(),
        output: None,
        may_omit: &[],
    }
}

/// Everything that a call gives.
pub(crate) async fn call(provider: &dyn Provider) -> (Vec<ReplyEvent>, Option<Failure>) {
    let mut stream = provider.stream(request());
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(failure) => {
                assert!(stream.next().await.is_none(), "a failure is the last thing");
                return (events, Some(failure));
            }
        }
    }
    (events, None)
}

/// The events of a call that must succeed.
pub(crate) async fn answer(provider: &dyn Provider) -> Vec<ReplyEvent> {
    let (events, failure) = call(provider).await;
    assert_eq!(failure, None);
    events
}

/// The failure of a call that must not.
pub(crate) async fn fails(provider: &dyn Provider) -> Failure {
    let (events, failure) = call(provider).await;
    failure.unwrap_or_else(|| panic!("no failure after {events:?}"))
}

pub(crate) fn error_body(kind: &str, message: &str) -> String {
    json!({"error": {"type": kind, "message": message}}).to_string()
}
