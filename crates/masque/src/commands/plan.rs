//! `masque plan`: the plan that a session handed over, and what the user says to it.

use agent::{Mode, PlanStatus};
use app::Code;
use app::running::SessionView;
use serde::Serialize;

use super::answer::{self, Markdown};
use super::opening;
use super::run::{Allowed, say};
use crate::cli::PlanArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::runtime;
use crate::session::Session;
use crate::signals::Ending;

#[derive(Debug, Serialize)]
struct Answer<'a> {
    session: String,
    persona: &'a str,
    mode: Mode,
    #[serde(flatten)]
    plan: &'a agent::Plan,
}

pub(super) async fn run(args: PlanArgs, session: &Session, verbose: bool, output: &mut Output) -> Result<()> {
    let PlanArgs { session: id, approve, send_back } = args;
    let runtime = runtime::open(session).await?;
    let id = opening::find(&runtime, &id).await?;
    if let Some(why) = send_back {
        let why = why.trim().to_owned();
        if why.is_empty() {
            return Err(Failure::invalid(
                "say why the plan is sent back: --send-back \"Keep the old name.\"",
            ));
        }
        let ending = Ending::listen()?;
        let view = runtime.session(id).await?;
        opening::ready(&runtime, &view.session, session, output).await?;
        let view = runtime.decide_plan(id, false).await?;
        if view.session.mode != Mode::Plan {
            runtime.set_mode(id, Mode::Plan).await?;
        }
        let outcome = say(&runtime, id, why, Allowed::default(), verbose, &ending, output).await;
        return answer::stop(&runtime, &ending, outcome).await?.failure().map_or(Ok(()), Err);
    }
    let view = match approve {
        true => runtime.decide_plan(id, true).await?,
        false => runtime.session(id).await?,
    };
    print(&view, approve, output)
}

fn print(view: &SessionView, approved: bool, output: &mut Output) -> Result<()> {
    let SessionView { session, .. } = view;
    let Some(plan) = &session.plan else {
        let message = format!("session {} has no plan yet; ask for one in plan mode", session.id);
        return Err(Failure::told(Code::NoPlan, message));
    };
    if output.is_json() {
        let (id, persona) = (session.id.to_string(), session.persona.as_str());
        return output.json(&Answer { session: id, persona, mode: session.mode, plan });
    }
    if approved {
        output.line(format!("approved; the session is in {} mode", session.mode))?;
        return output.advise(&format!(
            "Have it carried out with `masque run {} \"Carry out the plan.\" --session {}`.",
            session.persona, session.id
        ));
    }
    if output.is_terminal() {
        let text = Markdown::whole(output.has_color(), output.width(), plan.content.trim());
        output.styled_text(&text)?;
    } else {
        output.exact(plan.content.trim_end())?;
        output.blank()?;
    }
    let id = session.id;
    match plan.status {
        PlanStatus::Proposed => output.advise(&format!(
            "\nNobody has decided yet: `masque plan {id} --approve`, or --send-back \"why\"."
        )),
        PlanStatus::Approved => output.advise("\nIt was approved."),
        PlanStatus::SentBack => output.advise("\nIt was sent back."),
    }
}
