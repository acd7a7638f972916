//! The protocol over standard input and output, for clients that start the server themselves.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use app::Library;
use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::handler::{Masque, McpOptions};

/// The error that ended serving over standard input and output.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the client did not follow the protocol: {0}")]
    Beginning(#[source] Box<ServerInitializeError>),
    #[error("the server's task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// Serves one client until it closes our standard input. Nothing but the protocol is written to
/// standard output.
pub async fn serve_stdio(library: Library, options: McpOptions) -> Result<(), StdioError> {
    let (input, output) = stdio_pipes();
    serve_pipes(library, options, input, output).await
}

/// Serves one client over any two pipes.
async fn serve_pipes<R, W>(
    library: Library,
    options: McpOptions,
    input: R,
    output: W,
) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let gone = CancellationToken::new();
    let input = UntilEnd { input, ended: gone.clone() };
    let masque = Masque::new(library, &options).until(gone);
    match serve_server(masque, (input, output)).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(StdioError::Task),
        // A client that leaves before its first message made no error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Beginning(Box::new(error))),
    }
}

/// Input that reports its end. Otherwise an open stream of changes would keep the server waiting.
struct UntilEnd<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.input).poll_read(context, buffer));
        let nothing = buffer.filled().len() == before && buffer.remaining() > 0;
        if read.is_err() || nothing {
            self.ended.cancel();
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests;
