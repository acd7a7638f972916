//! `masque compile`: prints a persona, or an earlier revision, as one prompt.

use app::inputs::CompilePersona;

use super::show::{self, persona_text};
use crate::cli::CompileArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: CompileArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let CompileArgs { name, summary, cut, revision, only } = args;
    let library = &workspace.library;
    let detail = Some(!summary);
    // Only the text of the current persona, unchanged, is kept.
    if revision.is_none() && cut.is_plain() {
        let input = CompilePersona { name, detail, both: false, scope: only.scope };
        let compiled = library.compile_persona(&input).await?;
        let text = compiled.compiled_detail.as_ref().or(compiled.compiled_summary.as_ref());
        return match output.is_json() {
            true => output.json(&compiled),
            false => output.exact(text.map_or("", String::as_str)),
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
