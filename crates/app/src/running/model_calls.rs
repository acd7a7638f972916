//! Calling a model, and the next one when it fails.

use std::sync::Arc;
use std::time::Duration;

use agent::{
    Conversation, ErrorCode, Escalation, Event, Mode, NextAttempt, Note, SelectionReason, backoff, limits,
    plan_reminder,
};
use futures::{FutureExt as _, StreamExt as _};
use llm::{CallBlock, Failure, FailureKind, ModelRef, Request, StopReason, System, Usage};

use super::active_run::{ActiveRun, Completion};
use super::conducting::all_paid;
use super::meter::{Meter, all_metered};
use super::models::{Candidate, Models, NoModel};
use super::prepare::RunProblem;
use super::project_files::ProjectFiles;
use super::record::{NotStored, Record, entry};
use super::reply_buffer::{Passing, ReplyBuffer};
use super::room::make_room;
use super::spans;
use super::toolset::Toolset;
use crate::conducting::Till;

/// Calls the models of one run.
pub(super) struct ModelCaller {
    models: Arc<Models>,
    toolset: Arc<Toolset>,
    /// The model that viewers heard of last.
    announced: Option<ModelRef>,
    /// Noted before the first call in plan mode.
    plan_problems: Vec<RunProblem>,
    /// Counts the calls, and may refuse one.
    meter: Option<Arc<Meter>>,
    /// Pays for the calls of a session that works for a track, and may refuse one.
    till: Option<Arc<Till>>,
    files: ProjectFiles,
    /// The files of the project in the prompt, from the first call on.
    shown: Option<ShownFiles>,
}

/// The files in the prompt of one run.
#[derive(Debug, Default)]
struct ShownFiles {
    /// Absent if there are none.
    text: Option<String>,
    tokens: usize,
}

/// How one attempt ended.
enum Attempt {
    Finished,
    Cancelled,
    Failed(Failure),
}

impl ModelCaller {
    pub(super) fn new(
        models: Arc<Models>,
        files: ProjectFiles,
        toolset: Arc<Toolset>,
        plan_problems: Vec<RunProblem>,
    ) -> Self {
        Self { models, toolset, announced: None, plan_problems, meter: None, till: None, files, shown: None }
    }

    /// Leaves out the note about this model: viewers know.
    pub(super) fn skip_note(&mut self, announced: Option<ModelRef>) {
        self.announced = announced;
    }

    /// Counts all calls from now on.
    pub(super) fn count(&mut self, meter: Option<Arc<Meter>>) {
        self.meter = meter;
    }

    /// Has all calls from now on paid for.
    pub(super) fn pay(&mut self, till: Option<Arc<Till>>) {
        self.till = till;
    }

