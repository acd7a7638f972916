//! Calling a model, and the next one when it fails.

use std::sync::Arc;
use std::time::Duration;

use agent::{
    Entry, ErrorCode, Escalation, Event, Mode, NextAttempt, Note, SelectionReason, Step, backoff, limits,
    messages, plan_reminder,
};
use chrono::Utc;
use futures::{FutureExt as _, StreamExt as _};
use llm::{CallBlock, Failure, ModelRef, Request, StopReason, System, Usage};
use sessions::{After, RunChange};

use super::drive::Driver;
use super::models::{Candidate, NoModel};
use super::record::{NotStored, Record, entry, noted};

/// Events of a reply that are not forwarded yet: first the text, then the entries.
#[derive(Default)]
struct Reply {
    passing: Option<(Passing, String)>,
    entries: Vec<Entry>,
    request_id: Option<String>,
}

/// A kind of text that is reported and not stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    Text,
    Reasoning,
}

impl Reply {
    /// Adds text. Pieces of one kind that arrive together are reported as one.
    async fn push(&mut self, record: &mut Record, kind: Passing, text: String) -> Result<(), NotStored> {
        if !self.entries.is_empty() || self.passing.as_ref().is_some_and(|(of, _)| *of != kind) {
            self.flush(record).await?;
        }
        match &mut self.passing {
            Some((_, passing)) => passing.push_str(&text),
            None => self.passing = Some((kind, text)),
        }
        Ok(())
    }

    /// Reports the text.
    fn report_text(&mut self, record: &Record) {
        if let Some((kind, content)) = self.passing.take() {
            record.report_passing(match kind {
                Passing::Text => Event::TextDelta { content },
                Passing::Reasoning => Event::ReasoningDelta { content },
            });
        }
    }

    /// Reports the text and records the entries.
    async fn flush(&mut self, record: &mut Record) -> Result<(), NotStored> {
        self.report_text(record);
        match self.entries.is_empty() {
            true => Ok(()),
            false => record.append(std::mem::take(&mut self.entries), RunChange::default()).await,
        }
    }
}

/// How one attempt ended.
enum Attempt {
    Finished,
    Cancelled,
    Failed(Failure),
}

