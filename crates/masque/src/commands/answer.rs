//! An answer as it comes: shown, asked about, and interrupted.

use std::collections::BTreeSet;
use std::pin::pin;

use agent::{End, ErrorCode, Event};
use app::running::{Decision, Runtime, SendOptions, Subscription, Told};
use app::{Error, ErrorKind};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::failure::{Failure, Result};
use crate::output::Output;

mod call;
pub(super) use call::{label, outcome};

mod markdown;
pub(super) use markdown::Markdown;

mod permission;

mod teller;
pub(super) use teller::Teller;

mod lines;
pub(super) use lines::opened;

/// Who is shown what happens.
pub(super) enum Viewer {
    Person(Box<Teller>),
    /// Each event is a line of JSON.
    Program,
}

impl Viewer {
    fn event(&mut self, told: &Told, output: &mut Output) -> Result<()> {
        match self {
            Self::Person(teller) => teller.event(&told.event, output),
            Self::Program => lines::event(told, output),
        }
    }

    /// Leaves the terminal as it was, in the middle of an answer.
    fn leave(&mut self, output: &mut Output) -> Result<()> {
        if let Self::Person(teller) = self {
            teller.make_way(output)?;
        }
        Ok(())
    }
}

/// How an answer came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) end: End,
    /// Why it failed, where it did.
    pub(super) error: Option<(ErrorCode, String)>,
    /// What was handed over.
    pub(super) plan: Option<String>,
}

/// A call that somebody has to allow.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) session: Uuid,
    pub(super) call_id: String,
    pub(super) tool_name: String,
    pub(super) input: Map<String, Value>,
}

/// Watches a session's answers, for as long as somebody talks to it.
pub(super) struct Watch<'a> {
    runtime: &'a Runtime,
    session: Uuid,
    /// Whether somebody is there who can be asked.
    asks: bool,
    /// The tools that are allowed from now on; calls of one reply were asked for together.
    allowed: BTreeSet<(Uuid, String)>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(runtime: &'a Runtime, session: Uuid, asks: bool) -> Self {
        Self { runtime, session, asks, allowed: BTreeSet::new() }
    }

    /// Says something. Ctrl-C meanwhile stops the answer as soon as there is one: a message that is
    /// half sent would leave the session to nobody.
    pub(super) async fn send(
        &self,
        message: String,
        options: SendOptions,
    ) -> Result<app::Result<Subscription>> {
        let mut sending = pin!(self.runtime.send(self.session, message, options));
        let mut interrupted = false;
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
            }
        }
    }

    /// Shows an answer to its end. Ctrl-C cancels it; once more leaves it at once.
    pub(super) async fn until_done(
        &mut self,
        subscription: &mut Subscription,
        viewer: &mut Viewer,
        output: &mut Output,
    ) -> Result<Outcome> {
        let (mut error, mut plan, mut cancelled) = (None, None, false);
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        loop {
            let told = {
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
                            self.runtime.cancel(self.session).await?;
                        }
                        told = &mut next => break told?,
                    }
                }
            };
            let Some(told) = told else {
                return Err(Failure::broken("the answer ended without a word; `masque doctor` may know why"));
            };
            viewer.event(&told, output)?;
            match &told.event {
                Event::ApprovalRequest { session_id, tool_use_id, tool_name, input } if !cancelled => {
                    let asked = Asked {
                        session: *session_id,
                        call_id: tool_use_id.clone(),
                        tool_name: tool_name.clone(),
                        input: input.clone(),
                    };
                    cancelled = !self.permit(&asked, viewer, output).await?;
                }
                Event::PlanReady { plan: handed_over } => plan = Some(handed_over.clone()),
                Event::Error { code, message } if *code != ErrorCode::Persona => {
                    error = Some((*code, message.clone()));
                }
                Event::Done { stop_reason } => return Ok(Outcome { end: *stop_reason, error, plan }),
                _ => {}
            }
        }
    }

    /// Asks for one call and passes the answer on. False where the run was cancelled instead.
    pub(super) async fn permit(
        &mut self,
        asked: &Asked,
        viewer: &mut Viewer,
        output: &mut Output,
    ) -> Result<bool> {
        let Asked { session, call_id, tool_name, input } = asked;
        let key = (*session, tool_name.clone());
        let decision = match viewer {
            _ if self.allowed.contains(&key) => Some(Decision { approved: true, ..Decision::default() }),
            Viewer::Person(teller) if self.asks => {
                let to = teller.make_way(output)?;
                permission::show(tool_name, input, to, output)?;
                permission::ask(output).await?
            }
            // Nobody can be asked, so nobody has allowed it.
            _ => Some(Decision::default()),
        };
        let Some(decision) = decision else {
            self.runtime.cancel(self.session).await?;
            return Ok(false);
        };
        if decision.approved && decision.remember {
            self.allowed.insert(key);
        }
        match self.runtime.decide(*session, call_id, decision).await {
            // Somebody else was faster, and the run has gone on.
            Err(error) if error.kind() == ErrorKind::Conflict => output.advise(&error.to_string())?,
            decided => {
                decided?;
            }
        }
        Ok(true)
    }
}

