//! `masque mcp`: the library for one client, over standard input and output.

use mcp::McpOptions;

use super::{lint, retention, tell_problems};
use crate::cli::McpArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::{Audience, Session, Wanted};

pub(super) async fn run(args: McpArgs, wanted: Wanted<'_>, output: &mut Output) -> Result<()> {
    let session = Session::open_for(wanted, Audience::Machine).await?;
    // Standard error is the client's log.
    tell_problems(&session, false, output)?;
    let library = session.library.clone();
    library.watch();
    library.lint_on_load(lint::options(&session, Vec::new()));
    retention::start(&library, &session.config);
    let user = Some(session.author.who.as_str().into());
    let options = McpOptions { tools: args.tools, user };
    let served = mcp::serve_stdio(library.clone(), options).await;
    library.close().await;
    served.map_err(|error| Failure::broken(format!("the connection to the client broke: {error}")))
}
