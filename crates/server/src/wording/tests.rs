use app::{AsReport as _, Report};
use axum::response::IntoResponse as _;

use crate::problem::Problem;
use crate::request_error::RequestError;

/// Status, code and detail of the problem document of a report.
async fn line(report: Report) -> String {
    let response = Problem::from(report).into_response();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    let document: serde_json::Value = serde_json::from_slice(&body).expect("a problem document");
    let text = |field: &str| document[field].as_str().unwrap_or_default().to_owned();
    format!("{status} {}: {}\n", text("code"), text("detail"))
}

#[tokio::test]
async fn problem_documents() {
    let mut lines = String::new();
    for report in testkit::reports() {
        lines.push_str(&line(report).await);
    }
    insta::assert_snapshot!(lines);
}

#[tokio::test]
async fn remedies() {
    let mut lines = String::new();
    for (_, report) in testkit::remedies() {
        lines.push_str(&line(report).await);
    }
    insta::assert_snapshot!(lines);
}

/// The server's own refusals.
#[tokio::test]
async fn refusals() {
    let text = |text: &str| text.to_owned();
    let errors = [
        RequestError::UnknownPath { path: text("/nowhere") },
        RequestError::MethodNotAllowed { method: text("PUT"), path: text("/api/sessions") },
        RequestError::Address(text("invalid digit")),
        RequestError::BodyNotAllowed,
        RequestError::QueryNotAllowed { query: text("scope=shared") },
        RequestError::Contradiction { field: text("kind"), value: text("part"), given: text("\"skill\"") },
        RequestError::NamedTwice { name: text("force") },
        RequestError::InvalidValue { name: text("limit"), given: text("many"), expected: "a whole number" },
        RequestError::ObjectInQuery {
            name: text("overrides"),
            request: Some(text("POST /api/personas/x/load")),
        },
        RequestError::ObjectInQuery { name: text("overrides"), request: None },
        RequestError::EmptyBody,
        RequestError::InvalidJson(text("expected value at line 1 column 1")),
        RequestError::NotAnObject,
        RequestError::InvalidTag { given: text("3") },
        RequestError::NoCondition,
        RequestError::ContradictingConditions,
        RequestError::TooManyStreams { what: "events", most: 64 },
        RequestError::TooManyConnections { most: 1_024 },
        RequestError::Stopping,
        RequestError::TimedOut { limit: std::time::Duration::from_secs(60), writes: true },
        RequestError::InvalidKey { most: 255 },
        RequestError::KeyReused,
        RequestError::UnderWay,
        RequestError::CutOff,
        RequestError::NotKept,
        RequestError::Crashed,
        RequestError::TokenInAddress,
    ];
    let mut lines = String::new();
    for error in errors {
        lines.push_str(&line(error.report()).await);
    }
    insta::assert_snapshot!(lines);
}
