//! The health of the server: it runs, its database answers, and its files are in order.

use app::{Library, ProblemLevel};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use http::StatusCode;
use persona::Scope;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::limits::HEALTH_TIMEOUT;

/// How far the server's address reaches. `serve` puts it into every request's extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listening {
    pub(crate) loopback: bool,
}

pub(crate) async fn healthz(
    State(library): State<Library>,
    listening: Option<Extension<Listening>>,
) -> Response {
    let reason = match timeout(HEALTH_TIMEOUT, library.ping()).await {
        Ok(Ok(())) => {
            let mut body = json!({ "name": "masque", "status": "ok", "version": env!("CARGO_PKG_VERSION") });
            // Only clients on this machine see its paths.
            if listening.is_some_and(|Extension(listening)| listening.loopback) {
                body["files"] = files(&library);
            }
            return Json(body).into_response();
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("the database did not answer within {} s", HEALTH_TIMEOUT.as_secs()),
    };
    tracing::warn!(%reason, "the health check failed");
    let body = json!({
        "name": "masque", "status": "unavailable", "version": env!("CARGO_PKG_VERSION"), "reason": reason
    });
    (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
}

/// The files that are served. An error in one does not make the server unhealthy: it keeps serving
/// the last valid version.
fn files(library: &Library) -> Value {
    let problems = if library.has_errors() { library.problems() } else { Vec::new() };
    let open = Scope::ALL.iter().filter_map(|scope| Some((scope, library.path(*scope)?)));
    let described = open.map(|(scope, path)| {
        let wrong =
            problems.iter().any(|problem| problem.level == ProblemLevel::Error && problem.path == path);
        json!({ "scope": scope, "path": path.display().to_string(), "ok": !wrong })
    });
    described.collect()
}
