//! `masque compile`: prints a persona, or an earlier revision, as one prompt.

use agent::Notice;
use app::inputs::CompilePersona;

use super::show::{self, persona_text};
use crate::cli::CompileArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::wording;
use crate::workspace::Workspace;

mod origins;

pub(super) async fn run(args: CompileArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let name = args.persona()?;
    let CompileArgs { summary, cut, origins, revision, only, .. } = args;
    let library = &workspace.library;
    let detail = Some(!summary);
    if origins {
        let input = cut.apply(show::request(name, detail, true, revision, only.scope))?;
        let origins = library.text_origins(&input).await?;
        return if output.is_json() { output.json(&origins) } else { origins::print(&origins, output) };
    }
    // Only the text of the current persona, unchanged, is kept.
    if revision.is_none() && cut.is_plain() {
        let input = CompilePersona {
            name,
            detail,
            both: false,
            overrides: None,
            types: None,
            limit: None,
            max_tokens: None,
            scope: only.scope,
        };
        let compiled = library.compile_persona(&input).await?;
        let text = compiled.compiled_detail.as_ref().or(compiled.compiled_summary.as_ref());
        let text = text.map_or("", String::as_str);
        if text.trim().is_empty() {
            output.advise(&wording::notice(&Notice::SaysNothing))?;
        }
        return match output.is_json() {
            true => output.json(&compiled),
            false => output.exact(text),
        };
    }
    let input = cut.apply(show::request(name, detail, true, revision, only.scope))?;
    if output.is_json() {
        return output.json(&app::parse_view(&*library.get_persona(&input).await?));
    }
    let prompt = library.prompt(&input).await?;
    output.exact(&prompt.text)?;
    persona_text::advise_budget(prompt.budget.as_ref(), output)
}
