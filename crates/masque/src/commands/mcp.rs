//! `masque mcp`: serves one client over standard input and output.

use mcp::McpOptions;

use super::{lint, retention, warn_problems};
use crate::cli::McpArgs;
use crate::failure::{CommandError, Result};
use crate::output::{Output, Warning, WarningCode};
use crate::runtime;
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
    // Only tests of personas need models: the library is served without them.
    let runtime = match runtime::open(&workspace).await {
        Ok(runtime) => Some(runtime),
        Err(failure) => {
            output.warn(
                &failure
                    .sentence()
                    .map(|text| Warning::new(WarningCode::NoRuntime, text))
                    .into_iter()
                    .collect::<Vec<_>>(),
            )?;
            None
        }
    };
    let mcp_options = McpOptions { tools: args.tools, user, runtime: runtime.clone() };
    let served = mcp::serve_stdio(library.clone(), mcp_options).await;
    if let Some(runtime) = runtime {
        runtime.stop().await;
    }
    library.close().await;
    served.map_err(|error| CommandError::Connection(error.to_string()).into())
}
