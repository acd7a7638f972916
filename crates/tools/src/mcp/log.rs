//! Logs a server's standard error.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits;

/// Logs lines, each cut, and after a number of them none; reads on to the end, since a server whose
/// standard error is full stops.
pub(super) async fn follow(server: String, mut stderr: impl AsyncRead + Unpin) {
    let mut buffer = vec![0; 4 * 1024];
    let mut line = Vec::new();
    let mut lines = 0;
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        if lines >= limits::SERVER_LOG_LINES {
            continue;
        }
        for byte in &buffer[..count] {
            if *byte != b'\n' {
                if line.len() < limits::SERVER_LOG_LINE_BYTES {
                    line.push(*byte);
                }
                continue;
            }
            lines += 1;
            tracing::debug!(server, "{}", String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    if !line.is_empty() {
        tracing::debug!(server, "{}", String::from_utf8_lossy(&line));
    }
}
