//! Accepts connections, limits them, and shuts down gracefully.

use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use mcp::http::Stopping;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::address::is_loopback;
use crate::health::Listening;
use crate::limits::{ACCEPT_PAUSE, CONNECTIONS, GRACE, HEAD_TIMEOUT};

/// Serves until `shutdown` completes. Then accepts no more connections, ends open streams, lets
/// running requests finish, and returns when they have finished or the time is up.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let stopping = CancellationToken::new();
    let loopback = listener.local_addr().is_ok_and(|address| is_loopback(address.ip()));
    let router = router.layer(Extension(Stopping(stopping.clone()))).layer(Extension(Listening { loopback }));
    let connections = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => accepted?,
        };
        let Some((stream, slot)) = accepted else { continue };
        tokio::spawn(connection(stream, router.clone(), connections.watcher(), slot));
    }
    drop(listener);
    stopping.cancel();
    if timeout(GRACE, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time; their connections are closed");
    }
    Ok(())
}

/// Waits for a free slot, then for a client. `None` if the client left at once or the system has no
/// room for now.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<Option<(TcpStream, OwnedSemaphorePermit)>> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Small answers are written in several pieces. With Nagle's algorithm each waits for the
            // client's acknowledgement of the one before. Fails only for a client that has left.
            let _ = stream.set_nodelay(true);
            Ok(Some((stream, slot)))
        }
        Err(error) => {
            tracing::debug!(%error, "a connection could not be accepted");
            sleep(ACCEPT_PAUSE).await;
            Ok(None)
        }
    }
}

async fn connection(stream: TcpStream, router: Router, watcher: Watcher, slot: OwnedSemaphorePermit) {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection broke off");
    }
    drop(slot);
}
