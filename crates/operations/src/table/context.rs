//! The files of a project in prompts.

use app::inputs::ShowContext;
use context::Context as Files;

use super::prelude::*;

pub(super) const OPERATIONS: &[Operation] = &[op!(
    show_context, Read, "Show the files of the project that a prompt would have: of each the view, the tokens and why",
    no_tool("an MCP client reads the project itself"), post("/api/context"), command("context"),
    ShowContext => Files, |cx, input| cx.runtime()?.show_context(input)
)];
