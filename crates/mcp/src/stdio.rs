//! The protocol over standard input and output, for clients that start the server themselves.

use app::Library;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use rmcp::{ServerHandler, serve_server};

use crate::conformance::{Conformance, Triggers};
use crate::handler::{Masque, McpOptions};

/// Why serving over standard input and output ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the client did not begin as the protocol demands: {0}")]
    Beginning(#[source] Box<ServerInitializeError>),
    #[error("the server's task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// Serves one client until it closes our standard input. Nothing but the protocol is written to
/// standard output.
pub async fn serve_stdio(library: Library, options: McpOptions) -> Result<(), StdioError> {
    let masque = Masque::new(library, options.tools);
    if options.conformance {
        serve(Conformance::new(masque, Triggers::default())).await
    } else {
        serve(masque).await
    }
}

async fn serve(handler: impl ServerHandler) -> Result<(), StdioError> {
    match serve_server(handler, stdio_pipes()).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(StdioError::Task),
        // A client that leaves before it said anything did nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Beginning(Box::new(error))),
    }
}
