//! Watches a session's answers: shows them, asks for approvals, and stops them on request.

use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::time::Duration;

use agent::{ErrorCode, Event, Refusal, SessionStatus, ToolCall, limits};
use app::ErrorKind;
use app::running::{Decision, Runtime, SendOptions, Subscription};
use futures::future::BoxFuture;
use uuid::Uuid;

use super::{ApprovalRequest, Outcome, RefusedCall, Viewer, error_text, label, permission};
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::signals::{Shutdown, Signal};

/// How long the last events of a stopped run may take to arrive.
const LAST_EVENTS: Duration = Duration::from_millis(200);
/// How long runs may take to stop when the user does not want to wait.
const LAST_GRACE: Duration = Duration::from_millis(250);
/// Sending may take this long without a notice.
const PATIENCE: Duration = Duration::from_millis(700);
/// The source of approvals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approver {
    /// The user, at a terminal.
    User,
    /// No one: the run's policy refuses calls that need approval.
    None,
    /// The user, later. The session waits.
    Later,
}

/// Watches the answers of one session.
pub(crate) struct Watch<'a> {
    runtime: &'a Runtime,
    session: Uuid,
    approver: Approver,
    shutdown: Shutdown,
    /// Tools that the user always allows in this session.
    allowed: BTreeSet<(Uuid, String)>,
}

/// A run that is stopping because the process ends.
type Stopping<'a> = Option<(Signal, BoxFuture<'a, ()>)>;

/// Facts gathered from an answer's events.
#[derive(Debug, Default)]
struct AnswerFacts {
    error: Option<(ErrorCode, String)>,
    plan: Option<String>,
    /// The calls under way, by id.
    calls: HashMap<String, ToolCall>,
    refused: Vec<RefusedCall>,
}

impl AnswerFacts {
    /// Takes an event in. Returns the call that it refuses because there was no one to approve it.
    fn event(&mut self, event: &Event) -> Option<ToolCall> {
        match event {
            Event::PlanReady { plan } => self.plan = Some(plan.clone()),
            Event::Error { code, message } if !code.is_warning() => {
                self.error = Some((*code, message.clone()));
            }
            Event::ToolCall { call, .. } => {
                self.calls.insert(call.id.clone(), call.clone());
            }
            Event::ToolResult { tool_use_id, refusal, .. } => {
                let call = self.calls.remove(tool_use_id);
                return call.filter(|_| *refusal == Some(Refusal::NobodyToAsk));
            }
            _ => {}
        }
        None
    }
}

impl<'a> Watch<'a> {
    pub(crate) fn new(runtime: &'a Runtime, session: Uuid, approver: Approver, shutdown: Shutdown) -> Self {
        Self { runtime, session, approver, shutdown, allowed: BTreeSet::new() }
    }

    pub(crate) fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    /// Sends a message.
    pub(crate) async fn send(
        &self,
        message: String,
        options: SendOptions,
        output: &mut Output,
    ) -> Result<app::Result<Subscription>> {
        self.begin(self.runtime.send(self.session, message, options), output).await
    }

    /// Waits until a message is sent. Ctrl-C cancels the run as soon as it has begun, so that no run is left
    /// unwatched.
    pub(crate) async fn begin(
        &self,
        sending: impl Future<Output = app::Result<Subscription>>,
        output: &mut Output,
    ) -> Result<app::Result<Subscription>> {
        let mut sending = pin!(sending);
        let mut slow = pin!(tokio::time::sleep(PATIENCE));
        let (mut interrupted, mut is_explained) = (false, false);
        loop {
            tokio::select! {
                biased;
                _ = tokio::signal::ctrl_c() => {
                    if interrupted {
                        return Err(Failure::Interrupted);
                    }
                    interrupted = true;
                }
                sent = &mut sending => {
                    if interrupted && sent.is_ok() {
                        self.runtime.cancel(self.session).await?;
                    }
                    return Ok(sent);
                }
                () = &mut slow, if !is_explained => {
                    is_explained = true;
                    let now = self.runtime.session(self.session).await;
                    if now.is_ok_and(|view| view.session.status == SessionStatus::Running) {
                        let longest = limits::LEASE_PATIENCE.as_secs();
                        let notice = format!("Another process runs this session; waiting up to {longest} s.");
                        output.advise(&notice)?;
                    }
                }
            }
        }
    }

