//! The way into the server: every request passes here first, and every answer last.
//!
//! Gives a request its id, checks where it comes from and who sends it, counts it, and puts the headers on
//! its answer. Behind this, no handler sees a token.

use std::sync::Arc;
use std::time::{Duration, Instant};

use app::{AsReport as _, Library, Report};
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{AUTHORIZATION, COOKIE, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, StatusCode, Uri};
use hyper::body::Body as HttpBody;
use mcp::http::check_loopback;
use tracing::{Instrument as _, Level, Span};

use crate::access::Access;
use crate::conditional::Conditions;
use crate::extract::shown;
use crate::kept_reads::KeptReads;
use crate::metrics::Metrics;
use crate::place::Place;
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::{login, secure_headers, spans};

/// Checks requests.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) access: Access,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) library: Library,
    pub(crate) kept: Arc<KeptReads>,
}

/// The operation that answered, for metrics and logs. Handlers put it into the extensions of a response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered(pub(crate) &'static str);

/// Lets a request in or refuses it.
pub(crate) async fn admit(State(front): State<Arc<Front>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = RequestId::of(request.headers());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let trace = spans::of_request(&request, route, &id);
    // An error of any crate carries the id, so the span has the level of errors.
    if !trace.is_disabled() {
        // For what is answered in another task.
        request.extensions_mut().insert(trace.clone());
    }
    let span = span(&trace, &id);
    let mut response = front.answer(request, next).instrument(span.clone()).await;
    secure_headers::insert(response.headers_mut());
    response.headers_mut().insert(X_REQUEST_ID, id.value());
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"masque\""));
    }
    let (operation, status) = (operation_of(&response, uri.path()), response.status());
    let took = started.elapsed();
    front.metrics.count(operation, status, took);
    spans::end(&trace, operation, status);
    span.in_scope(|| log(&method, &uri, operation, status, took));
    response
}

/// The id of a request, in every line that is logged meanwhile.
fn span(trace: &Span, id: &RequestId) -> Span {
    tracing::error_span!(parent: trace, "request", %id)
}

fn log(method: &Method, uri: &Uri, operation: &str, status: StatusCode, took: Duration) {
    let ms = took.as_micros() as f64 / 1_000.0;
    // The query may have a token.
    tracing::info!(%method, path = %shown(uri.path()), operation, status = status.as_u16(), ms, "answered");
}

impl Front {
    /// The kept answer to a read, with the checks and the records of any other request. `None` if it takes
    /// the way through the routes, which also refuses what is to be refused.
    pub(crate) fn kept_answer<B: HttpBody>(&self, request: &http::Request<B>) -> Option<Response> {
        let started = Instant::now();
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        if method != Method::GET || !request.body().is_end_stream() || Place::of(uri.path()) != Place::Api {
            return None;
        }
        check_loopback(headers, uri).ok()?;
        self.access.caller(method, headers).ok()?;
        let conditions = Conditions::read(headers).ok()?;
        // The answer would name them.
        if self.library.has_errors() {
            return None;
        }
        let kept = self.kept.find(uri, &self.library)?;
        let id = RequestId::of(headers);
        let trace = spans::of_request(request, Some(&kept.endpoint.path), &id);
        let mut response = kept.response(&conditions);
        response.headers_mut().insert(X_REQUEST_ID, id.value());
        let (operation, status) = (kept.endpoint.operation.name, response.status());
        let took = started.elapsed();
        self.metrics.count(operation, status, took);
        spans::end(&trace, operation, status);
        // Nothing else is logged meanwhile.
        if tracing::enabled!(Level::INFO) {
            span(&trace, &id).in_scope(|| log(method, uri, operation, status, took));
        }
        Some(response)
    }

    async fn answer(&self, request: Request, next: Next) -> Response {
        let (mut parts, body) = request.into_parts();
        let place = Place::of(parts.uri.path());
        if let Err(refused) = check_loopback(&parts.headers, &parts.uri) {
            return refusal(place, &refused.report());
        }
        let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
        if place == Place::Page
            && is_read
            && let Some(sent) = login::token_in(&parts.uri)
        {
            return login::redirect(&self.access, &parts.uri, sent);
        }
        let caller = self.access.caller(&parts.method, &parts.headers);
        // Whatever comes behind this may log its headers.
        parts.headers.remove(AUTHORIZATION);
        parts.headers.remove(COOKIE);
        match (caller, place) {
            (Ok(_), Place::Api | Place::Mcp | Place::Metrics) if login::token_in(&parts.uri).is_some() => {
                return refusal(place, &RequestError::TokenInAddress.report());
            }
            (Ok(caller), _) => {
                parts.extensions.insert(caller);
            }
            (Err(_), Place::Health | Place::WellKnown) => {}
            (Err(_), Place::Page) if login::wants_page(&parts.method, &parts.headers) => {
                return login::page(&parts.uri);
            }
            (Err(error), place) => return refusal(place, &error.report()),
        }
        next.run(Request::from_parts(parts, body)).await
    }
}

/// A refusal in the form of a place.
fn refusal(place: Place, report: &Report) -> Response {
    match place {
        Place::Mcp => mcp::http::refuse(report.clone()),
        _ => Problem::from(report.clone()).into_response(),
    }
}

/// The operation behind an answer, or the part of the server. The number of names is bounded, whatever
/// paths clients try.
fn operation_of(response: &Response, path: &str) -> &'static str {
    match (response.extensions().get::<Answered>(), Place::of(path)) {
        (Some(Answered(operation)), _) => operation,
        (None, Place::Mcp) => "mcp",
        (None, Place::Health) => "health",
        (None, Place::Metrics) => "metrics",
        (None, Place::Page) => "page",
        (None, Place::Api | Place::WellKnown) => "none",
    }
}
