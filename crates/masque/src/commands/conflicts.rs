//! `masque conflicts`: names that several scopes define, and settling one.

use app::outputs::Conflict;
use persona::Kind;
use serde::Serialize;

use crate::cli::ConflictsArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

mod fields;
mod resolve;
mod text;

#[derive(Serialize)]
struct Answer<'a> {
    conflicts: &'a [Conflict],
}

pub(crate) async fn run(args: ConflictsArgs, session: &Session, output: &mut Output) -> Result<()> {
    let kind = args.kind.map(Kind::from);
    let found = session.library.conflicts(kind, args.name.as_ref()).await?;
    if let (Some(name), true) = (&args.name, args.use_scope.is_some() || args.merge) {
        let conflict = resolve::only_one(found, name)?;
        return resolve::run(&conflict, args, session, output).await;
    }
    if output.is_json() {
        output.json(&Answer { conflicts: &found })?;
    } else if found.is_empty() {
        let what = args.name.as_ref().map_or("No name".to_owned(), |name| format!("Nothing named {name}"));
        output.line(format!("{what} is defined by several scopes."))?;
    } else {
        text::print(&found, output)?;
    }
    if args.check && !found.is_empty() { Err(Failure::Answered) } else { Ok(()) }
}