    /// Shows an answer to its end. Ctrl-C cancels it; a second one leaves at once. On a shutdown request,
    /// the answer stops first, and its text so far is stored.
    pub(crate) async fn until_done(
        &mut self,
        subscription: &mut Subscription,
        viewer: &mut Viewer,
        output: &mut Output,
    ) -> Result<Outcome> {
        let runtime = self.runtime;
        let (mut facts, mut cancelled) = (AnswerFacts::default(), false);
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        let mut stopping: Stopping<'_> = None;
        loop {
            let reported = {
                let mut next = pin!(subscription.next());
                loop {
                    tokio::select! {
                        biased;
                        _ = &mut interrupt => {
                            if cancelled {
                                viewer.leave(output)?;
                                return Err(Failure::Interrupted);
                            }
                            cancelled = true;
                            interrupt.set(tokio::signal::ctrl_c());
                            runtime.cancel(self.session).await?;
                        }
                        signal = self.shutdown.requested(), if stopping.is_none() => {
                            stopping = Some((signal, Box::pin(stop_runs(runtime))));
                        }
                        reported = &mut next => break reported?,
                        signal = wait_until_stopped(&mut stopping) => {
                            viewer.leave(output)?;
                            return Err(Failure::Stopped(signal));
                        }
                    }
                }
            };
            let Some(reported) = reported else {
                return Err(CommandError::NoAnswer.into());
            };
            viewer.event(&reported, output)?;
            if let Some(call) = facts.event(&reported.event) {
                let concerns = runtime.preview(self.session, &call).await?.concerns;
                facts.refused.push(RefusedCall { label: label(&call), always_asks: !concerns.is_empty() });
            }
            match &reported.event {
                Event::ApprovalRequest { session_id, call } if !cancelled && stopping.is_none() => {
                    let request = ApprovalRequest { session: *session_id, call: call.clone() };
                    cancelled = !self.permit(&request, viewer, output).await?;
                }
                Event::Done { stop_reason } => {
                    if let Some((signal, _)) = stopping {
                        return Err(Failure::Stopped(signal));
                    }
                    let AnswerFacts { error, plan, refused, .. } = facts;
                    return Ok(Outcome { end: *stop_reason, error, plan, refused });
                }
                _ => {}
            }
        }
    }

    /// Asks about one call and passes the answer on. False if the run was cancelled instead.
    pub(crate) async fn permit(
        &mut self,
        request: &ApprovalRequest,
        viewer: &mut Viewer,
        output: &mut Output,
    ) -> Result<bool> {
        let key = (request.session, request.call.name.clone());
        let preview = self.runtime.preview(request.session, &request.call).await?;
        let decision = match (viewer, self.approver) {
            // An answer for the rest of the session is none about a protected or secret file.
            _ if preview.concerns.is_empty() && self.allowed.contains(&key) => {
                Some(Decision { approved: true, ..Decision::default() })
            }
            (Viewer::Person(printer), Approver::User) => {
                let to = printer.end_line(output)?;
                let question = permission::Question::new(&request.call, &preview, to);
                // The question stays open if the process ends.
                self.shutdown.race(question.ask(output)).await?
            }
            // There is no one to ask now.
            (viewer, Approver::Later | Approver::None | Approver::User) => {
                viewer.leave(output)?;
                let (id, call) = (self.session, label(&request.call));
                output.advise(&format!(
                    "The session needs another approval, for {call}: `masque sessions approve {id} --all`."
                ))?;
                return Err(Failure::Unfinished);
            }
        };
        let Some(decision) = decision else {
            self.runtime.cancel(self.session).await?;
            return Ok(false);
        };
        self.decide(request, decision, output).await?;
        Ok(true)
    }

    /// Passes the answer to a request on.
    pub(crate) async fn decide(
        &mut self,
        ApprovalRequest { session, call }: &ApprovalRequest,
        decision: Decision,
        output: &mut Output,
    ) -> Result<()> {
        if decision.approved && decision.remember {
            self.allowed.insert((*session, call.name.clone()));
        }
        match self.runtime.decide(*session, &call.id, decision).await {
            // Another front answered first.
            Err(error) if error.kind() == ErrorKind::Conflict => output.advise(&error_text(error))?,
            decided => {
                decided?;
            }
        }
        Ok(())
    }
}

/// Stops all runs, and leaves their last events time to arrive.
async fn stop_runs(runtime: &Runtime) {
    runtime.stop().await;
    tokio::time::sleep(LAST_EVENTS).await;
}

/// Waits until the run has stopped. Never ends if none is stopping.
async fn wait_until_stopped(stopping: &mut Stopping<'_>) -> Signal {
    match stopping {
        Some((signal, done)) => {
            done.await;
            *signal
        }
        None => std::future::pending().await,
    }
}

/// Stops all runs before the process ends. After a second Ctrl-C it does not wait for long. A signal
/// that arrived meanwhile replaces a failure.
pub(crate) async fn stop<T>(runtime: &Runtime, shutdown: &Shutdown, outcome: Result<T>) -> Result<T> {
    match outcome {
        Err(Failure::Interrupted) => {
            let _ = tokio::time::timeout(LAST_GRACE, runtime.stop()).await;
        }
        _ => runtime.stop().await,
    }
    match (shutdown.signal(), outcome) {
        (Some(signal), Err(_)) => Err(Failure::Stopped(signal)),
        (_, outcome) => outcome,
    }
}
