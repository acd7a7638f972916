//! Calling a model, and the next one when it fails.

use std::sync::Arc;
use std::time::Duration;

use agent::{
    Entry, ErrorCode, Escalation, Event, Mode, NextAttempt, Note, SelectionReason, Step, Turn, TurnBody,
    backoff, limits, messages, plan_reminder,
};
use chrono::Utc;
use futures::{FutureExt as _, StreamExt as _};
use llm::{CallBlock, Failure, ModelRef, Request, StopReason, System, Usage};
use sessions::{After, RunChange};
use uuid::Uuid;

use super::drive::{Driver, NotKept, entry, noted};
use super::models::{Candidate, NoModel};

/// What has arrived of a reply and was not passed on yet: first the text, then the entries.
#[derive(Default)]
struct Reply {
    passing: Option<(Passing, String)>,
    entries: Vec<Entry>,
    request_id: Option<String>,
}

/// Text that is told and not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    Text,
    Reasoning,
}

fn event_of((kind, content): (Passing, String)) -> Event {
    match kind {
        Passing::Text => Event::TextDelta { content },
        Passing::Reasoning => Event::ReasoningDelta { content },
    }
}

/// How one attempt ended.
enum Attempt {
    Finished,
    Cancelled,
    Failed(Failure),
}

impl Driver {
    /// One reply of whichever model answers; the run fails where none does.
    pub(super) async fn call_model(&mut self) -> Result<(), NotKept> {
        let mode = self.mode();
        if mode == Mode::Plan {
            let problems = std::mem::take(&mut self.prepared.plan_problems);
            self.tell_problems(problems).await?;
        }
        let candidates =
            match self.runtime.candidates(self.session.model.as_ref(), &self.prepared, mode).await {
                Ok(candidates) => candidates,
                Err(NoModel { code, message }) => return self.give_up(code, message).await,
            };
        self.make_room(&candidates, None).await?;
        let (start, mut reason) = self.runtime.first_choice(&candidates, &self.session);
        let mut escalation = Escalation::new(candidates.len(), start);
        let mut has_made_room = false;
        loop {
            let candidate = &candidates[escalation.current()];
            self.tell_model(candidate, reason).await?;
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
                    self.note(Note::ModelEscalated { from, to, code, message: failure.message }).await?;
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
            self.tell_wait(candidate, code, failure.message, wait);
            tokio::select! {
                () = self.cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Says that nothing is heard for a while because the model is asked again then.
    fn tell_wait(&self, candidate: &Candidate, code: ErrorCode, message: String, wait: Duration) {
        let ModelRef { provider, model } = candidate.model.clone();
        let seconds = (wait.as_secs_f64() * 10.0).ceil() / 10.0;
        self.live.tell_passing(Event::Waiting { provider, model, seconds, code, message });
    }

    async fn give_up(&mut self, code: ErrorCode, message: String) -> Result<(), NotKept> {
        let results = self.run.fail();
        let mut entries = vec![noted(Note::Error { code, message })];
        entries.extend(results.into_iter().map(entry));
        self.keep(entries, RunChange::default()).await
    }

    /// Says which model answers, unless that was said already.
    async fn tell_model(&mut self, candidate: &Candidate, reason: SelectionReason) -> Result<(), NotKept> {
        if self.told_model.as_ref() == Some(&candidate.model) {
            return Ok(());
        }
        let model = candidate.model.clone();
        self.told_model = Some(model.clone());
        self.note(Note::ModelSelected { model, reason }).await
    }

    async fn attempt(&mut self, candidate: &Candidate, mode: Mode) -> Result<Attempt, NotKept> {
        self.attempt_from = self.session.last_seq + 1;
        self.attempt_turns = self.turns.len();
        let request = self.request(candidate, mode);
        let mut stream = candidate.provider.stream(request);
        let mut reply = Reply::default();
        loop {
            // What has arrived already is taken in one go: it is told and kept together.
            let event = match stream.next().now_or_never() {
                Some(event) if !self.cancel.is_cancelled() => event,
                Some(_) => {
                    self.let_go(&mut reply).await?;
                    return Ok(Attempt::Cancelled);
                }
                None => {
                    self.let_go(&mut reply).await?;
                    tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => return Ok(Attempt::Cancelled),
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
                    self.pass(&mut reply, Passing::Text, text).await?;
                    if self.run.text_bytes() > limits::REPLY_BYTES {
                        self.finish(candidate, StopReason::MaxTokens, Usage::default(), reply).await?;
                        return Ok(Attempt::Finished);
                    }
                }
                Some(Ok(llm::Event::ReasoningDelta(text))) => {
                    self.pass(&mut reply, Passing::Reasoning, text).await?;
                }
                Some(Ok(llm::Event::Finished { stop, usage })) => {
                    self.finish(candidate, stop, usage, reply).await?;
                    return Ok(Attempt::Finished);
                }
                Some(Ok(mut event)) => {
                    self.name_call(&mut event, &reply.entries);
                    reply.entries.extend(self.run.on_event(event).into_iter().map(entry));
                }
                Some(Err(failure)) => {
                    self.let_go(&mut reply).await?;
                    return Ok(Attempt::Failed(self.prepared.conceal(failure)));
                }
                None => {
                    self.let_go(&mut reply).await?;
                    let message = format!("{} ended its answer without saying so", candidate.model);
                    return Ok(Attempt::Failed(Failure::new(llm::FailureKind::Transport, message)));
                }
            }
        }
    }

    /// Text passes by; pieces of one kind that arrived together are told as one.
    async fn pass(&mut self, reply: &mut Reply, kind: Passing, text: String) -> Result<(), NotKept> {
        if !reply.entries.is_empty() || reply.passing.as_ref().is_some_and(|(of, _)| *of != kind) {
            self.let_go(reply).await?;
        }
        match &mut reply.passing {
            Some((_, passing)) => passing.push_str(&text),
            None => reply.passing = Some((kind, text)),
        }
        Ok(())
    }

    /// Tells and keeps what has arrived.
    async fn let_go(&mut self, reply: &mut Reply) -> Result<(), NotKept> {
        if let Some(passing) = reply.passing.take() {
            self.live.tell_passing(event_of(passing));
        }
        match reply.entries.is_empty() {
            true => Ok(()),
            false => self.keep(std::mem::take(&mut reply.entries), RunChange::default()).await,
        }
    }

    /// A call has a name of its own in all of the session: its permission and its delegate are found
    /// by it. Providers look only at what they are shown, and older turns may have been summed up.
    fn name_call(&self, event: &mut llm::Event, ready: &[Entry]) {
        let llm::Event::ToolCall(CallBlock { call, .. }) = event else { return };
        let ready = ready.iter().filter_map(|entry| match entry {
            Entry::Turn(turn) => Some(turn),
            Entry::Note { .. } => None,
        });
        let is_taken =
            self.turns.iter().chain(ready).any(
                |turn| matches!(&turn.body, TurnBody::ToolCall { call: taken, .. } if taken.id == call.id),
            );
        if is_taken {
            call.id = format!("call_{}", Uuid::now_v7().simple());
        }
    }

    /// The reply is complete: keeps what is left of it, what it cost, who gave it, and the end of
    /// the run where it is that.
    async fn finish(
        &mut self,
        candidate: &Candidate,
        stop: StopReason,
        usage: Usage,
        reply: Reply,
    ) -> Result<(), NotKept> {
        let Reply { passing, mut entries, request_id } = reply;
        if let Some(passing) = passing {
            self.live.tell_passing(event_of(passing));
        }
        entries.extend(self.run.on_event(llm::Event::Finished { stop, usage }).into_iter().map(entry));
        let model = candidate.model.clone();
        entries.push(noted(Note::Usage { model: model.clone(), usage, request_id }));
        let mut change = RunChange::default();
        if self.session.answered_by.as_ref() != Some(&model) {
            let now = Utc::now();
            change.answered_by = Some((model.to_string(), now));
            self.session.answered_by = Some(model);
            self.session.answered_since = Some(now);
        }
        if let Step::Finished(end) = self.run.step() {
            entries.push(noted(Note::Done { stop_reason: end }));
            change.then = Some(After::Idle);
        }
        self.keep(entries, change).await
    }

    /// Takes back what a failed attempt had said.
    async fn discard(&mut self) -> Result<(), NotKept> {
        let had_text = self.run.text_bytes() > 0;
        self.run.discard();
        let from = self.attempt_from;
        let turns: Vec<_> = self.turns.iter().skip(self.attempt_turns).map(|turn: &Turn| turn.id).collect();
        if turns.is_empty() && !had_text {
            return Ok(());
        }
        let change = RunChange { discard_from: (!turns.is_empty()).then_some(from), ..RunChange::default() };
        self.keep(vec![noted(Note::TextDiscarded { turns })], change).await
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
        let mut messages = messages(&self.turns);
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

/// Why a model failed, and when it wants to be asked again: nobody waits for so long here.
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
