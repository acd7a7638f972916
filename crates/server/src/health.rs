//! Whether the server can do its work: it runs, and its database answers.

use app::Library;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde_json::json;
use tokio::time::timeout;

use crate::limits::HEALTH_TIMEOUT;

pub(crate) async fn healthz(State(library): State<Library>) -> Response {
    let reason = match timeout(HEALTH_TIMEOUT, library.ping()).await {
        Ok(Ok(())) => {
            let body = json!({ "name": "masque", "status": "ok", "version": env!("CARGO_PKG_VERSION") });
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
