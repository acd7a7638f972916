//! The routes, all behind the same front.

use std::sync::Arc;

use app::{LintOptions, Runtime};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, Method, Uri};
use mcp::{McpOptions, ToolSelection};

use crate::access::Access;
use crate::extract::shown;
use crate::front::{Front, admit};
use crate::health::{healthz, readyz};
use crate::metrics::Metrics;
use crate::place::Place;
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::{api, login, page};

/// Options of the routes.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The tools of MCP clients whose address does not choose (`/mcp?tools=load`).
    pub tools: ToolSelection,
    /// The author of changes that arrive here: on loopback, the user who runs the server.
    pub user: Option<String>,
    /// The environment that lint knows. Each request names its subject.
    pub lint: LintOptions,
    /// Who may use the server. Open by default.
    pub access: Access,
}

/// All routes of the server.
pub fn router(runtime: Runtime, options: ServerOptions) -> Router {
    let ServerOptions { tools, user, lint, access } = options;
    let library = runtime.library().clone();
    let mcp_user = user.as_deref().map(Into::into);
    let metrics = Arc::new(Metrics::default());
    let front = Arc::new(Front { access, metrics: Arc::clone(&metrics) });
    let mcp_options = McpOptions { tools, user: mcp_user, runtime: Some(runtime.clone()) };
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .with_state(library.clone())
        .merge(api::routes(runtime, user, lint, metrics))
        .method_not_allowed_fallback(not_allowed)
        .fallback(elsewhere)
        .merge(mcp::http::router(library, mcp_options))
        .layer(from_fn_with_state(front, admit))
}

/// A path without a route: a file or a place of the page, or nothing.
async fn elsewhere(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let is_read = method == Method::GET || method == Method::HEAD;
    let is_page = Place::of(uri.path()) == Place::Page && is_read;
    let page = is_page.then(|| page::answer(uri.path(), &headers, login::wants_page(&method, &headers)));
    page.flatten().unwrap_or_else(|| {
        Problem::from(RequestError::UnknownPath { path: shown(uri.path()) }).into_response()
    })
}

async fn not_allowed(method: Method, uri: Uri) -> Problem {
    RequestError::MethodNotAllowed { method: method.to_string(), path: shown(uri.path()) }.into()
}