impl Outcome {
    /// The failure that a program ends with; none where the answer is whole.
    pub(super) fn failure(&self) -> Option<Failure> {
        match self.end {
            End::EndTurn => None,
            End::Cancelled => Some(Failure::Interrupted),
            End::MaxTokens | End::MaxToolRounds | End::LoopDetected => Some(Failure::Unfinished),
            End::Refusal => Some(Failure::told(ErrorKind::Denied, "the model refused to answer")),
            End::Failed => {
                let (kind, message) = match &self.error {
                    Some((code, message)) => (kind(*code), with_advice(*code, message)),
                    None => (ErrorKind::Broken, "no model answered; `masque doctor` shows why".to_owned()),
                };
                Some(Failure::told(kind, message))
            }
        }
    }
}

fn kind(code: ErrorCode) -> ErrorKind {
    match code {
        ErrorCode::RateLimited => ErrorKind::Busy,
        ErrorCode::Unauthorized => ErrorKind::Denied,
        ErrorCode::UnknownModel | ErrorCode::UnknownProvider => ErrorKind::Missing,
        ErrorCode::Transport
        | ErrorCode::ContextExceeded
        | ErrorCode::Rejected
        | ErrorCode::Persona
        | ErrorCode::Storage => ErrorKind::Broken,
    }
}

/// What went wrong, and what to do about it.
pub(super) fn with_advice(code: ErrorCode, message: &str) -> String {
    let advice = match code {
        ErrorCode::Unauthorized => "`masque doctor` shows which keys were found",
        ErrorCode::UnknownModel | ErrorCode::UnknownProvider => "`masque models` lists what answers",
        ErrorCode::Transport => "`masque doctor` tries every provider",
        ErrorCode::RateLimited => "wait a while, or choose another model with --model",
        ErrorCode::ContextExceeded => "begin a new session, or choose another model with --model",
        ErrorCode::Rejected | ErrorCode::Persona | ErrorCode::Storage => return message.to_owned(),
    };
    // Whoever made the message may have said it already.
    let (_, command) = advice.split_once('`').unwrap_or_default();
    match command.split_once('`') {
        Some((command, _)) if message.contains(command) => message.to_owned(),
        _ => format!("{}; {advice}", message.trim_end_matches('.')),
    }
}

/// What a person is told of an end that is no natural one.
pub(super) fn end_in_words(end: End) -> Option<&'static str> {
    match end {
        End::EndTurn => None,
        End::MaxTokens => Some("the answer reached the model's limit of tokens (max_tokens)"),
        End::Refusal => Some("the model refused to answer (refusal)"),
        End::Cancelled => Some("stopped (cancelled)"),
        End::MaxToolRounds => {
            Some("stopped after as many rounds with tools as it may have (max_tool_rounds)")
        }
        End::LoopDetected => Some("stopped: it called the same tools again and again (loop_detected)"),
        End::Failed => Some("there is no answer (failed)"),
    }
}

/// An error that the talk goes on after, for people.
pub(super) fn in_words(error: Error) -> String {
    match Failure::from(error) {
        Failure::Told { message, .. } => message,
        other => format!("{other:?}"),
    }
}
