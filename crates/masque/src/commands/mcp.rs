//! `masque mcp`: serves one client over standard input and output.

use mcp::McpOptions;

use super::{lint, retention, warn_problems};
use crate::cli::McpArgs;
use crate::failure::{CommandError, Result};
use crate::output::Output;
use crate::workspace::{Audience, Workspace, WorkspaceOptions};

pub(super) async fn run(args: McpArgs, options: WorkspaceOptions<'_>, output: &mut Output) -> Result<()> {
    let workspace = Workspace::open_for(options, Audience::Machine).await?;
    // Standard error is the client's log.
    warn_problems(&workspace, false, output)?;
    let library = workspace.library.clone();
    library.watch();
    library.lint_on_load(lint::options(&workspace, Vec::new()));
    retention::start(&library, &workspace.config);
    let user = Some(workspace.author.who.as_str().into());
    let mcp_options = McpOptions { tools: args.tools, user };
    let served = mcp::serve_stdio(library.clone(), mcp_options).await;
    library.close().await;
    served.map_err(|error| CommandError::Connection(error.to_string()).into())
}
