//! Approves pending calls of a session, and cancels runs, without a terminal.

use std::time::Duration;

use agent::{Session, SessionStatus};
use app::running::{Decision, Runtime};
use serde_json::json;
use uuid::Uuid;

use crate::ask;
use crate::cli::ApproveSessionArgs;
use crate::commands::answer::{
    self, ApprovalRequest, Approver, Outcome, Viewer, Watch, label, pending, print_session_line,
};
use crate::commands::open_session;
use crate::commands::run::advise_on_plan;
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::runtime;
use crate::signals::Shutdown;
use crate::workspace::Workspace;

/// Maximum time of a session to stop. Other processes notice a cancel within a second.
const STOPPED_WITHIN: Duration = Duration::from_secs(6);
/// The interval of checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Approves or rejects pending calls, and shows the rest of the answer.
pub(super) async fn approve(
    args: ApproveSessionArgs,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    let ApproveSessionArgs { id, calls, all: _, reject, reason } = args;
    let shutdown = Shutdown::listen()?;
    let runtime = runtime::open(workspace).await?;
    let id = open_session::find(&runtime, &id).await?;
    let view = runtime.session(id).await?;
    let waiting = pending(&view);
    let chosen = chosen(id, &waiting, &calls)?;
    open_session::check_ready(&runtime, &view.session, workspace, output).await?;
    if output.is_json() {
        print_session_line(&view.session, output)?;
    }
    let approver = if ask::can_ask(output) { Approver::User } else { Approver::Later };
    let mut watch = Watch::new(&runtime, id, approver, shutdown.clone());
    let mut viewer = Viewer::of_one_answer(verbose, output);
    viewer.recall(&view.turns);
    let decision = Decision { approved: !reject, reason, remember: false };
    let decided = async {
        // Subscribe before the last decision, to see all events after it.
        let mut subscription = runtime.events(id, None).await?;
        for request in &chosen {
            watch.decide(request, decision.clone(), output).await?;
        }
        let left: Vec<&ApprovalRequest> =
            waiting.iter().filter(|request| !chosen.iter().any(|chosen| is_same(chosen, request))).collect();
        if !left.is_empty() {
            output.advise(&format!("Still waiting for approval of {}.", names(&left)))?;
            return Ok::<Option<Outcome>, Failure>(None);
        }
        if let Some(track) = track_elsewhere(&runtime, &view.session).await? {
            let advice = format!(
                "The ticket goes on where its track is worked; `masque conduct --resume {track}` works it here."
            );
            output.advise(&advice)?;
            return Ok(None);
        }
        watch.until_done(&mut subscription, &mut viewer, output).await.map(Some)
    };
    let decided = decided.await;
    let Some(outcome) = answer::stop(&runtime, &shutdown, decided).await? else { return Ok(()) };
    if outcome.plan.is_some() {
        advise_on_plan(id, output)?;
    }
    outcome.failure().map_or(Ok(()), Err)
}

/// The track of a session that another process works, or that no process works.
async fn track_elsewhere(runtime: &Runtime, session: &Session) -> Result<Option<Uuid>> {
    let duty = session.duty.as_ref().map(|duty| duty.track);
    Ok(if runtime.is_worked_elsewhere(session).await? { duty } else { None })
}

/// The named calls, or all.
fn chosen(id: Uuid, waiting: &[ApprovalRequest], calls: &[String]) -> Result<Vec<ApprovalRequest>> {
    if waiting.is_empty() {
        return Err(CommandError::NothingPending { id }.into());
    }
    if calls.is_empty() {
        return Ok(waiting.to_vec());
    }
    let find = |call: &String| {
        let found = waiting.iter().find(|request| request.call.id == *call).cloned();
        found.ok_or_else(|| {
            let pending = waiting.iter().map(|request| request.call.id.clone()).collect();
            CommandError::UnknownApproval { id, call: call.clone(), pending }.into()
        })
    };
    calls.iter().map(find).collect()
}

fn is_same(one: &ApprovalRequest, other: &ApprovalRequest) -> bool {
    one.session == other.session && one.call.id == other.call.id
}

fn names(request: &[&ApprovalRequest]) -> String {
    let each = request.iter().map(|request| format!("{} ({})", label(&request.call), request.call.id));
    each.collect::<Vec<_>>().join(", ")
}

/// Cancels the run of a session, and waits until it has stopped.
pub(super) async fn cancel(id: &str, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let id = open_session::find(runtime, id).await?;
    let cancelled = runtime.cancel(id).await?;
    let stops = async {
        while runtime.session(id).await?.session.status != SessionStatus::Idle {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        Ok::<(), Failure>(())
    };
    match tokio::time::timeout(STOPPED_WITHIN, stops).await {
        Ok(stopped) => stopped?,
        Err(_) => {
            return Err(CommandError::StillRunning { id }.into());
        }
    }
    if output.is_json() {
        return output.json(&json!({ "id": id.to_string(), "cancelled": cancelled }));
    }
    match cancelled {
        true => output.line(format!("cancelled the run of session {id}")),
        false => output.line(format!("nothing to cancel: session {id} is idle")),
    }
}
