//! The routes, each behind the same guard.

use app::{LintOptions, Runtime};
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{Method, StatusCode, Uri};
use mcp::http::check_loopback;
use mcp::{McpOptions, ToolSelection};

use crate::api;
use crate::health::healthz;
use crate::problem::Problem;

/// How the routes behave.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The tools of MCP clients whose address does not choose (`/mcp?tools=load`).
    pub tools: ToolSelection,
    /// Whose changes those are that arrive here; on loopback, whoever runs the server.
    pub user: Option<String>,
    /// What lint knows of the surroundings; what it looks at, each request says.
    pub lint: LintOptions,
}

/// Everything that the server answers.
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
    // MCP is guarded by itself, since it refuses in its own form.
    plain.merge(mcp::http::router(library, McpOptions { tools, user: mcp_user }))
}

async fn guard(request: Request, next: Next) -> Response {
    match check_loopback(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(refused) => Problem::new(StatusCode::FORBIDDEN, refused.to_string()).into_response(),
    }
}

async fn not_found(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(80).collect();
    Problem::new(
        StatusCode::NOT_FOUND,
        format!(
            "nothing is at {path}; MCP clients use /mcp, the library is under /api/library/persona and its \
             other kinds, sessions are under /api/sessions, and /healthz says whether the server is well"
        ),
    )
}

async fn not_allowed(method: Method, uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(80).collect();
    let detail = format!("{path} is not there for {method}; the header Allow says what it is there for");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}
