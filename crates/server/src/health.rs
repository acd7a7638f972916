//! The health of the server: it runs, its database answers, and its files are in order.

use app::{Library, ProblemLevel};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use http::StatusCode;
use mcp::http::Stopping;
use persona::Scope;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::access::Caller;
use crate::limits::HEALTH_TIMEOUT;

/// How far the server's address reaches. `serve` puts it into every request's extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listening {
    pub(crate) loopback: bool,
}

/// `GET /healthz`: the server runs, and its database answers. Strangers learn no more than that.
pub(crate) async fn healthz(
    State(library): State<Library>,
    caller: Option<Extension<Caller>>,
    listening: Option<Extension<Listening>>,
) -> Response {
    let problem = check(&library).await.err();
    let (status, word) = match &problem {
        None => (StatusCode::OK, "ok"),
        Some(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    let mut body = json!({ "name": "masque", "status": word });
    if caller.is_some() {
        body["version"] = env!("CARGO_PKG_VERSION").into();
        match problem {
            Some(reason) => body["reason"] = reason.into(),
            // Only clients on this machine see its paths.
            None if listening.is_some_and(|Extension(listening)| listening.loopback) => {
                body["files"] = files(&library);
            }
            None => {}
        }
    }
    (status, Json(body)).into_response()
}

/// `GET /readyz`: the server takes requests. False when it stops, too.
pub(crate) async fn readyz(
    State(library): State<Library>,
    stopping: Option<Extension<Stopping>>,
) -> Response {
    let is_stopping = stopping.is_some_and(|Extension(Stopping(token))| token.is_cancelled());
    match !is_stopping && check(&library).await.is_ok() {
        true => Json(json!({ "status": "ready" })).into_response(),
        false => unready(),
    }
}

/// The answer of `/readyz` while the server takes no requests.
pub(crate) fn unready() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "unavailable" }))).into_response()
}

/// Fails with a reason if the database does not answer.
async fn check(library: &Library) -> Result<(), String> {
    let reason = match timeout(HEALTH_TIMEOUT, library.ping()).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("the database did not answer within {} s", HEALTH_TIMEOUT.as_secs()),
    };
    tracing::warn!(%reason, "the health check failed");
    Err(reason)
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
