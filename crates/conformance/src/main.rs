//! The server that `cargo xtask conformance` tests: Masque's MCP endpoint with the fixtures that the
//! published conformance suite calls.
//!
//! Usage: `conformance IP:PORT DATABASE`. The fixtures wrap the real handler and pass on every request that
//! they do not know. The crate is never shipped.
#![expect(deprecated, reason = "the suite also tests what later protocol revisions removed")]

mod content;
mod dialogue;
mod handler;
mod input_required;
mod listing;
mod prompts;
mod resources;

use anyhow::{Context as _, Result, bail};
use app::{Library, OpenOptions};
use axum::Router;
use axum::routing::get;
use mcp::{Masque, McpOptions};
use tokio::net::TcpListener;

use handler::{Fixtures, Shared};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, database] = arguments.as_slice() else {
        bail!("usage: conformance IP:PORT DATABASE");
    };
    let library = Library::open(OpenOptions::database(database)).await?;
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let shared = Shared::default();
    let options = McpOptions::default();
    let endpoint =
        mcp::http::mount(move || Fixtures::new(Masque::new(library.clone(), &options), shared.clone()));
    let router = Router::new().route("/healthz", get(|| async { "ok" })).merge(endpoint);
    // xtask kills the process; there is nothing to shut down in order.
    server::serve(listener, router, std::future::pending()).await?;
    Ok(())
}
