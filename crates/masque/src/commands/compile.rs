//! `masque compile`: a persona as one prompt, as it is or as it was.

use std::io::{self, IsTerminal as _};

use app::inputs::{ByName, GetPersona, RevisionText};
use persona::{Kind, Name, Scope};
use serde::Serialize;

use crate::cli::CompileArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: CompileArgs, session: &Session, output: &mut Output) -> Result<()> {
    let CompileArgs { name, detail, revision, only } = args;
    if let Some(revision) = revision {
        return compile_as_it_was(name, detail, RevisionText(revision), only.scope, session, output).await;
    }
    let compiled = session.library.compile_persona(&ByName { name, scope: only.scope }).await?;
    if output.is_json() {
        return output.json(&compiled);
    }
    if detail {
        return output.exact(&compiled.compiled_detail);
    }
    output.exact(&compiled.compiled_summary)?;
    match is_seen() && compiled.compiled_summary != compiled.compiled_detail {
        true => output.advise(SHORT),
        false => Ok(()),
    }
}

/// What is said of a prompt that is not all that there is.
const SHORT: &str = "made of summaries; --detail has all";

/// Whether somebody at a terminal sees what is said, wherever the prompt goes.
fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// What a revision said; it is not kept, for a revision never changes.
#[derive(Debug, Serialize)]
struct CompiledRevision {
    name: Name,
    scope: Scope,
    revision: i64,
    compiled_summary: String,
    compiled_detail: String,
}

async fn compile_as_it_was(
    name: Name,
    detail: bool,
    revision: RevisionText,
    scope: Option<Scope>,
    session: &Session,
    output: &mut Output,
) -> Result<()> {
    let text = async |detail: bool| {
        let input = GetPersona {
            name: name.clone(),
            detail,
            overrides: None,
            types: None,
            limit: None,
            max_tokens: None,
            compiled: true,
            revision: Some(revision.clone()),
            scope,
        };
        let loaded = session.library.get_persona(&input).await?;
        let view = app::parse_view(&loaded);
        Ok::<_, Failure>(view.compiled_summary.or(view.compiled_detail).unwrap_or_default())
    };
    if !output.is_json() {
        let short = text(detail).await?;
        output.exact(&short)?;
        let is_short = !detail && is_seen() && short != text(true).await?;
        return if is_short { output.advise(SHORT) } else { Ok(()) };
    }
    let (compiled_summary, compiled_detail) = (text(false).await?, text(true).await?);
    let (scope, found) = session.library.revision(Kind::Persona, &name, scope, &revision.parse()).await?;
    let revision = found.about.revision;
    output.json(&CompiledRevision { name, scope, revision, compiled_summary, compiled_detail })
}