    /// Gets one reply from the first model that answers. The run fails if none does.
    pub(super) async fn call(&mut self, run: &mut ActiveRun) -> Result<(), NotStored> {
        let mode = run.record.live.mode();
        if mode == Mode::Plan {
            run.record.note_problems(std::mem::take(&mut self.plan_problems)).await?;
        }
        let toolset = Arc::clone(&self.toolset);
        let (requested, persona) = (run.record.session.model.as_ref(), toolset.persona());
        let candidates = match self.models.candidates(requested, persona, mode).await {
            Ok(candidates) => all_paid(all_metered(candidates, self.meter.as_ref()), self.till.as_ref()),
            Err(NoModel { code, message }) => return run.fail(code, message).await,
        };
        let models = Arc::clone(&self.models);
        let prompt_tokens = persona.prompt_tokens() + self.show_files(run, &candidates[0]).await?;
        make_room(&mut run.record, prompt_tokens, &candidates[0], &models, false).await?;
        let (first, mut reason) = self.models.first_choice(&candidates, &run.record.session);
        let mut escalation = Escalation::new(candidates.len(), first);
        let mut has_made_room = false;
        loop {
            let candidate = &candidates[escalation.current()];
            self.announce(&mut run.record, candidate, reason).await?;
            let start = run.record.begin_attempt();
            let failure = match self.attempt(run, candidate, mode).await? {
                Attempt::Finished | Attempt::Cancelled => return Ok(()),
                Attempt::Failed(failure) => persona.conceal(failure),
            };
            run.discard_attempt(start).await?;
            let code = ErrorCode::from(failure.kind);
            let wait = match escalation.on_failure(failure.kind, failure.retry_after) {
                NextAttempt::Retry(retry) => backoff(retry, rand::random()),
                NextAttempt::Wait(wait) => wait,
                NextAttempt::MoveOn => {
                    let (from, to) =
                        (candidate.model.clone(), candidates[escalation.current()].model.clone());
                    let note = Note::ModelEscalated { from, to, code, message: failure.message };
                    run.record.note(note).await?;
                    reason = SelectionReason::Escalated;
                    continue;
                }
                NextAttempt::GiveUp if code == ErrorCode::ContextExceeded && !has_made_room => {
                    has_made_room = true;
                    if make_room(&mut run.record, prompt_tokens, candidate, &models, true).await? {
                        escalation = Escalation::new(candidates.len(), escalation.current());
                        continue;
                    }
                    return run.fail(code, failure.message).await;
                }
                NextAttempt::GiveUp => return run.fail(code, with_retry_after(failure)).await,
            };
            tracing::info!(model = %candidate.model, %failure, ?wait, "a model is tried again");
            report_wait(&run.record, candidate, code, failure.message, wait);
            tokio::select! {
                () = run.record.cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Reads the files of the project at the first call of a run, and returns their tokens. They stay as they
    /// are until its end, so that providers can cache them.
    async fn show_files(&mut self, run: &mut ActiveRun, candidate: &Candidate) -> Result<usize, NotStored> {
        if let Some(shown) = &self.shown {
            return Ok(shown.tokens);
        }
        let persona = self.toolset.persona();
        let read = self.files.for_run(&run.record, persona, candidate, &self.models).await;
        run.record.note_problems(read.notes).await?;
        let shown = read.context.map_or_else(ShownFiles::default, |context| ShownFiles {
            text: (!context.text.is_empty()).then_some(context.text),
            tokens: context.tokens,
        });
        Ok(self.shown.insert(shown).tokens)
    }

    /// Notes which model answers, unless viewers know.
    async fn announce(
        &mut self,
        record: &mut Record,
        candidate: &Candidate,
        reason: SelectionReason,
    ) -> Result<(), NotStored> {
        if self.announced.as_ref() == Some(&candidate.model) {
            return Ok(());
        }
        let model = candidate.model.clone();
        self.announced = Some(model.clone());
        record.note(Note::ModelSelected { model, reason }).await
    }

    async fn attempt(
        &self,
        run: &mut ActiveRun,
        candidate: &Candidate,
        mode: Mode,
    ) -> Result<Attempt, NotStored> {
        let request = self.request(&run.record.turns, candidate, mode);
        let mut stream = spans::chat(&*candidate.provider, request, Some(&run.record));
        let mut reply = ReplyBuffer::default();
        loop {
            // Events that have arrived are taken together: one report, one transaction.
            let event = match stream.next().now_or_never() {
                Some(event) if !run.is_cancelled() => event,
                Some(_) => {
                    reply.flush(&mut run.record).await?;
                    return Ok(Attempt::Cancelled);
                }
                None => {
                    reply.flush(&mut run.record).await?;
                    tokio::select! {
                        biased;
                        () = run.record.cancel.cancelled() => return Ok(Attempt::Cancelled),
                        event = stream.next() => event,
                    }
                }
            };
            match event {
                Some(Ok(llm::ReplyEvent::Started { request_id })) => {
                    reply.request_id = reply.request_id.or(request_id);
                }
                Some(Ok(llm::ReplyEvent::TextDelta(text))) => {
                    run.machine.on_text(&text);
                    reply.push(&mut run.record, Passing::Text, text).await?;
                    if run.machine.text_bytes() > limits::REPLY_BYTES {
                        let (stop, usage) = (StopReason::MaxTokens, Usage::default());
                        let end = Completion { stop, usage, cost: None };
                        run.complete_reply(reply, candidate.model.clone(), end).await?;
                        return Ok(Attempt::Finished);
                    }
                }
                Some(Ok(llm::ReplyEvent::ReasoningDelta(text))) => {
                    reply.push(&mut run.record, Passing::Reasoning, text).await?;
                }
                Some(Ok(llm::ReplyEvent::Finished { stop, usage, model: _ })) => {
                    let cost = self.models.count(&run.record.session.persona, &candidate.model, usage);
                    let end = Completion { stop, usage, cost };
                    run.complete_reply(reply, candidate.model.clone(), end).await?;
                    return Ok(Attempt::Finished);
                }
                Some(Ok(mut event)) => {
                    if let llm::ReplyEvent::ToolCall(CallBlock { call, .. }) = &mut event {
                        run.record.make_unique(call, &reply.entries);
                    }
                    reply.entries.extend(run.machine.on_event(event).into_iter().map(entry));
                }
                Some(Err(failure)) => {
                    reply.flush(&mut run.record).await?;
                    return Ok(Attempt::Failed(failure));
                }
                None => {
                    reply.flush(&mut run.record).await?;
                    let message = format!("{} ended its answer without saying so", candidate.model);
                    return Ok(Attempt::Failed(Failure::new(FailureKind::Transport, message)));
                }
            }
        }
    }

    fn request(&self, turns: &Conversation, candidate: &Candidate, mode: Mode) -> Request {
        let (persona, offer) = (self.toolset.persona(), self.toolset.offered(mode));
        let stable = match &offer.strategy {
            Some(strategy) => format!("{}\n{strategy}\n", persona.prompt),
            None => persona.prompt.clone(),
        };
        let reminder = match mode {
            Mode::Plan => Some(plan_reminder(persona.plan_instruction.as_deref())),
            Mode::Build => None,
        };
        let files = self.shown.as_ref().and_then(|shown| shown.text.clone());
        let mut messages = turns.messages();
        persona.fill(&mut messages);
        Request {
            model: candidate.model.model.clone(),
            system: System { stable, context: files, reminder },
            messages,
            tools: Arc::clone(&offer.specs),
            sampling: candidate.sampling,
            output: None,
            may_omit: &[],
        }
    }
}

/// Reports that the model is called again after a pause.
fn report_wait(record: &Record, candidate: &Candidate, code: ErrorCode, message: String, wait: Duration) {
    let ModelRef { provider, model } = candidate.model.clone();
    let seconds = (wait.as_secs_f64() * 10.0).ceil() / 10.0;
    record.live.feed.report_passing(Event::Waiting { provider, model, seconds, code, message });
}

/// The failure's message, and when the model can be called again: later than the loop waits.
fn with_retry_after(failure: Failure) -> String {
    let Failure { message, retry_after, .. } = failure;
    match retry_after {
        Some(after) => {
            let message = message.trim_end_matches('.');
            format!("{message}; try again in {} s", after.as_secs_f64().ceil())
        }
        None => message,
    }
}
