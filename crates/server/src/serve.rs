//! Accepts connections, limits them, and shuts down gracefully.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures::future::{Either, ready};
use http::header::{CONNECTION, RETRY_AFTER};
use http::{Extensions, HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use mcp::http::Stopping;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::address::is_loopback;
use crate::capacity::Capacity;
use crate::health::{Listening, unready};
use crate::limits::{
    ACCEPT_PAUSE, CONNECTION_RETRY_AFTER_S, GRACE, HEAD_TIMEOUT, LAST_REFUSALS, LINGER_TIMEOUT,
    REFUSAL_TIMEOUT, REFUSALS, STOPPING_RETRY_AFTER_S,
};
use crate::lingering::{Linger, Lingering};
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::routes::Routes;
use crate::secure_headers;
use crate::unread::finish_body;

/// Serves until `shutdown` completes. Then lets running requests and the runs behind open streams finish,
/// refuses new ones, and returns when those have finished or the time is up. The port is closed only then:
/// until the last stream ends, new clients read why they are refused.
pub async fn serve(
    listener: TcpListener,
    routes: impl Into<Routes>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let routes = routes.into();
    let stopping = CancellationToken::new();
    let connections = GracefulShutdown::new();
    let most = Capacity::of_process().connections;
    let slots = Arc::new(Semaphore::new(most));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let loopback = listener.local_addr().is_ok_and(|address| is_loopback(address.ip()));
    let facts = Facts {
        stopping: Stopping(stopping.clone()),
        open: OpenConnections { most, slots: Arc::clone(&slots) },
        listening: Listening { loopback },
    };
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots, &refusals) => accepted?,
        };
        match accepted {
            Some(Accepted::Served(stream, slot)) => {
                tokio::spawn(connection(stream, routes.clone(), facts.clone(), connections.watcher(), slot));
            }
            Some(Accepted::Refused(stream, slot)) => {
                tokio::spawn(refuse(stream, move |_| overloaded(most), slot));
            }
            None => {}
        }
    }
    stopping.cancel();
    tokio::select! {
        drained = timeout(GRACE, connections.shutdown()) => if drained.is_err() {
            tracing::warn!("some requests did not finish in time; their connections are closed");
        },
        failed = refuse_all(&listener, &refusals) => failed?,
    }
    drop(listener);
    let places = u32::try_from(REFUSALS).unwrap_or(u32::MAX);
    // A client that is slow to read does not hold up the end.
    let _ = timeout(LAST_REFUSALS, refusals.acquire_many(places)).await;
    Ok(())
}

/// Refuses every new client. Ends only if the listener fails.
async fn refuse_all(listener: &TcpListener, refusals: &Arc<Semaphore>) -> io::Result<()> {
    loop {
        let place = Arc::clone(refusals).acquire_owned().await.map_err(io::Error::other)?;
        if let Some(stream) = accept_stream(listener).await {
            tokio::spawn(refuse(stream, stopped, place));
        }
    }
}

/// What handlers find in the extensions of a request.
#[derive(Debug, Clone)]
struct Facts {
    stopping: Stopping,
    open: OpenConnections,
    listening: Listening,
}

impl Facts {
    fn insert(self, extensions: &mut Extensions) {
        extensions.insert(self.stopping);
        extensions.insert(self.open);
        extensions.insert(self.listening);
    }
}

/// The connections of a server. `serve` puts them into every request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct OpenConnections {
    most: usize,
    slots: Arc<Semaphore>,
}

impl OpenConnections {
    pub(crate) fn count(&self) -> usize {
        self.most - self.slots.available_permits()
    }
}

/// A new connection with its place.
enum Accepted {
    Served(TcpStream, OwnedSemaphorePermit),
    Refused(TcpStream, OwnedSemaphorePermit),
}

/// Waits for a place among the refusals, then for a client, which takes a place among the connections if
/// one is free. `None` if the client left at once or the system has no room for now.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    refusals: &Arc<Semaphore>,
) -> io::Result<Option<Accepted>> {
    let refusal = Arc::clone(refusals).acquire_owned().await.map_err(io::Error::other)?;
    let Some(stream) = accept_stream(listener).await else { return Ok(None) };
    Ok(Some(match Arc::clone(slots).try_acquire_owned() {
        Ok(slot) => Accepted::Served(stream, slot),
        Err(_) => Accepted::Refused(stream, refusal),
    }))
}

/// The next client. `None` if it left at once or the system has no room for now.
async fn accept_stream(listener: &TcpListener) -> Option<TcpStream> {
    match listener.accept().await {
        Ok((stream, _)) => {
            // Small answers are written in several pieces. With Nagle's algorithm each waits for the
            // client's acknowledgement of the one before. Fails only for a client that has left.
            let _ = stream.set_nodelay(true);
            Some(stream)
        }
        Err(error) => {
            tracing::debug!(%error, "a connection could not be accepted");
            sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

async fn connection(
    stream: TcpStream,
    routes: Routes,
    facts: Facts,
    watcher: Watcher,
    slot: OwnedSemaphorePermit,
) {
    let linger = Linger::default();
    let stream = Lingering::new(stream, linger.clone());
    // Most reads are answered here, before anything is allocated for the routes.
    let service = service_fn(move |request: Request<Incoming>| match routes.kept_answer(&request) {
        Some(response) => Either::Left(ready(Ok::<_, Infallible>(response))),
        None => {
            let mut request = request.map(Body::new);
            facts.clone().insert(request.extensions_mut());
            let router = Router::from(routes.clone());
            let linger = linger.clone();
            Either::Right(async move { Ok(finish_body(&linger, request, router).await) })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection broke off");
    }
    drop(slot);
}

/// Answers the first request of a connection with a refusal, then closes it.
async fn refuse(
    stream: TcpStream,
    answer: impl Fn(&Request<Incoming>) -> Response,
    place: OwnedSemaphorePermit,
) {
    let linger = Linger::default();
    linger.request();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut response = answer(&request);
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        secure_headers::insert(response.headers_mut());
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .header_read_timeout(REFUSAL_TIMEOUT)
        .serve_connection(TokioIo::new(Lingering::new(stream, linger)), service);
    if let Ok(Err(error)) = timeout(REFUSAL_TIMEOUT + LINGER_TIMEOUT, connection).await {
        tracing::debug!(%error, "a refused connection broke off");
    }
    drop(place);
}

/// The refusal of a connection beyond the limit.
fn overloaded(most: usize) -> Response {
    let problem = Problem::from(RequestError::TooManyConnections { most });
    problem.retry_after(CONNECTION_RETRY_AFTER_S).into_response()
}

/// The refusal of a server that stops. `/readyz` keeps its form.
fn stopped(request: &Request<Incoming>) -> Response {
    if request.uri().path() != "/readyz" {
        let problem = Problem::from(RequestError::Stopping);
        return problem.retry_after(STOPPING_RETRY_AFTER_S).into_response();
    }
    let mut response = unready();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(STOPPING_RETRY_AFTER_S));
    response
}
