//! One configured provider.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use futures_util::stream;
use llm::{EventStream, Failure, FailureKind, Model, Request};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::call::{Call, Outgoing};
use crate::client::{Clients, Route, cause};
use crate::failure::ErrorBody;
use crate::omission::{Fallback, Omissions};
use crate::settings::Kind;
use crate::wire::{Decode, Target, unwritable};
use crate::{anthropic, chat, gemini, limits, models, responses, windows};

/// The parts of a provider, parsed from its settings.
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) base: Url,
    /// Those of the settings and the key's; never shown.
    pub(crate) headers: HeaderMap,
    /// Text that must not appear in any message.
    pub(crate) secrets: Vec<SecretString>,
    /// The reason why every call fails, if any.
    pub(crate) unusable: Option<String>,
    pub(crate) route: Route,
    pub(crate) clients: Arc<Clients>,
    pub(crate) idle_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) places: Option<Arc<Semaphore>>,
    /// Calls that wait for a place.
    pub(crate) waiting: AtomicUsize,
    pub(crate) context_tokens: Option<u32>,
    pub(crate) reasoning_items: Option<bool>,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) listed: Vec<String>,
    /// It answered before, so that a connection may have been kept.
    pub(crate) answered: AtomicBool,
    pub(crate) omissions: Omissions,
}

/// A request, and the decoder of its answer.
struct Prepared {
    url: Url,
    body: Vec<u8>,
    decoder: Box<dyn Decode>,
}

/// A provider behind its wire protocol.
pub(crate) struct Adapter {
    parts: Arc<Parts>,
    client: OnceLock<Client>,
    /// Context sizes that the models report.
    windows: RwLock<HashMap<String, u32>>,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("name", &self.parts.name)
            .field("kind", &self.parts.kind)
            .field("base_url", &self.parts.base.as_str())
            .finish_non_exhaustive()
    }
}

impl Parts {
    /// A failure with the provider's name in front, and without any secret.
    pub(crate) fn named(&self, mut failure: Failure) -> Failure {
        for secret in &self.secrets {
            let secret = secret.expose_secret();
            if failure.message.contains(secret) {
                failure.message = failure.message.replace(secret, "[secret]");
            }
        }
        failure.message = format!("{}: {}", self.name, failure.message);
        failure
    }

    pub(crate) fn transport(&self, message: impl Into<String>) -> Failure {
        self.named(Failure::new(FailureKind::Transport, message))
    }

    /// The failure of a request without an answer.
    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let origin = self.base.origin().ascii_serialization();
        if error.is_timeout() && error.is_connect() {
            let seconds = self.route.connect_timeout.as_secs();
            return self.transport(format!("no connection to {origin} within {seconds} s"));
        }
        self.transport(format!("cannot reach {origin}: {}", cause(error)))
    }

    /// The failure of a refused request.
    pub(crate) async fn refusal(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let read = read_at_most(&mut response, limits::ERROR_BYTES);
        let (body, _) = timeout(self.idle_timeout, read).await.unwrap_or_default();
        let said = ErrorBody::read(&String::from_utf8_lossy(&body));
        self.named(said.with_status(status, &headers, SystemTime::now()))
    }

    /// An address below the base, with the protocol's version unless the base has it.
    fn endpoint(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        let version = match self.kind {
            Kind::Anthropic if !url.path().trim_end_matches('/').ends_with("/v1") => Some("v1"),
            Kind::OpenaiResponses | Kind::OpenaiChat if url.path() == "/" => Some("v1"),
            Kind::Gemini if url.path() == "/" => Some("v1beta"),
            _ => None,
        };
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(version).extend(path);
        }
        url
    }

    fn is_official(&self) -> bool {
        let official = self.kind.official_url().parse::<Url>();
        official.is_ok_and(|official| official.host_str() == self.base.host_str())
    }

    fn usable(&self) -> Result<(), Failure> {
        match &self.unusable {
            None => Ok(()),
            Some(problem) => Err(self.named(Failure::new(FailureKind::Unauthorized, problem.clone()))),
        }
    }

    fn prepare(&self, request: &Request) -> Result<Prepared, Failure> {
        let (name, model) = (self.name.as_str(), request.model.as_str());
        let target = Target {
            provider: name,
            official: self.is_official(),
            reasoning_items: self.reasoning_items,
            max_output_tokens: self.max_output_tokens,
        };
        let (url, body, decoder): (Url, _, Box<dyn Decode>) = match self.kind {
            Kind::Anthropic => (
                self.endpoint(&["messages"]),
                body(&anthropic::request::Body::new(request, target)?),
                Box::new(anthropic::stream::Decoder::new(name)),
            ),
            Kind::OpenaiResponses => (
                self.endpoint(&["responses"]),
                body(&responses::request::Body::new(request, target)?),
                Box::new(responses::stream::Decoder::new(name)),
            ),
            Kind::OpenaiChat => (
                self.endpoint(&["chat", "completions"]),
                body(&chat::request::Body::new(request, target)?),
                Box::new(chat::stream::Decoder::new(name, request)),
            ),
            Kind::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                let mut url = self.endpoint(&["models", &format!("{model}:streamGenerateContent")]);
                url.set_query(Some("alt=sse"));
                (
                    url,
                    body(&gemini::request::Body::new(request, target)?),
                    Box::new(gemini::stream::Decoder::new(name, request)),
                )
            }
        };
        Ok(Prepared { url, body: body?, decoder })
    }

    /// A request, ready to be sent, and the decoder of its answer.
    pub(crate) fn outgoing(
        &self,
        client: &Client,
        request: &Request,
    ) -> Result<(Outgoing, Box<dyn Decode>), Failure> {
        let Prepared { url, body, decoder } = self.prepare(request).map_err(|failure| self.named(failure))?;
        let mut headers = HeaderMap::with_capacity(self.headers.len() + 2);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.extend(self.headers.clone());
        let post = client.post(url).headers(headers).body(body);
        Ok((Outgoing::new(post), decoder))
    }
}

