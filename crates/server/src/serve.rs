//! Accepts connections, limits them, and shuts down gracefully.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use http::header::CONNECTION;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use mcp::http::Stopping;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::address::is_loopback;
use crate::capacity::Capacity;
use crate::health::Listening;
use crate::limits::{
    ACCEPT_PAUSE, CONNECTION_RETRY_AFTER_S, GRACE, HEAD_TIMEOUT, LINGER_TIMEOUT, REFUSAL_TIMEOUT, REFUSALS,
};
use crate::lingering::{Linger, Lingering};
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::secure_headers;
use crate::unread::finish_body;

/// Serves until `shutdown` completes. Then accepts no more connections, lets running requests and the runs
/// behind open streams finish, and returns when they have finished or the time is up.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let stopping = CancellationToken::new();
    let connections = GracefulShutdown::new();
    let most = Capacity::of_process().connections;
    let slots = Arc::new(Semaphore::new(most));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let loopback = listener.local_addr().is_ok_and(|address| is_loopback(address.ip()));
    let router = router
        .layer(from_fn(finish_body))
        .layer(Extension(Stopping(stopping.clone())))
        .layer(Extension(OpenConnections { most, slots: Arc::clone(&slots) }))
        .layer(Extension(Listening { loopback }));
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots, &refusals) => accepted?,
        };
        match accepted {
            Some(Accepted::Served(stream, slot)) => {
                tokio::spawn(connection(stream, router.clone(), connections.watcher(), slot));
            }
            Some(Accepted::Refused(stream, slot)) => {
                tokio::spawn(refuse(stream, most, slot));
            }
            None => {}
        }
    }
    drop(listener);
    stopping.cancel();
    if timeout(GRACE, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time; their connections are closed");
    }
    Ok(())
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
    let stream = match listener.accept().await {
        Ok((stream, _)) => stream,
        Err(error) => {
            tracing::debug!(%error, "a connection could not be accepted");
            sleep(ACCEPT_PAUSE).await;
            return Ok(None);
        }
    };
    // Small answers are written in several pieces. With Nagle's algorithm each waits for the
    // client's acknowledgement of the one before. Fails only for a client that has left.
    let _ = stream.set_nodelay(true);
    Ok(Some(match Arc::clone(slots).try_acquire_owned() {
        Ok(slot) => Accepted::Served(stream, slot),
        Err(_) => Accepted::Refused(stream, refusal),
    }))
}

async fn connection(stream: TcpStream, router: Router, watcher: Watcher, slot: OwnedSemaphorePermit) {
    let linger = Linger::default();
    let stream = Lingering::new(stream, linger.clone());
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(linger.clone());
        routes.call(request)
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

/// Answers one request of a connection beyond the limit, then closes it.
async fn refuse(stream: TcpStream, most: usize, slot: OwnedSemaphorePermit) {
    let linger = Linger::default();
    linger.request();
    let service =
        service_fn(move |_: Request<Incoming>| async move { Ok::<_, Infallible>(overloaded(most)) });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .header_read_timeout(REFUSAL_TIMEOUT)
        .serve_connection(TokioIo::new(Lingering::new(stream, linger)), service);
    if let Ok(Err(error)) = timeout(REFUSAL_TIMEOUT + LINGER_TIMEOUT, connection).await {
        tracing::debug!(%error, "a refused connection broke off");
    }
    drop(slot);
}

fn overloaded(most: usize) -> Response {
    let problem = Problem::from(RequestError::TooManyConnections { most });
    let mut response = problem.retry_after(CONNECTION_RETRY_AFTER_S).into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    secure_headers::insert(response.headers_mut());
    response
}
