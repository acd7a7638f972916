//! `masque conflicts`: lists and resolves names that several scopes define.

use app::outputs::{Conflict, ScopedEntityRef};
use serde::Serialize;

use crate::cli::ConflictsArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::workspace::Workspace;

mod resolve;
mod text;

/// The JSON output.
#[derive(Serialize)]
struct ConflictsOutput<'a> {
    items: &'a [Conflict],
    /// Definitions that override a builtin.
    #[serde(skip_serializing_if = "<[ScopedEntityRef]>::is_empty")]
    overrides: &'a [ScopedEntityRef],
}

pub(crate) async fn run(args: ConflictsArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (kind, name) = args.filter()?;
    let found = workspace.library.conflicts(kind, name.as_ref()).await?;
    let overrides = match &name {
        Some(name) => workspace.library.overrides(kind, name).await?,
        None => Vec::new(),
    };
    if let (Some(name), true) = (&name, args.resolves()) {
        let conflict = resolve::only_one(found, name, &overrides)?;
        return resolve::run(&conflict, args, workspace, output).await;
    }
    if output.is_json() {
        output.json(&ConflictsOutput { items: &found, overrides: &overrides })?;
    } else if let (true, Some(over)) = (found.is_empty(), overrides.first()) {
        output.line(format!("{}.", no_conflict(over)))?;
    } else if found.is_empty() {
        let of = name.as_ref().map_or(String::new(), |name| format!(" for {name}"));
        output.line(format!("No conflicts{of}."))?;
    } else {
        text::print(&found, output)?;
    }
    if args.check && !found.is_empty() { Err(Failure::Answered) } else { Ok(()) }
}

/// Explains that overriding a builtin is not a conflict.
fn no_conflict(over: &ScopedEntityRef) -> String {
    let ScopedEntityRef { scope, kind, name } = over;
    format!("{} {name} in {scope} overrides the builtin, which is not a conflict", kind.spoken())
}
