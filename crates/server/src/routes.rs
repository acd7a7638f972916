//! The routes, all behind the same front.

use std::sync::Arc;

use app::{LintOptions, Runtime};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, Method, Request, Uri};
use hyper::body::Body as HttpBody;
use mcp::{McpOptions, ToolSelection};

use crate::access::Access;
use crate::extract::shown;
use crate::front::{Front, admit};
use crate::health::{healthz, readyz};
use crate::kept_reads::KeptReads;
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

/// The routes of a server, and the answers that need none of them.
#[derive(Debug, Clone)]
pub struct Routes {
    router: Router,
    /// Absent for routes of the caller's own.
    front: Option<Arc<Front>>,
}

impl Routes {
    /// The answer to a request that was answered before, if it is kept and current.
    pub(crate) fn kept_answer<B: HttpBody>(&self, request: &Request<B>) -> Option<Response> {
        self.front.as_ref()?.kept_answer(request)
    }
}

impl From<Router> for Routes {
    fn from(router: Router) -> Self {
        Self { router, front: None }
    }
}

impl From<Routes> for Router {
    fn from(Routes { router, .. }: Routes) -> Self {
        router
    }
}

/// All routes of the server.
pub fn router(runtime: Runtime, options: ServerOptions) -> Routes {
    let ServerOptions { tools, user, lint, access } = options;
    let library = runtime.library().clone();
    let mcp_user = user.as_deref().map(Into::into);
    let metrics = Arc::new(Metrics::default());
    let kept = Arc::new(KeptReads::new());
    let front = Arc::new(Front {
        access,
        metrics: Arc::clone(&metrics),
        library: library.clone(),
        kept: Arc::clone(&kept),
    });
    let mcp_options = McpOptions { tools, user: mcp_user, runtime: Some(runtime.clone()) };
    let router = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .with_state(library.clone())
        .merge(api::routes(runtime, user, lint, metrics, kept))
        .method_not_allowed_fallback(not_allowed)
        .fallback(elsewhere)
        .merge(mcp::http::router(library, mcp_options))
        .layer(from_fn_with_state(Arc::clone(&front), admit));
    Routes { router, front: Some(front) }
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
