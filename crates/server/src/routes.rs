//! The routes, all behind the same guard.

use app::{AsReport as _, LintOptions, Runtime};
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{Method, Uri};
use mcp::http::check_loopback;
use mcp::{McpOptions, ToolSelection};

use crate::api;
use crate::extract::shown;
use crate::health::healthz;
use crate::problem::Problem;
use crate::request_error::RequestError;

/// Options of the routes.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The tools of MCP clients whose address does not choose (`/mcp?tools=load`).
    pub tools: ToolSelection,
    /// The author of changes that arrive here: on loopback, the user who runs the server.
    pub user: Option<String>,
    /// The environment that lint knows. Each request names its subject.
    pub lint: LintOptions,
}

/// All routes of the server.
pub fn router(runtime: Runtime, options: ServerOptions) -> Router {
    let ServerOptions { tools, user, lint } = options;
    let library = runtime.library().clone();
    let mcp_user = user.as_deref().map(Into::into);
    let plain = Router::new()
        .route("/healthz", get(healthz))
        .with_state(library.clone())
        .merge(api::routes(runtime, user, lint))
        .method_not_allowed_fallback(not_allowed)
        .fallback(not_found)
        .layer(from_fn(guard));
    // MCP has its own guard, since it refuses in its own form.
    plain.merge(mcp::http::router(library, McpOptions { tools, user: mcp_user }))
}

async fn guard(request: Request, next: Next) -> Response {
    match check_loopback(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(refused) => Problem::from(refused.report()).into_response(),
    }
}

async fn not_found(uri: Uri) -> Problem {
    RequestError::UnknownPath { path: shown(uri.path()) }.into()
}

async fn not_allowed(method: Method, uri: Uri) -> Problem {
    RequestError::MethodNotAllowed { method: method.to_string(), path: shown(uri.path()) }.into()
}
