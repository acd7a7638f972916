//! `masque edit --chat`: tells the editing agent what to change, and prints its answer.

use app::editing::{KeptEntity, KeptReason};
use app::inputs::{ByPersonaId, EditorMessage};
use app::outputs::ScopedEntityRef;
use app::running::Runtime;
use persona::Name;

use super::proposal;
use crate::cli::EditArgs;
use crate::commands::answer::{self, Approver, Outcome, Viewer, Watch, print_session_line, send_failure};
use crate::commands::open_session;
use crate::failure::Result;
use crate::output::Output;
use crate::runtime;
use crate::signals::Shutdown;
use crate::workspace::Workspace;

pub(super) async fn run(
    args: EditArgs,
    persona: Name,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let runtime = runtime::open(workspace).await?;
    let EditArgs { chat, plan, clear, apply, dismiss, .. } = args;
    let Some(message) = chat else {
        return match (apply, dismiss) {
            (true, _) => proposal::apply(&runtime, persona, workspace, output).await,
            (false, true) => proposal::dismiss(&runtime, persona, output).await,
            (false, false) => undo(&runtime, persona, workspace, output).await,
        };
    };
    let shutdown = Shutdown::listen()?;
    let known = proposal::open(&runtime, &persona).await?;
    let input = EditorMessage { persona_id: persona.clone(), message, plan };
    let answered = send(&runtime, input, clear, workspace, &shutdown, output).await;
    let proposed = match &answered {
        Ok(_) => Some(proposal::open(&runtime, &persona).await?),
        Err(_) => None,
    };
    let outcome = answer::stop(&runtime, &shutdown, answered).await?;
    if let Some(proposed) = proposed {
        proposal::print_new(&persona, &proposed, &known, output)?;
    }
    outcome.failure().map_or(Ok(()), Err)
}

async fn send(
    runtime: &Runtime,
    input: EditorMessage,
    clear: bool,
    workspace: &Workspace,
    shutdown: &Shutdown,
    output: &mut Output,
) -> Result<Outcome> {
    let persona = ByPersonaId { persona_id: input.persona_id.clone() };
    if clear {
        runtime.clear_editor_chat(&persona).await?;
    }
    let session = runtime.open_editor_chat(&persona).await?;
    open_session::check_ready(runtime, &session, workspace, output).await?;
    if output.is_json() {
        print_session_line(&session, output)?;
    }
    let mut viewer = Viewer::of_one_answer(false, output);
    let mut watch = Watch::new(runtime, session.id, Approver::None, shutdown.clone());
    let sending = runtime.chat_with_editor(&workspace.author, input);
    let mut subscription = match watch.begin(sending, output).await? {
        Ok(subscription) => subscription,
        Err(error) => return Err(send_failure(runtime, session.id, error).await),
    };
    watch.until_done(&mut subscription, &mut viewer, output).await
}

/// Takes back what the agent's last message changed.
async fn undo(runtime: &Runtime, persona: Name, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let input = ByPersonaId { persona_id: persona };
    let turn = runtime.undo_editor_turn(&workspace.author, &input).await?;
    if output.is_json() {
        return output.json(&turn);
    }
    for ScopedEntityRef { scope, kind, name } in &turn.undone {
        output.line(format!("restored {} {name} ({scope})", kind.spoken()))?;
    }
    for KeptEntity { entity: ScopedEntityRef { scope, kind, name }, reason } in &turn.kept {
        output.line(format!("kept {} {name} ({scope}): {}", kind.spoken(), worded(*reason)))?;
    }
    Ok(())
}

fn worded(reason: KeptReason) -> &'static str {
    match reason {
        KeptReason::ChangedSince => "it was changed since",
        KeptReason::ChangedBetween => "it was changed in between, only the later changes are undone",
        KeptReason::InUse => "others use it now",
        KeptReason::Incomplete => "something that it needs is gone",
        KeptReason::Forgotten => "its earlier state is no longer in the history",
    }
}
