//! Whether a Masque server answers at an address, asked in plain HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A server on the same machine answers at once or not at all.
const PATIENCE: Duration = Duration::from_millis(500);
/// Bytes of an answer that are read at most.
const MOST_BYTES: u64 = 8 * 1024;

/// Who listens at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listener {
    Nobody,
    Masque,
    /// Another program, or a Masque that is not well.
    Other,
}

pub(super) async fn ask(address: SocketAddr) -> Listener {
    match timeout(PATIENCE, exchange(address)).await {
        Ok(Ok(answer)) => judge(&answer),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => Listener::Nobody,
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

/// The health check of Masque answers with its name and its state.
fn judge(answer: &str) -> Listener {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let well = head.starts_with("HTTP/1.1 200")
        && body.contains("\"name\":\"masque\"")
        && body.contains("\"status\":\"ok\"");
    if well { Listener::Masque } else { Listener::Other }
}
