//! `masque compile`: prints a persona, or an earlier revision, as one prompt.

use std::io::{self, IsTerminal as _};

use app::inputs::{ByName, GetPersona, RevisionText};
use persona::{Kind, Name, Scope};
use serde::Serialize;

use crate::cli::CompileArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: CompileArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let CompileArgs { name, detail, revision, only } = args;
    if let Some(revision) = revision {
        return compile_revision(name, detail, RevisionText(revision), only.scope, workspace, output).await;
    }
    let compiled = workspace.library.compile_persona(&ByName { name, scope: only.scope }).await?;
    if output.is_json() {
        return output.json(&compiled);
    }
    if detail {
        return output.exact(&compiled.compiled_detail);
    }
    output.exact(&compiled.compiled_summary)?;
    match stderr_is_terminal() && compiled.compiled_summary != compiled.compiled_detail {
        true => output.advise(SUMMARY_HINT),
        false => Ok(()),
    }
}

/// The hint below a prompt of summaries.
const SUMMARY_HINT: &str = "this prompt uses summaries; --detail uses full contents";

fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// The compiled prompts of a revision. They are not stored.
#[derive(Debug, Serialize)]
struct CompiledRevision {
    name: Name,
    scope: Scope,
    revision: i64,
    compiled_summary: String,
    compiled_detail: String,
}

async fn compile_revision(
    name: Name,
    detail: bool,
    revision: RevisionText,
    scope: Option<Scope>,
    workspace: &Workspace,
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
        let loaded = workspace.library.get_persona(&input).await?;
        let view = app::parse_view(&loaded);
        Ok::<_, Failure>(view.compiled_summary.or(view.compiled_detail).unwrap_or_default())
    };
    if !output.is_json() {
        let short = text(detail).await?;
        output.exact(&short)?;
        let is_short = !detail && stderr_is_terminal() && short != text(true).await?;
        return if is_short { output.advise(SUMMARY_HINT) } else { Ok(()) };
    }
    let (compiled_summary, compiled_detail) = (text(false).await?, text(true).await?);
    let (scope, found) = workspace.library.revision(Kind::Persona, &name, scope, &revision.parse()).await?;
    let revision = found.about.revision;
    output.json(&CompiledRevision { name, scope, revision, compiled_summary, compiled_detail })
}
