//! Accepts connections until it is stopped, then closes all of them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

use crate::limits;

/// How long to wait when the system has no room for another connection.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Listening {
    address: SocketAddr,
    accepting: JoinHandle<()>,
    stop: Arc<Notify>,
}

impl Listening {
    pub(crate) fn start(listener: TcpListener, router: Router) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let stop = Arc::new(Notify::new());
        let accepting = tokio::spawn(accept(listener, router, Arc::clone(&stop)));
        Ok(Self { address, accepting, stop })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// When this returns, no connection is left.
    pub(crate) async fn stop(mut self) {
        self.stop.notify_one();
        if let Err(error) = (&mut self.accepting).await {
            tracing::debug!("the listener ended early: {error}");
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Ending this task drops the set, and with it all connections; being asked to stop also waits for
/// their ends.
async fn accept(listener: TcpListener, router: Router, stop: Arc<Notify>) {
    let room = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let (stream, place) = tokio::select! {
            next = next(&listener, &room) => next,
            () = stop.notified() => break,
        };
        let router = router.clone();
        connections.spawn(async move {
            serve(stream, router).await;
            drop(place);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// The next connection, once there is room for it.
async fn next(listener: &TcpListener, room: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so acquiring always succeeds.
    let place = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(error) => {
                tracing::debug!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// The whole body of a request. None if it is too long or breaks off.
pub(crate) async fn read(body: Body) -> Option<Bytes> {
    // A body whose declared length is too large is rejected unread.
    if body.size_hint().lower() > limits::BODY_BYTES as u64 {
        return None;
    }
    axum::body::to_bytes(body, limits::BODY_BYTES).await.ok()
}

async fn serve(stream: TcpStream, router: Router) {
    // Tokens are small and must not wait for each other.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("cannot set TCP_NODELAY: {error}");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_WAIT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = connection.await {
        tracing::debug!("a connection ended early: {error}");
    }
}
