//! `masque plan`: shows, approves or sends back the plan of a session.

use agent::{Mode, PlanStatus};
use app::running::SessionView;
use serde::Serialize;

use super::answer::{self, Markdown};
use super::open_session;
use super::run::{RunPermissions, send};
use crate::cli::PlanArgs;
use crate::failure::{CommandError, Result};
use crate::output::Output;
use crate::runtime;
use crate::signals::Shutdown;
use crate::workspace::Workspace;

/// The JSON output.
#[derive(Debug, Serialize)]
struct PlanOutput<'a> {
    session: String,
    persona: &'a str,
    mode: Mode,
    #[serde(flatten)]
    plan: &'a agent::Plan,
}

pub(super) async fn run(
    args: PlanArgs,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    let PlanArgs { session: id, approve, hash, send_back } = args;
    let runtime = runtime::open(workspace).await?;
    let id = open_session::find(&runtime, &id).await?;
    if let Some(why) = send_back {
        let why = why.trim().to_owned();
        if why.is_empty() {
            let example = "--send-back \"Keep the old name.\"".to_owned();
            return Err(CommandError::MissingArgument { argument: "WHY", example }.into());
        }
        let shutdown = Shutdown::listen()?;
        let view = runtime.session(id).await?;
        open_session::check_ready(&runtime, &view.session, workspace, output).await?;
        runtime.send_plan_back(id).await?;
        let outcome = send(&runtime, id, why, RunPermissions::default(), verbose, &shutdown, output).await;
        return answer::stop(&runtime, &shutdown, outcome).await?.failure().map_or(Ok(()), Err);
    }
    let view = match approve {
        true => {
            let hash = match hash {
                Some(hash) => hash,
                None => runtime.plan(id).await?.hash(),
            };
            runtime.approve_plan(id, &hash).await?
        }
        false => runtime.session(id).await?,
    };
    print(&view, approve, output)
}

fn print(view: &SessionView, approved: bool, output: &mut Output) -> Result<()> {
    let SessionView { session, .. } = view;
    let Some(plan) = &session.plan else {
        return Err(CommandError::NoPlan { id: session.id }.into());
    };
    if output.is_json() {
        let (id, persona) = (session.id.to_string(), session.persona.as_str());
        return output.json(&PlanOutput { session: id, persona, mode: session.mode, plan });
    }
    if approved {
        output.line(format!("approved; the session is in {} mode", session.mode))?;
        return output.advise(&format!(
            "To carry it out, run `masque run {} \"Carry out the plan.\" --session {}`.",
            session.persona, session.id
        ));
    }
    if output.is_terminal() {
        let text = Markdown::render(output.has_color(), output.width(), plan.content.trim());
        output.styled_text(&text)?;
    } else {
        output.exact(plan.content.trim_end())?;
        output.blank()?;
    }
    let id = session.id;
    match plan.status {
        PlanStatus::Proposed => output.advise(&format!(
            "\nNot decided yet: run `masque plan {id} --approve --hash {}`, or use --send-back \"reason\".",
            short(&plan.hash())
        )),
        PlanStatus::Approved => output.advise("\nApproved."),
        PlanStatus::SentBack => output.advise("\nSent back."),
    }
}

/// The beginning of a hash, which is enough to name a plan.
fn short(hash: &str) -> &str {
    let digits = hash.trim_start_matches("sha256:");
    digits.get(..8).unwrap_or(digits)
}
