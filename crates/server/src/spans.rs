//! The spans of requests, as OpenTelemetry's conventions for HTTP servers name them.

use http::{HeaderName, Method, Request, StatusCode};
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::extract::shown;
use crate::place::Place;
use crate::request_id::RequestId;

/// The place of the caller in its trace.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The span of a request for a route, until its answer or a stream begins. What the request starts belongs to it,
/// also later. Health and metrics have none: they are asked for every few seconds.
pub(crate) fn of_request<B>(request: &Request<B>, route: Option<&str>, id: &RequestId) -> Span {
    let path = request.uri().path();
    if matches!(Place::of(path), Place::Health | Place::Metrics) {
        return Span::none();
    }
    let method = known_method(request.method());
    let parent = request.headers().get(TRACEPARENT).and_then(|value| value.to_str().ok());
    info_span!(
        target: "traces",
        "request",
        otel.name = match route {
            Some(route) => format!("{method} {route}"),
            None => method.to_owned(),
        },
        otel.kind = "server",
        otel.parent = parent,
        otel.status_code = Empty,
        otel.end = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        url.scheme = "http",
        // The query may have a token.
        url.path = %shown(path),
        masque.request_id = %id,
        masque.operation = Empty,
        "error.type" = Empty,
    )
}

/// Records the answer, and ends the span: the work that the request started may go on.
pub(crate) fn end(span: &Span, operation: &str, status: StatusCode) {
    if span.is_disabled() {
        return;
    }
    span.record("masque.operation", operation);
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", status.as_str());
    }
    span.record("otel.end", true);
}

/// The method, or a word for all that HTTP does not define.
fn known_method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "TRACE" => "TRACE",
        "CONNECT" => "CONNECT",
        _ => "_OTHER",
    }
}
