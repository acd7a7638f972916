//! Drives one session of a track to what it hands in.

use std::time::Duration;

use agent::{ApprovalPolicy, Duty, DutyRole, End, ErrorCode, Event, Mode, Session, SessionStatus, TurnBody};
use conductor::{Fault, Model, Signal};
use llm::ModelRef;
use persona::Name;
use tokio_util::sync::CancellationToken;
use tracks::Fence;
use uuid::Uuid;

use super::duties::{self, HandedIn};
use super::observing::Watching;
use super::steps::{Job, shortened};
use super::{Paying, opening};
use crate::running::SendOptions;
use crate::{ModelError, Result, Runtime};

/// How often a session that waits for a person, or runs elsewhere, is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Messages that remind a session to hand in.
const REMINDERS: u32 = 1;
/// Times that a session goes on after its process died.
const RESUMPTIONS: u32 = 3;
const GO_ON: &str = "Go on where you stopped.";

/// The session to drive.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) session: Uuid,
    pub(super) duty: Duty,
    pub(super) persona: Name,
    pub(super) model: Model,
    /// The directory that its tools see.
    pub(super) root: Option<String>,
    pub(super) policy: ApprovalPolicy,
    /// Sent unless the session has it already.
    pub(super) message: String,
}

impl Assignment {
    fn mode(&self) -> Mode {
        match self.duty.role {
            DutyRole::Split | DutyRole::Draft => Mode::Plan,
            DutyRole::Work | DutyRole::Review => Mode::Build,
        }
    }

    fn tool(&self) -> &'static str {
        match self.duty.role {
            DutyRole::Work => duties::SUBMIT_WORK,
            DutyRole::Review => duties::SUBMIT_REVIEW,
            DutyRole::Split => duties::SUBMIT_TICKETS,
            DutyRole::Draft => duties::SUBMIT_TRACK,
        }
    }
}

/// How a session's turn ended.
#[derive(Debug)]
pub(super) enum Ended {
    HandedIn(HandedIn),
    Fault(Fault),
    /// The process stops, or the step was taken away. Another process goes on.
    Stopped,
}

/// Drives the session of a step, which pays for it.
pub(super) async fn drive(job: &Job, assignment: &Assignment, watching: &mut Watching) -> Result<Ended> {
    let conducting = job.runtime.conducting();
    let _paying: Paying<'_> = conducting.pay(assignment.session, &job.log, &job.fence);
    drive_step(&job.runtime, assignment, watching, &Held { cancel: &job.cancel, fence: Some(&job.fence) })
        .await
}

/// Drives a session that no step pays for.
pub(super) async fn drive_unpaid(
    runtime: &Runtime,
    assignment: &Assignment,
    watching: &mut Watching,
    cancel: &CancellationToken,
) -> Result<Ended> {
    drive_step(runtime, assignment, watching, &Held { cancel, fence: None }).await
}

/// The right of this process to drive a session.
#[derive(Debug, Clone, Copy)]
struct Held<'a> {
    cancel: &'a CancellationToken,
    /// The claim of the step. `None` if nobody else can have it.
    fence: Option<&'a Fence>,
}

impl Held<'_> {
    /// Stops the run of a session. Once the step is lost, another process has it, and the session with it.
    async fn stop(&self, runtime: &Runtime, session: Uuid) -> Result<()> {
        let holds = match self.fence {
            Some(fence) => runtime.conducting().tracks.renew(std::slice::from_ref(fence)).await? == [true],
            None => true,
        };
        if holds {
            runtime.cancel(session).await?;
        }
        Ok(())
    }
}

