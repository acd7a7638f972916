//! Posts spans to the collector.

use std::error::Error as _;
use std::fs;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Certificate, Client, StatusCode, Url, redirect};

use crate::limits::{CONNECT_TIMEOUT, MOST_RETRY_PAUSE};
use crate::settings::TraceSettings;
use crate::span::Span;

/// The reason why spans were not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The client cannot be made.
    #[error("{0}")]
    Client(String),
    /// There was no answer. Without the address, which may have a password.
    #[error("no answer: {0}")]
    Transport(String),
    #[error("the answer is {status}")]
    Refused { status: u16, retry_after: Option<Duration> },
}

impl SendError {
    /// True if the same request may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Client(_) => false,
            Self::Transport(_) => true,
            Self::Refused { status, .. } => matches!(status, 429 | 502..=504),
        }
    }
}

/// A connection to the collector.
pub(crate) struct Sender {
    settings: TraceSettings,
    client: Client,
}

impl Sender {
    pub(crate) fn new(settings: TraceSettings) -> Result<Self, SendError> {
        let client = client(&settings)?;
        Ok(Self { settings, client })
    }

    pub(crate) async fn send(&self, spans: &[Span]) -> Result<(), SendError> {
        let TraceSettings { endpoint, headers, encoding, resource, .. } = &self.settings;
        let post = self
            .client
            .post(endpoint.clone())
            .headers(headers.clone())
            .header(CONTENT_TYPE, encoding.content_type())
            .body(encoding.write(resource, spans));
        // The answer's body has nothing that a sender could act on.
        let answer = post.send().await.map_err(|error| SendError::Transport(cause(&error)))?;
        if answer.status().is_success() {
            return Ok(());
        }
        let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let retry_after = seconds.map(|seconds| Duration::from_secs(seconds).min(MOST_RETRY_PAUSE));
        Err(SendError::Refused { status: answer.status().as_u16(), retry_after })
    }
}

/// Sends no spans, to see whether the collector answers.
pub async fn probe(settings: TraceSettings) -> Result<(), SendError> {
    match Sender::new(settings)?.send(&[]).await {
        // It reads requests, and refuses empty ones.
        Err(SendError::Refused { status, .. }) if status == StatusCode::BAD_REQUEST => Ok(()),
        answer => answer,
    }
}

fn client(settings: &TraceSettings) -> Result<Client, SendError> {
    // reqwest panics without a TLS provider. A second call does nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let is_local = is_loopback(&settings.endpoint);
    // Redirects are not followed: they would carry the headers along.
    let mut builder = Client::builder()
        .user_agent(concat!("masque/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(settings.timeout);
    if is_local {
        builder = builder.no_proxy();
    }
    builder = if is_local && settings.endpoint.scheme() == "http" {
        // Reading the system's certificates takes milliseconds.
        builder.tls_certs_only(Vec::new())
    } else {
        builder.tls_certs_merge(authorities(settings)?)
    };
    builder.build().map_err(|error| SendError::Client(cause(&error)))
}

fn authorities(settings: &TraceSettings) -> Result<Vec<Certificate>, SendError> {
    let Some(path) = &settings.ca_file else { return Ok(Vec::new()) };
    let failed = |problem: String| {
        let path = path.display();
        SendError::Client(format!("{path} (OTEL_EXPORTER_OTLP_CERTIFICATE) cannot be used: {problem}"))
    };
    let pem = fs::read(path).map_err(|error| failed(error.to_string()))?;
    Certificate::from_pem_bundle(&pem).map_err(|error| failed(cause(&error)))
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The root cause of an error, without the address.
fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    let mut root = error.source();
    while let Some(below) = root.and_then(|error| error.source()) {
        root = Some(below);
    }
    root.map_or_else(|| "the request cannot be sent".to_owned(), ToString::to_string)
}
