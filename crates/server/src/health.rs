//! Whether the server can do its work: it runs, its database answers, and its files are in order.

use app::{Library, ProblemLevel};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use http::StatusCode;
use persona::Scope;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::limits::HEALTH_TIMEOUT;

/// Put into a request's extensions by whoever runs the server: how far its address reaches.
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
            // The paths of this machine are nobody else's business.
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

/// The files that are served. A mistake in one does not make the server ill: what was last good
/// there is still served.
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