impl Driver {
    /// Gets one reply from the first model that answers. The run fails if none does.
    pub(super) async fn call_model(&mut self) -> Result<(), NotStored> {
        let mode = self.record.mode();
        if mode == Mode::Plan {
            let problems = std::mem::take(&mut self.prepared.plan_problems);
            self.record.note_problems(problems).await?;
        }
        let requested = self.record.session.model.as_ref();
        let candidates = match self.models.candidates(requested, &self.prepared, mode).await {
            Ok(candidates) => candidates,
            Err(NoModel { code, message }) => return self.give_up(code, message).await,
        };
        self.make_room(&candidates, None).await?;
        let (start, mut reason) = self.models.first_choice(&candidates, &self.record.session);
        let mut escalation = Escalation::new(candidates.len(), start);
        let mut has_made_room = false;
        loop {
            let candidate = &candidates[escalation.current()];
            self.announce(candidate, reason).await?;
            let failure = match self.attempt(candidate, mode).await? {
                Attempt::Finished | Attempt::Cancelled => return Ok(()),
                Attempt::Failed(failure) => failure,
            };
            self.discard().await?;
            let next = escalation.on_failure(failure.kind, failure.retry_after);
            let code = ErrorCode::from(failure.kind);
            let wait = match next {
                NextAttempt::Retry(retry) => backoff(retry, rand::random()),
                NextAttempt::Wait(wait) => wait,
                NextAttempt::MoveOn => {
                    let (from, to) =
                        (candidate.model.clone(), candidates[escalation.current()].model.clone());
                    self.record
                        .note(Note::ModelEscalated { from, to, code, message: failure.message })
                        .await?;
                    reason = SelectionReason::Escalated;
                    continue;
                }
                NextAttempt::GiveUp if code == ErrorCode::ContextExceeded && !has_made_room => {
                    has_made_room = true;
                    if self.make_room(&candidates, Some(escalation.current())).await? {
                        escalation = Escalation::new(candidates.len(), escalation.current());
                        continue;
                    }
                    return self.give_up(code, failure.message).await;
                }
                NextAttempt::GiveUp => return self.give_up(code, with_retry_after(failure)).await,
            };
            tracing::info!(model = %candidate.model, %failure, ?wait, "a model is tried again");
            self.report_wait(candidate, code, failure.message, wait);
            tokio::select! {
                () = self.record.cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Reports that the model is called again after a pause.
    fn report_wait(&self, candidate: &Candidate, code: ErrorCode, message: String, wait: Duration) {
        let ModelRef { provider, model } = candidate.model.clone();
        let seconds = (wait.as_secs_f64() * 10.0).ceil() / 10.0;
        self.record.report_passing(Event::Waiting { provider, model, seconds, code, message });
    }

    async fn give_up(&mut self, code: ErrorCode, message: String) -> Result<(), NotStored> {
        let results = self.run.fail();
        let mut entries = vec![noted(Note::Error { code, message })];
        entries.extend(results.into_iter().map(entry));
        self.record.append(entries, RunChange::default()).await
    }

    /// Notes which model answers, unless viewers know.
    async fn announce(&mut self, candidate: &Candidate, reason: SelectionReason) -> Result<(), NotStored> {
        if self.announced.as_ref() == Some(&candidate.model) {
            return Ok(());
        }
        let model = candidate.model.clone();
        self.announced = Some(model.clone());
        self.record.note(Note::ModelSelected { model, reason }).await
    }

    async fn attempt(&mut self, candidate: &Candidate, mode: Mode) -> Result<Attempt, NotStored> {
        self.record.begin_attempt();
        let request = self.request(candidate, mode);
        let mut stream = candidate.provider.stream(request);
        let mut reply = Reply::default();
        loop {
            // Events that have arrived are taken together: one report, one transaction.
            let event = match stream.next().now_or_never() {
                Some(event) if !self.record.cancel.is_cancelled() => event,
                Some(_) => {
                    reply.flush(&mut self.record).await?;
                    return Ok(Attempt::Cancelled);
                }
                None => {
                    reply.flush(&mut self.record).await?;
                    tokio::select! {
                        biased;
                        () = self.record.cancel.cancelled() => return Ok(Attempt::Cancelled),
                        event = stream.next() => event,
                    }
                }
            };
            match event {
                Some(Ok(llm::Event::Started { request_id })) => {
                    reply.request_id = reply.request_id.or(request_id);
                }
                Some(Ok(llm::Event::TextDelta(text))) => {
                    self.run.on_text(&text);
                    reply.push(&mut self.record, Passing::Text, text).await?;
                    if self.run.text_bytes() > limits::REPLY_BYTES {
                        self.finish(candidate, StopReason::MaxTokens, Usage::default(), reply).await?;
                        return Ok(Attempt::Finished);
                    }
                }
                Some(Ok(llm::Event::ReasoningDelta(text))) => {
                    reply.push(&mut self.record, Passing::Reasoning, text).await?;
                }
                Some(Ok(llm::Event::Finished { stop, usage })) => {
                    self.finish(candidate, stop, usage, reply).await?;
                    return Ok(Attempt::Finished);
                }
                Some(Ok(mut event)) => {
                    if let llm::Event::ToolCall(CallBlock { call, .. }) = &mut event {
                        self.record.make_unique(call, &reply.entries);
                    }
                    reply.entries.extend(self.run.on_event(event).into_iter().map(entry));
                }
                Some(Err(failure)) => {
                    reply.flush(&mut self.record).await?;
                    return Ok(Attempt::Failed(self.prepared.conceal(failure)));
                }
                None => {
                    reply.flush(&mut self.record).await?;
                    let message = format!("{} ended its answer without saying so", candidate.model);
                    return Ok(Attempt::Failed(Failure::new(llm::FailureKind::Transport, message)));
                }
            }
        }
    }

    /// Completes the reply: records the rest of it, its usage, the model that answered, and the end of
    /// the run if it ends with this reply.
    async fn finish(
        &mut self,
        candidate: &Candidate,
        stop: StopReason,
        usage: Usage,
        mut reply: Reply,
    ) -> Result<(), NotStored> {
        reply.report_text(&self.record);
        let Reply { mut entries, request_id, .. } = reply;
        entries.extend(self.run.on_event(llm::Event::Finished { stop, usage }).into_iter().map(entry));
        let model = candidate.model.clone();
        entries.push(noted(Note::Usage { model: model.clone(), usage, request_id }));
        let mut change = RunChange::default();
        let session = &mut self.record.session;
        if session.answered_by.as_ref() != Some(&model) {
            let now = Utc::now();
            change.answered_by = Some((model.to_string(), now));
            session.answered_by = Some(model);
            session.answered_since = Some(now);
        }
        if let Step::Finished(end) = self.run.step() {
            entries.push(noted(Note::Done { stop_reason: end }));
            change.then = Some(After::Idle);
        }
        self.record.append(entries, change).await
    }

    /// Takes back the turns and the text of a failed attempt.
    async fn discard(&mut self) -> Result<(), NotStored> {
        let had_text = self.run.text_bytes() > 0;
        self.run.discard();
        self.record.discard_attempt(had_text).await
    }

    fn request(&self, candidate: &Candidate, mode: Mode) -> Request {
        let offered = self.toolset.offered(&self.prepared, mode);
        let stable = match &offered.strategy {
            Some(strategy) => format!("{}\n{strategy}\n", self.prepared.prompt),
            None => self.prepared.prompt.clone(),
        };
        let reminder = match mode {
            Mode::Plan => Some(plan_reminder(self.prepared.plan_instruction.as_deref())),
            Mode::Build => None,
        };
        let mut messages = messages(&self.record.turns);
        self.prepared.fill(&mut messages);
        Request {
            model: candidate.model.model.clone(),
            system: System { stable, reminder },
            messages,
            tools: Arc::clone(&offered.specs),
            sampling: candidate.sampling,
        }
    }
}

/// Why a model failed, and when it can be called again: later than the loop waits.
fn with_retry_after(failure: Failure) -> String {
    let Failure { message, retry_after, .. } = failure;
    match retry_after {
        Some(after) => {
            let message = message.trim_end_matches('.');
            format!("{message}; it wants to be asked again after {} s", after.as_secs_f64().ceil())
        }
        None => message,
    }
}