/// Drives a session until it hands something in or fails. A session that another process left is taken up
/// where it stopped: a result that is in its log is not worked out again.
async fn drive_step(
    runtime: &Runtime,
    assignment: &Assignment,
    watching: &mut Watching,
    held: &Held<'_>,
) -> Result<Ended> {
    create_if_missing(runtime, assignment).await?;
    let mut message = Some(assignment.message.clone());
    if is_sent(runtime, assignment).await? {
        if let Some(handed_in) = take_up(runtime, assignment.session).await? {
            return Ok(Ended::HandedIn(handed_in));
        }
        message = None;
    }
    let (mut reminders, mut resumptions) = (0, 0);
    loop {
        // The run of the process that had the step before. What ends it there says nothing about the worker.
        let is_running = runtime.session(assignment.session).await?.session.status == SessionStatus::Running;
        let Some(end) = run(runtime, assignment, message.take(), watching, held).await? else {
            return Ok(Ended::Stopped);
        };
        if let Some(handed_in) = take_up(runtime, assignment.session).await? {
            return Ok(Ended::HandedIn(handed_in));
        }
        let is_left = is_running && resumptions < RESUMPTIONS && !held.cancel.is_cancelled();
        if let Some(signal) = watching.signal() {
            return Ok(Ended::Fault(Fault::Stuck { signal }));
        }
        match end {
            End::EndTurn | End::MaxTokens | End::MaxToolRounds if reminders < REMINDERS => {
                reminders += 1;
                message = Some(opening::remind(assignment.tool()));
            }
            End::Failed | End::Cancelled if is_left => resumptions += 1,
            End::Failed => match failure(runtime, assignment.session).await? {
                Failure::Interrupted if resumptions < RESUMPTIONS => resumptions += 1,
                failure => return Ok(Ended::Fault(failure.into())),
            },
            End::Cancelled if held.cancel.is_cancelled() => return Ok(Ended::Stopped),
            End::Cancelled => {
                return Ok(Ended::HandedIn(HandedIn::Blocked("a person stopped the session".to_owned())));
            }
            End::Refusal => {
                return Ok(Ended::Fault(Fault::Model { message: "the model refuses to answer".to_owned() }));
            }
            End::LoopDetected => {
                let tool = last_tool(runtime, assignment.session).await?;
                let signal = Signal::SameAction { tool, times: agent::limits::REPEATED_BATCHES };
                return Ok(Ended::Fault(Fault::Stuck { signal }));
            }
            End::EndTurn | End::MaxTokens | End::MaxToolRounds => {
                return Ok(Ended::Fault(Fault::NoSubmission));
            }
        }
    }
}

async fn create_if_missing(runtime: &Runtime, assignment: &Assignment) -> Result<()> {
    if runtime.find_session(assignment.session).await?.is_some() {
        return Ok(());
    }
    let model = assignment.model.as_str().parse::<ModelRef>();
    let model = model.map_err(|source| ModelError::Invalid { field: "model", source })?;
    let session = Session {
        id: assignment.session,
        mode: assignment.mode(),
        model: Some(model),
        root: assignment.root.clone(),
        duty: Some(assignment.duty.clone()),
        ..crate::running::new_session(assignment.persona.clone(), None, [].into())
    };
    runtime.store_session(&session).await?;
    Ok(())
}

/// True if the session was sent its message. The first line tells: what follows it, such as a handover, may
/// have changed since.
pub(super) async fn is_sent(runtime: &Runtime, assignment: &Assignment) -> Result<bool> {
    if runtime.find_session(assignment.session).await?.is_none() {
        return Ok(false);
    }
    let turns = runtime.session(assignment.session).await?.turns;
    let begins_alike = |content: &str| content.lines().next() == assignment.message.lines().next();
    Ok(turns.iter().any(|turn| matches!(&turn.body, TurnBody::User { content } if begins_alike(content))))
}

async fn take_up(runtime: &Runtime, session: Uuid) -> Result<Option<HandedIn>> {
    Ok(duties::handed_in(&runtime.session(session).await?.turns))
}

