//! Running the tools that a reply calls.

use std::sync::Arc;

use agent::{
    ApprovalPolicy, Circumstances, Decisions, Event, Note, PendingCall, Selected, ToolCall, Verdict,
    check_mode,
};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tools::{Effect, EventSender, Invocation, Outcome, ToolEvent};

use super::active_run::ActiveRun;
use super::record::{NotStored, Record};
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
        let (offer, tools) = (self.toolset.offered(mode), self.toolset.all());
        let decisions = decisions(run, &offer.selected).await?;
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
        for pending in run.machine.pending().to_vec() {
            match circumstances.judge(&pending) {
                Verdict::Run(selected) => runnable.push((pending.call, selected)),
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

    /// Runs calls in order; consecutive calls of read-only tools run in parallel. Returns the requests
    /// of delegates, if the run has to wait for one.
    async fn call_all(
        &self,
        run: &mut ActiveRun,
        calls: Vec<(ToolCall, &Selected)>,
    ) -> Result<Option<Vec<Note>>, NotStored> {
        let mut requests: Option<Vec<Note>> = None;
        let mut queue = calls.into_iter().peekable();
        let reads = |selected: &Selected| selected.tool.annotations.read_only_hint;
        let (events, mut reported) = EventSender::channel();
        while let Some((call, selected)) = queue.next() {
            if run.is_cancelled() {
                break;
            }
            let is_parallel = reads(selected);
            let mut running: FuturesUnordered<RunningCall> = FuturesUnordered::new();
            running.push(self.start(&run.record, call, selected, &events));
            while is_parallel && let Some((call, selected)) = queue.next_if(|(_, next)| reads(next)) {
                running.push(self.start(&run.record, call, selected, &events));
            }
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
                    Some(Effect::HandOver { plan }) => run.record_plan(&call_id, outcome, plan).await?,
                    Some(Effect::Wait(below)) => requests.get_or_insert_default().extend(below),
                }
            }
        }
        Ok(requests)
    }

    /// Starts one call. The mode may have changed since the verdict.
    fn start(
        &self,
        record: &Record,
        call: ToolCall,
        selected: &Selected,
        events: &EventSender,
    ) -> RunningCall {
        let id = call.id.clone();
        if let Err(refused) = check_mode(&selected.tool, record.live.mode()) {
            return Box::pin(std::future::ready((id, refused.into())));
        }
        let Some(registered) = self.toolset.get(&call.name).cloned() else {
            let outcome = Outcome::error(format!("{} is no longer available.", call.name));
            return Box::pin(std::future::ready((id, outcome)));
        };
        let (cancelled, events) = (record.cancel.clone(), events.clone());
        Box::pin(async move {
            let outcome = registered.call(Invocation { call, cancelled, events }).await;
            (id, outcome)
        })
    }
}

/// Reads users' decisions about calls, if a pending call depends on them.
async fn decisions(run: &ActiveRun, offer: &[Selected]) -> Result<Decisions, NotStored> {
    let depends = |pending: &PendingCall| Circumstances::needs_decisions(offer, pending);
    match run.machine.pending().iter().any(depends) {
        true => run.record.decisions().await,
        false => Ok(Decisions::default()),
    }
}
