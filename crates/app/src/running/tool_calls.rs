//! Running the tools that a reply calls.

use std::sync::Arc;

use agent::{
    ApprovalPolicy, Circumstances, Concern, Decisions, Event, Note, PendingCall, Selected, ToolCall, Verdict,
    check_begin,
};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tools::{Consent, EventSender, Invocation, Outcome, RunEffect, ToolEvent};
use tracing::Instrument as _;

use super::active_run::ActiveRun;
use super::record::{NotStored, Record};
use super::spans;
use super::toolset::Toolset;

/// A call under way: its id and its outcome.
type RunningCall = BoxFuture<'static, (String, Outcome)>;

/// Runs the tool calls of one run.
pub(super) struct ToolCaller {
    pub(super) toolset: Arc<Toolset>,
    pub(super) policy: ApprovalPolicy,
}

impl ToolCaller {
    /// Runs the pending calls. False if the run now waits for an approval or a delegate.
    pub(super) async fn call_pending(&self, run: &mut ActiveRun) -> Result<bool, NotStored> {
        let mode = run.record.live.mode();
        let offer = self.toolset.offered_for(mode, run.machine.pending()).await;
        let tools = self.toolset.all();
        let pending = self.with_concerns(run.machine.pending());
        let decisions = decisions(run, &offer.selected, &pending).await?;
        let circumstances = Circumstances {
            mode,
            offer: &offer.selected,
            tools: &tools,
            decisions: &decisions,
            policy: self.policy,
            is_watched: run.record.live.is_watched(),
        };
        let mut unapproved = Vec::new();
        let mut runnable = Vec::new();
        for (pending, concerns) in pending {
            match circumstances.judge(&pending, &concerns) {
                // With a concern, only the user's answer to this very call has it run.
                Verdict::Run(selected) if !concerns.is_empty() => {
                    runnable.push((pending.call, selected, Consent::Given));
                }
                Verdict::Run(selected) => runnable.push((pending.call, selected, Consent::Missing)),
                Verdict::Ask => unapproved.push(pending.call),
                Verdict::Refuse(refused) => run.record_outcome(&pending.call.id, refused.into()).await?,
            }
        }
        let below = self.call_all(run, runnable).await?;
        if run.is_cancelled() || (unapproved.is_empty() && below.is_none()) {
            return Ok(true);
        }
        run.wait(unapproved, below.unwrap_or_default()).await?;
        Ok(false)
    }

    /// Calls with the reasons to ask the user about each.
    fn with_concerns(&self, pending: &[PendingCall]) -> Vec<(PendingCall, Vec<Concern>)> {
        let concerns = |pending: &PendingCall| match self.toolset.get(&pending.call.name) {
            Some(registered) => registered.concerns(&pending.call),
            None => Vec::new(),
        };
        pending.iter().map(|pending| (pending.clone(), concerns(pending))).collect()
    }

    /// Runs calls in order; consecutive calls of read-only tools run in parallel. Returns the requests
    /// of delegates, if the run has to wait for one.
    async fn call_all(
        &self,
        run: &mut ActiveRun,
        calls: Vec<(ToolCall, &Selected, Consent)>,
    ) -> Result<Option<Vec<Note>>, NotStored> {
        let mut requests: Option<Vec<Note>> = None;
        let mut queue = calls.into_iter().peekable();
        let reads = |selected: &Selected| selected.tool.annotations.read_only_hint;
        let (events, mut reported) = EventSender::channel();
        while let Some((call, selected, consent)) = queue.next() {
            if run.is_cancelled() {
                break;
            }
            let is_parallel = reads(selected);
            let mut started = vec![self.start(&run.record, (call, consent), selected, &events).await?];
            while is_parallel
                && let Some((call, selected, consent)) = queue.next_if(|(_, next, _)| reads(next))
            {
                started.push(self.start(&run.record, (call, consent), selected, &events).await?);
            }
            let mut running: FuturesUnordered<RunningCall> = started.into_iter().collect();
            loop {
                // Events first: they precede the result of their call.
                let next = tokio::select! {
                    biased;
                    Some(ToolEvent { call_id, event }) = reported.recv() => {
                        let event = Event::ToolEvent { tool_use_id: call_id, event };
                        run.record.live.feed.report_passing(event);
                        continue;
                    }
                    next = running.next() => next,
                };
                let Some((call_id, mut outcome)) = next else { break };
                match outcome.effect.take() {
                    None => run.record_outcome(&call_id, outcome).await?,
                    Some(RunEffect::HandOver { plan }) => run.record_plan(&call_id, outcome, plan).await?,
                    Some(RunEffect::Wait(below)) => requests.get_or_insert_default().extend(below),
                }
            }
        }
        Ok(requests)
    }

    /// Starts one call. The mode and the tool may have changed since the verdict.
    async fn start(
        &self,
        record: &Record,
        (call, consent): (ToolCall, Consent),
        selected: &Selected,
        events: &EventSender,
    ) -> Result<RunningCall, NotStored> {
        let id = call.id.clone();
        let Some(registered) = self.toolset.get(&call.name).cloned() else {
            let outcome = Outcome::error(format!("{} is no longer available.", call.name));
            return Ok(Box::pin(std::future::ready((id, outcome))));
        };
        let hints = registered.hints().await;
        // Tools that read run in every mode.
        let mode = if hints.read_only_hint { record.live.mode() } else { record.mode().await? };
        if let Err(refused) = check_begin(&selected.tool, hints, mode) {
            return Ok(Box::pin(std::future::ready((id, refused.into()))));
        }
        let (cancelled, events) = (record.cancel.clone(), events.clone());
        let span = spans::execute_tool(record, &call);
        Ok(Box::pin(async move {
            let invocation = Invocation { call, cancelled, events, consent };
            let outcome = registered.call(invocation).instrument(span.clone()).await;
            spans::end_tool(&span, &outcome);
            (id, outcome)
        }))
    }
}

/// Reads users' decisions about calls, if a pending call depends on them.
async fn decisions(
    run: &ActiveRun,
    offer: &[Selected],
    pending: &[(PendingCall, Vec<Concern>)],
) -> Result<Decisions, NotStored> {
    match pending.iter().any(|(pending, concerns)| Circumstances::needs_decisions(offer, pending, concerns)) {
        true => run.record.decisions().await,
        false => Ok(Decisions::default()),
    }
}