async fn last_tool(runtime: &Runtime, session: Uuid) -> Result<String> {
    let turns = runtime.session(session).await?.turns;
    let last = turns.iter().rev().find_map(|turn| match &turn.body {
        TurnBody::ToolCall { call, .. } => Some(call.name.clone()),
        _ => None,
    });
    Ok(last.unwrap_or_default())
}

/// Runs a session to the end of its turn, permissions that it waits for included. `None`: this process
/// stops.
async fn run(
    runtime: &Runtime,
    assignment: &Assignment,
    message: Option<String>,
    watching: &mut Watching,
    held: &Held<'_>,
) -> Result<Option<End>> {
    let id = assignment.session;
    let mut subscription = match runtime.session(id).await?.session.status {
        SessionStatus::Idle => {
            let options = SendOptions { policy: assignment.policy, detached: true, max_tool_rounds: None };
            runtime.send(id, message.unwrap_or_else(|| GO_ON.to_owned()), options).await?
        }
        SessionStatus::Running | SessionStatus::Waiting => runtime.events(id, None).await?,
    };
    loop {
        let event = tokio::select! {
            () = held.cancel.cancelled() => {
                // A request to a person outlasts this process: whoever goes on finds it.
                let is_asking = runtime.session(id).await?.session.status == SessionStatus::Waiting;
                if !(is_asking && runtime.stopping().is_cancelled()) {
                    held.stop(runtime, id).await?;
                }
                return Ok(None);
            }
            event = tokio::time::timeout(LOOK, subscription.next()) => event,
        };
        match event {
            Ok(reported) => match reported? {
                Some(reported) => {
                    watching.on_event(&reported.event).await;
                    if watching.signal().is_some() {
                        held.stop(runtime, id).await?;
                    }
                    if let Event::Done { stop_reason } = reported.event {
                        return Ok(Some(stop_reason));
                    }
                }
                // The run waits for a person, or its end was stored elsewhere.
                None => {
                    if let Some(end) = at_rest(runtime, id, watching, held).await? {
                        return Ok(Some(end));
                    }
                    subscription = runtime.events(id, None).await?;
                }
            },
            Err(_) => {
                if let Some(end) = at_rest(runtime, id, watching, held).await? {
                    return Ok(Some(end));
                }
            }
        }
    }
}

/// The end of a session's run, if it has ended. One that is silent for too long is stopped.
async fn at_rest(
    runtime: &Runtime,
    id: Uuid,
    watching: &mut Watching,
    held: &Held<'_>,
) -> Result<Option<End>> {
    match runtime.session(id).await?.session.status {
        SessionStatus::Idle => Ok(Some(runtime.last_end(id).await?.unwrap_or(End::Cancelled))),
        SessionStatus::Waiting => {
            watching.on_wait();
            tokio::time::sleep(LOOK).await;
            // Another process may have stored the last answer: only this one pays for the calls that follow.
            runtime.resume_session(id).await;
            Ok(None)
        }
        SessionStatus::Running => {
            watching.on_silence();
            if watching.signal().is_some() {
                held.stop(runtime, id).await?;
            }
            Ok(None)
        }
    }
}

/// Why a run failed.
enum Failure {
    /// Its process died.
    Interrupted,
    Fault(Fault),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Interrupted => {
                Self::Transport { message: "the process that ran the session died".to_owned() }
            }
            Failure::Fault(fault) => fault,
        }
    }
}

async fn failure(runtime: &Runtime, session: Uuid) -> Result<Failure> {
    if let Some(fault) = runtime.conducting().take_fault(session) {
        return Ok(Failure::Fault(fault));
    }
    let Some((code, message)) = runtime.last_failure(session).await? else { return Ok(Failure::Interrupted) };
    let message = shortened(&message);
    Ok(match code {
        ErrorCode::Interrupted => Failure::Interrupted,
        ErrorCode::Transport | ErrorCode::RateLimited | ErrorCode::Storage => {
            Failure::Fault(Fault::Transport { message })
        }
        _ => Failure::Fault(Fault::Model { message }),
    })
}
