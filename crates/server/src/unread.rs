//! Bodies that an early refusal leaves unread.
//!
//! The rest of a short body is read, so that the connection serves the next request. After a long one,
//! the answer says `Connection: close`, and the connection lingers.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONNECTION, EXPECT};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::time::timeout;

use crate::limits::{DRAIN_BYTES, DRAIN_TIMEOUT};
use crate::lingering::Linger;

/// Finishes a request's body after its answer is known.
pub(crate) async fn finish_body(linger: &Linger, request: Request, router: Router) -> Response {
    let routes = TowerToHyperService::new(router);
    if request.body().is_end_stream() {
        return answered(routes.call(request).await);
    }
    // A client that waits for "100 Continue" has sent nothing yet, and need not.
    let waits = request.headers().contains_key(EXPECT);
    let (parts, body) = request.into_parts();
    let body = SharedBody::new(body);
    let mut response = answered(routes.call(Request::from_parts(parts, Body::new(body.clone()))).await);
    if !body.is_finished() && (waits || !body.drain().await) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        linger.request();
    }
    response
}

fn answered(Ok(response): Result<Response, Infallible>) -> Response {
    response
}

/// A body that outlives the handler which reads it.
#[derive(Debug, Clone)]
struct SharedBody(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    body: Body,
    /// True once the body ended or failed.
    is_finished: bool,
}

impl SharedBody {
    fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(State { body, is_finished: false })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_finished(&self) -> bool {
        let state = self.lock();
        state.is_finished || state.body.is_end_stream()
    }

    /// Discards the rest. Returns false if it is too long or too slow.
    async fn drain(mut self) -> bool {
        let is_short = self.size_hint().upper().is_some_and(|rest| rest <= DRAIN_BYTES);
        let rest = async { while let Some(Ok(_)) = self.frame().await {} };
        is_short && timeout(DRAIN_TIMEOUT, rest).await.is_ok()
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut state = self.lock();
        let polled = Pin::new(&mut state.body).poll_frame(context);
        state.is_finished |= matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.lock().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().body.size_hint()
    }
}
