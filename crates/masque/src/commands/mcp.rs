//! `masque mcp`: the library for one client, over standard input and output.

use mcp::McpOptions;

use crate::cli::McpArgs;
use crate::failure::{Failure, Result};
use crate::session::Session;

pub(super) async fn run(args: McpArgs, database: Option<&str>) -> Result<()> {
    let library = Session::open(database).await?.library;
    let options = McpOptions { tools: args.tools, conformance: args.conformance };
    let served = mcp::serve_stdio(library.clone(), options).await;
    library.close().await;
    served.map_err(|error| Failure::broken(format!("the connection to the client broke: {error}")))
}
