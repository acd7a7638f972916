//! `masque conflicts`: names that several scopes define, and settling one.

use app::outputs::{Conflict, Place};
use persona::Kind;
use serde::Serialize;

use crate::cli::ConflictsArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

mod resolve;
mod text;

#[derive(Serialize)]
struct Answer<'a> {
    items: &'a [Conflict],
    /// What takes a builtin's place.
    #[serde(skip_serializing_if = "<[Place]>::is_empty")]
    overrides: &'a [Place],
}

pub(crate) async fn run(args: ConflictsArgs, session: &Session, output: &mut Output) -> Result<()> {
    let kind = args.kind.map(Kind::from);
    let found = session.library.conflicts(kind, args.name.as_ref()).await?;
    let overrides = match &args.name {
        Some(name) => session.library.overrides(kind, name).await?,
        None => Vec::new(),
    };
    if let (Some(name), true) = (&args.name, args.use_scope.is_some() || args.merge) {
        let conflict = resolve::only_one(found, name, &overrides)?;
        return resolve::run(&conflict, args, session, output).await;
    }
    if output.is_json() {
        output.json(&Answer { items: &found, overrides: &overrides })?;
    } else if let (true, Some(over)) = (found.is_empty(), overrides.first()) {
        output.line(format!("{}.", no_conflict(over)))?;
    } else if found.is_empty() {
        let what = args.name.as_ref().map_or("No name".to_owned(), |name| format!("Nothing named {name}"));
        output.line(format!("{what} is defined by several scopes."))?;
    } else {
        text::print(&found, output)?;
    }
    if args.check && !found.is_empty() { Err(Failure::Answered) } else { Ok(()) }
}

/// Why a name that a builtin has too is not in conflict.
fn no_conflict(over: &Place) -> String {
    let Place { scope, kind, name } = over;
    format!("{} {name} of {scope} overrides the builtin, which is not a conflict", kind.spoken())
}
