//! Probes an address for a Masque server, over plain HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A local server answers within this time.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum size of a response.
const MOST_BYTES: u64 = 8 * 1024;

/// The listener at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listener {
    None,
    Masque,
    /// Another program, or an unhealthy Masque.
    Other,
}

pub(super) async fn probe(address: SocketAddr) -> Listener {
    match timeout(PATIENCE, exchange(address)).await {
        Ok(Ok(answer)) => classify(&answer),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => Listener::None,
        Ok(Err(_)) | Err(_) => Listener::Other,
    }
}

async fn exchange(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A healthy Masque reports its name and status.
fn classify(answer: &str) -> Listener {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let well = head.starts_with("HTTP/1.1 200")
        && body.contains("\"name\":\"masque\"")
        && body.contains("\"status\":\"ok\"");
    if well { Listener::Masque } else { Listener::Other }
}