fn body(body: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(body).map_err(|error| unwritable(&error))
}

/// The body up to the limit, and true if it was longer.
async fn read_at_most(response: &mut Response, limit: usize) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return (body, true);
        }
    }
    (body, false)
}

impl Adapter {
    pub(crate) fn new(parts: Parts) -> Self {
        Self { parts: Arc::new(parts), client: OnceLock::new(), windows: RwLock::default() }
    }

    /// The calls that wait for a place. `None` without a limit.
    pub(crate) fn waiting(&self) -> Option<usize> {
        self.parts.places.as_ref().map(|_| self.parts.waiting.load(Ordering::Relaxed))
    }

    fn client(&self) -> Result<&Client, Failure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // An invalid setting is not a network fault: a retry would not help.
        let unusable = |problem| self.parts.named(Failure::new(FailureKind::Rejected, problem));
        let made = self.parts.clients.get(&self.parts.route).map_err(unusable)?;
        Ok(self.client.get_or_init(|| made))
    }

    fn call(&self, mut request: Request) -> Result<Call, Failure> {
        let parts = &self.parts;
        parts.usable()?;
        parts.omissions.apply(&mut request);
        let client = self.client()?;
        let (post, decoder) = parts.outgoing(client, &request)?;
        let fallback = Fallback::of(request, client);
        Ok(Call::new(Arc::clone(parts), post, decoder, fallback))
    }

    async fn list(&self) -> Result<Vec<Model>, Failure> {
        let parts = &self.parts;
        parts.usable()?;
        let mut url = parts.endpoint(&["models"]);
        match parts.kind {
            Kind::Anthropic => url.set_query(Some(&format!("limit={}", limits::MODELS))),
            Kind::Gemini => url.set_query(Some(&format!("pageSize={}", limits::MODELS))),
            Kind::OpenaiResponses | Kind::OpenaiChat => {}
        }
        let get = self.client()?.get(url).headers(parts.headers.clone());
        let limit = parts.timeout.min(limits::MODELS_TIMEOUT);
        let answered = timeout(limit, async {
            let mut response = get.send().await.map_err(|error| parts.unreachable(&error))?;
            if !response.status().is_success() {
                return Err(parts.refusal(response).await);
            }
            Ok(read_at_most(&mut response, limits::MODELS_BYTES).await)
        });
        let seconds = limit.as_secs();
        let (body, longer) = answered
            .await
            .map_err(|_| parts.transport(format!("no list of models within {seconds} s")))??;
        if longer {
            return Err(parts.transport("its list of models is too long"));
        }
        let found = models::read(parts.kind, &body).map_err(|problem| parts.transport(problem))?;
        let mut windows = self.windows.write().unwrap_or_else(PoisonError::into_inner);
        windows.extend(found.iter().filter_map(|model| Some((model.id.clone(), model.context_tokens?))));
        Ok(found)
    }
}

impl llm::Provider for Adapter {
    fn name(&self) -> &str {
        &self.parts.name
    }

    fn stream(&self, request: Request) -> EventStream {
        match self.call(request) {
            // Boxed: a stream in its own place is moved with every event.
            Ok(call) => Box::pin(stream::unfold(Box::new(call), |mut call| async move {
                let event = call.next().await?;
                Some((event, call))
            })),
            Err(failure) => Box::pin(stream::iter([Err(failure)])),
        }
    }

    fn models(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, Failure>> + Send + '_>> {
        Box::pin(async move {
            let listed = &self.parts.listed;
            let found = match self.list().await {
                // Servers without a list of models have them in the settings.
                Err(failure)
                    if !listed.is_empty()
                        && failure.status.is_some()
                        && matches!(failure.kind, FailureKind::Rejected | FailureKind::UnknownModel) =>
                {
                    Vec::new()
                }
                other => other?,
            };
            let mut models = if listed.is_empty() { found } else { models::only(listed, found) };
            for model in &mut models {
                model.context_tokens = self.context_tokens(&model.id);
            }
            Ok(models)
        })
    }

    fn context_tokens(&self, model: &str) -> Option<u32> {
        let told = || self.windows.read().unwrap_or_else(PoisonError::into_inner).get(model).copied();
        self.parts.context_tokens.or_else(told).or_else(|| windows::by_name(model))
    }
}
