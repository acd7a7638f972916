//! Answering for a session that waits, and stopping one, without sitting at a terminal.

use std::time::Duration;

use agent::SessionStatus;
use app::Code;
use app::running::{Decision, Runtime};
use serde_json::json;
use uuid::Uuid;

use crate::ask;
use crate::cli::ApproveSessionArgs;
use crate::commands::answer::{self, ApprovalRequest, Asks, Outcome, Viewer, Watch, label, opened, pending};
use crate::commands::opening;
use crate::commands::run::advise_on_plan;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::runtime;
use crate::session::Session;
use crate::signals::Ending;

/// How long a session may take to stop; a process elsewhere hears of it within a second.
const STOPPED_WITHIN: Duration = Duration::from_secs(6);
/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Allows or refuses calls that a session waits for, and shows how it goes on.
pub(super) async fn approve(
    args: ApproveSessionArgs,
    session: &Session,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    let ApproveSessionArgs { id, calls, all: _, reject, reason } = args;
    let ending = Ending::listen()?;
    let runtime = runtime::open(session).await?;
    let id = opening::find(&runtime, &id).await?;
    let view = runtime.session(id).await?;
    let waiting = pending(&view);
    let chosen = chosen(id, &waiting, &calls)?;
    opening::ready(&runtime, &view.session, session, output).await?;
    if output.is_json() {
        opened(&view.session, output)?;
    }
    let asks = if ask::can_ask(output) { Asks::Person } else { Asks::Later };
    let mut watch = Watch::new(&runtime, id, asks, ending.clone());
    let mut viewer = Viewer::of_one_answer(verbose, output);
    viewer.recall(&view.turns);
    let decision = Decision { approved: !reject, reason, remember: false };
    let decided = async {
        // Whoever watches before the last answer misses nothing of what comes of it.
        let mut subscription = runtime.events(id, None).await?;
        for request in &chosen {
            watch.decide(request, decision.clone(), output).await?;
        }
        let left: Vec<&ApprovalRequest> =
            waiting.iter().filter(|request| !chosen.iter().any(|chosen| is_same(chosen, request))).collect();
        if !left.is_empty() {
            output.advise(&format!("It still waits for permission to call {}.", names(&left)))?;
            return Ok::<Option<Outcome>, Failure>(None);
        }
        watch.until_done(&mut subscription, &mut viewer, output).await.map(Some)
    };
    let decided = decided.await;
    let Some(outcome) = answer::stop(&runtime, &ending, decided).await? else { return Ok(()) };
    if outcome.plan.is_some() {
        advise_on_plan(id, output)?;
    }
    outcome.failure().map_or(Ok(()), Err)
}

/// The calls that were named, or all.
fn chosen(id: Uuid, waiting: &[ApprovalRequest], calls: &[String]) -> Result<Vec<ApprovalRequest>> {
    if waiting.is_empty() {
        let message = format!("session {id} has no pending approvals; `masque sessions show {id}` shows it");
        return Err(Failure::told(Code::NothingPending, message));
    }
    if calls.is_empty() {
        return Ok(waiting.to_vec());
    }
    let find = |call: &String| {
        let found = waiting.iter().find(|request| request.call.id == *call).cloned();
        found.ok_or_else(|| {
            let all: Vec<&ApprovalRequest> = waiting.iter().collect();
            let message = format!("session {id} waits for no call {call:?}; it waits for {}", names(&all));
            Failure::told(Code::UnknownApproval, message)
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

/// Stops what a session does or waits for, and waits until it has stopped.
pub(super) async fn cancel(id: &str, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let id = opening::find(runtime, id).await?;
    let cancelled = runtime.cancel(id).await?;
    let stops = async {
        while runtime.session(id).await?.session.status != SessionStatus::Idle {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok::<(), Failure>(())
    };
    match tokio::time::timeout(STOPPED_WITHIN, stops).await {
        Ok(stopped) => stopped?,
        Err(_) => {
            let message = format!(
                "session {id} was asked to stop, and has not yet; `masque sessions show {id}` shows whether it has"
            );
            return Err(Failure::told(Code::StillRunning, message));
        }
    }
    if output.is_json() {
        return output.json(&json!({ "id": id.to_string(), "cancelled": cancelled }));
    }
    match cancelled {
        true => output.line(format!("stopped session {id}")),
        false => output.line(format!("session {id} was doing nothing; there was nothing to stop")),
    }
}
