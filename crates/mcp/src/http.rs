//! The protocol over HTTP: one endpoint for both eras, and the checks before it.
//!
//! A request that carries its own protocol version is served by itself; an `initialize` starts a
//! session. Everything that is refused here is refused as a JSON-RPC error.

use std::str::FromStr as _;
use std::sync::Arc;

use app::Library;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use operations::ToolSelection;
use persona::{AsReport as _, Code, Report, Subject};
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::handler::{Masque, McpOptions};
use crate::limits::{BODY_BYTES, BODY_TIMEOUT, LAST_WORDS};

mod body;
pub use body::{BodyError, read_body};

mod status;
pub use status::status_of;

mod guard;
pub use guard::{NotLoopback, check_loopback};

mod refusal;
use refusal::Refusal;

mod sessions;
use sessions::BoundedSessions;

/// Cancelled when the server stops, so that open streams end regularly. The server puts it into every
/// request's extensions.
#[derive(Debug, Clone)]
pub struct Stopping(pub CancellationToken);

/// The endpoint `/mcp` behind its guard, which lets only loopback hosts and origins through.
pub fn router(library: Library, options: McpOptions) -> Router {
    mount(move || Masque::new(library.clone(), &options))
}

/// The same endpoint with a handler of the caller's. `handler` runs once per session or stateless request.
pub fn mount<H: ServerHandler>(handler: impl Fn() -> H + Send + Sync + 'static) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        // The shared guard has checked it already.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(BODY_BYTES);
    let sessions = Arc::new(BoundedSessions::new());
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, config);
    Router::new().route("/mcp", any(endpoint::<H>)).with_state(Arc::new(service))
}

type Service<H> = Arc<StreamableHttpService<H, BoundedSessions>>;

async fn endpoint<H: ServerHandler>(State(service): State<Service<H>>, request: Request) -> Response {
    answer(&service, request).await.unwrap_or_else(Refusal::into_response)
}

async fn answer<H: ServerHandler>(service: &Service<H>, request: Request) -> Result<Response, Refusal> {
    check_loopback(request.headers(), request.uri()).map_err(|refused| Refusal::from(refused.report()))?;
    let selection = chosen_tools(request.uri())?;
    let (mut parts, body) = request.into_parts();
    let body = if parts.method == Method::POST {
        let read = read_body(&parts.headers, body, BODY_BYTES, BODY_TIMEOUT).await;
        let bytes = read.map_err(|error| Refusal::from(error.report()))?;
        // All spellings were checked above. The library knows only one.
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        accept_both(&mut parts.headers);
        bytes
    } else {
        Bytes::new()
    };
    if let Some(selection) = selection {
        parts.extensions.insert(selection);
    }
    let stopping = parts.extensions.get::<Stopping>().cloned();
    let closes = parts.method == Method::DELETE;
    let response = service.handle(Request::from_parts(parts, Body::from(body.clone()))).await;
    let mut response = response.map(Body::new);
    if closes && response.status() == StatusCode::ACCEPTED {
        // The session is closed by now; clients take "accepted" for a failure to close it.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    if response.status().is_client_error() || response.status().is_server_error() {
        return refusal::in_json(response, &body).await;
    }
    Ok(match stopping {
        Some(Stopping(token)) if is_stream(&response) => ending_with(response, token),
        _ => response,
    })
}

/// The tools that the address chooses: `/mcp?tools=load`.
fn chosen_tools(uri: &Uri) -> Result<Option<ToolSelection>, Refusal> {
    let Some(query) = uri.query() else { return Ok(None) };
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let Some((_, value)) = pairs.find(|(name, _)| *name == "tools") else { return Ok(None) };
    // Names of tools need no escapes, but clients escape the comma between them, and "+" is a space.
    let value = value.replace("%2C", ",").replace("%2c", ",").replace("%20", "").replace('+', "");
    match ToolSelection::from_str(&value) {
        Ok(selection) => Ok(Some(selection)),
        Err(error) => {
            let report = Report::new(Code::InvalidValue, error.to_string()).about(Subject::field("tools"));
            Err(report.into())
        }
    }
}

/// Refuses a request before it reaches the endpoint, in the protocol's form.
pub fn refuse(report: Report) -> Response {
    Refusal::from(report).into_response()
}

/// The protocol requires clients to accept both forms of an answer. `*/*` accepts both.
fn accept_both(headers: &mut HeaderMap) {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("*/*")) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

fn is_stream(response: &Response) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// Ends a stream soon after the server begins to stop.
fn ending_with(response: Response, stopping: CancellationToken) -> Response {
    let ended = async move {
        stopping.cancelled().await;
        sleep(LAST_WORDS).await;
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
}

#[cfg(test)]
mod tests;
