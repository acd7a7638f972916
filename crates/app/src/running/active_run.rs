//! A run under way: the machine that decides its steps, and the record of what happened.

use agent::{
    Approval, End, Entry, ErrorCode, NewTurn, Note, Plan, PlanStatus, Run, Step, ToolCall, TurnBody,
};
use chrono::Utc;
use llm::{ModelRef, StopReason, Usage};
use sessions::{AfterRun, RunChange};
use tools::Outcome;

use super::own_tools::DELEGATE;
use super::record::{AttemptStart, NotStored, Record, entry, noted};
use super::reply_buffer::ReplyBuffer;
use super::spans;

/// The end of a reply.
pub(super) struct Completion {
    pub(super) stop: StopReason,
    pub(super) usage: Usage,
    /// `None` if the model has no price.
    pub(super) cost: Option<f64>,
}

/// Keeps the machine and the record in step: an entry is stored before the machine acts on it.
pub(super) struct ActiveRun {
    pub(super) record: Record,
    pub(super) machine: Run,
}

impl ActiveRun {
    pub(super) fn is_cancelled(&self) -> bool {
        self.record.cancel.is_cancelled()
    }

    /// True while a delegated call is pending.
    pub(super) fn is_delegating(&self) -> bool {
        self.machine.pending().iter().any(|pending| pending.call.name == DELEGATE)
    }

    /// Ends the run because a user cancelled it: every pending call gets a result.
    pub(super) async fn cancel(&mut self) -> Result<(), NotStored> {
        let turns = self.machine.cancel();
        self.record.append_turns(turns).await
    }

    /// Ends the run because no model answers.
    pub(super) async fn fail(&mut self, code: ErrorCode, message: String) -> Result<(), NotStored> {
        spans::fail_run(code);
        let results = self.machine.fail();
        let mut entries = vec![noted(Note::Error { code, message })];
        entries.extend(results.into_iter().map(entry));
        self.record.append(entries, RunChange::default()).await
    }

    /// Stores the end, unless it was stored together with the last reply.
    pub(super) async fn finish(&mut self, end: End) -> Result<(), NotStored> {
        if self.record.is_over() {
            return Ok(());
        }
        let done = vec![noted(Note::Done { stop_reason: end })];
        let change = RunChange { then: Some(AfterRun::Idle), ..RunChange::default() };
        self.record.append(done, change).await
    }

    /// Completes a reply: stores the rest of it, its usage, the model that answered, and the end of the
    /// run if it ends with this reply.
    pub(super) async fn complete_reply(
        &mut self,
        mut reply: ReplyBuffer,
        model: ModelRef,
        Completion { stop, usage, cost }: Completion,
    ) -> Result<(), NotStored> {
        reply.report_text(&self.record);
        let ReplyBuffer { mut entries, request_id, .. } = reply;
        let turns = self.machine.on_event(llm::ReplyEvent::Finished { stop, usage, model: None });
        entries.extend(turns.into_iter().map(entry));
        entries.push(noted(Note::Usage { model: model.clone(), usage, cost, request_id }));
        let mut change = RunChange::default();
        let session = &mut self.record.session;
        if session.answered_by.as_ref() != Some(&model) {
            let now = Utc::now();
            change.answered_by = Some((model.to_string(), now));
            session.answered_by = Some(model);
            session.answered_since = Some(now);
        }
        if let Step::Finished(end) = self.machine.step() {
            entries.push(noted(Note::Done { stop_reason: end }));
            change.then = Some(AfterRun::Idle);
        }
        self.record.append(entries, change).await
    }

    /// Takes back the turns and the text of a failed attempt.
    pub(super) async fn discard_attempt(&mut self, start: AttemptStart) -> Result<(), NotStored> {
        let had_text = self.machine.text_bytes() > 0;
        self.machine.discard();
        self.record.discard_attempt(start, had_text).await
    }

    /// Stores a call's result and the events beside it.
    pub(super) async fn record_outcome(&mut self, call_id: &str, outcome: Outcome) -> Result<(), NotStored> {
        self.record.append(entries_of(call_id, outcome), RunChange::default()).await?;
        self.machine.on_result(call_id);
        Ok(())
    }

    /// Stores a plan. It ends the run: the user decides about the plan.
    pub(super) async fn record_plan(
        &mut self,
        call_id: &str,
        outcome: Outcome,
        plan: String,
    ) -> Result<(), NotStored> {
        let mut entries = entries_of(call_id, outcome);
        entries.push(noted(Note::PlanReady { plan: plan.clone() }));
        let plan = Plan { content: plan, status: PlanStatus::Proposed, created_at: Utc::now() };
        self.record.append(entries, RunChange { plan: Some(plan.clone()), ..RunChange::default() }).await?;
        self.record.session.plan = Some(plan);
        self.machine.end_after_tools(End::EndTurn);
        self.machine.on_result(call_id);
        Ok(())
    }

    /// Puts the run down until its calls are approved or rejected. `below` are requests of delegates,
    /// which are shown here too.
    pub(super) async fn wait(&mut self, calls: Vec<ToolCall>, below: Vec<Note>) -> Result<(), NotStored> {
        let session = self.record.session.id;
        let own = calls.iter().map(|call| Note::ApprovalRequest { session, call: call.clone() });
        let entries = below.into_iter().chain(own).map(noted).collect();
        let ask =
            calls.into_iter().map(|call| Approval { session, call, asked_at: Utc::now(), answer: None });
        let change = RunChange { ask: ask.collect(), then: Some(AfterRun::Waiting), ..RunChange::default() };
        self.record.append(entries, change).await
    }
}

/// A call's result, then the events beside it.
fn entries_of(call_id: &str, outcome: Outcome) -> Vec<Entry> {
    let Outcome { text: output, is_error, refusal, events, effect: _ } = outcome;
    let tool_use_id = call_id.to_owned();
    let result = TurnBody::ToolResult { tool_use_id, output, is_error, refusal };
    let mut entries = vec![entry(NewTurn::from(result))];
    entries.extend(events.into_iter().map(|event| {
        let tool_use_id = call_id.to_owned();
        noted(Note::ToolEvent { tool_use_id, event })
    }));
    entries
}

#[cfg(test)]
mod tests;
