//! Running the tools that a reply calls.

use agent::{
    Approval, Circumstances, Decisions, End, Entry, Event, NewTurn, Note, PendingCall, Plan, PlanStatus,
    Selected, ToolCall, TurnBody, Verdict, check_mode,
};
use chrono::Utc;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use sessions::{After, RunChange};
use tools::{Effect, EventSender, Invocation, Outcome, ToolEvent};

use super::drive::Driver;
use super::record::{NotStored, entry, noted};

/// A call's id and its outcome.
type Performed = BoxFuture<'static, (String, Outcome)>;

impl Driver {
    /// Runs the pending calls. False if the run now waits for an approval or a delegate.
    pub(super) async fn run_tools(&mut self) -> Result<bool, NotStored> {
        let mode = self.record.mode();
        let (offer, tools) = (self.toolset.offered(&self.prepared, mode), self.toolset.all());
        let decisions = self.decisions(&offer.selected).await?;
        let circumstances = Circumstances {
            mode,
            offer: &offer.selected,
            tools: &tools,
            decisions: &decisions,
            policy: self.policy,
            is_watched: self.record.is_watched(),
        };
        let mut unapproved = Vec::new();
        let mut runnable = Vec::new();
        for pending in self.run.pending().to_vec() {
            match circumstances.judge(&pending) {
                Verdict::Run(selected) => runnable.push((pending.call, selected)),
                Verdict::Ask => unapproved.push(pending.call),
                Verdict::Refuse(refused) => self.record_outcome(&pending.call.id, refused.into()).await?,
            }
        }
        let below = self.perform_all(runnable).await?;
        if self.record.cancel.is_cancelled() || (unapproved.is_empty() && below.is_none()) {
            return Ok(true);
        }
        self.wait(unapproved, below.unwrap_or_default()).await?;
        Ok(false)
    }

    /// Puts the run down until its calls are approved or rejected. `below` are requests of delegates,
    /// which are shown here too.
    async fn wait(&mut self, calls: Vec<ToolCall>, below: Vec<Note>) -> Result<(), NotStored> {
        let session = self.record.session.id;
        let own = calls.iter().map(|call| Note::ApprovalRequest { session, call: call.clone() });
        let entries = below.into_iter().chain(own).map(noted).collect();
        let ask =
            calls.into_iter().map(|call| Approval { session, call, asked_at: Utc::now(), answer: None });
        let change = RunChange { ask: ask.collect(), then: Some(After::Waiting), ..RunChange::default() };
        self.record.append(entries, change).await
    }

    /// Runs calls in order; consecutive calls of read-only tools run in parallel. Returns the requests
    /// of delegates, if the run has to wait for one.
    async fn perform_all(
        &mut self,
        calls: Vec<(ToolCall, &Selected)>,
    ) -> Result<Option<Vec<Note>>, NotStored> {
        let mut requests: Option<Vec<Note>> = None;
        let mut queue = calls.into_iter().peekable();
        let reads = |selected: &Selected| selected.tool.annotations.read_only_hint;
        let (events, mut reported) = EventSender::channel();
        while let Some((call, selected)) = queue.next() {
            if self.record.cancel.is_cancelled() {
                break;
            }
            let is_parallel = reads(selected);
            let mut running: FuturesUnordered<Performed> = FuturesUnordered::new();
            running.push(self.perform(call, selected, &events));
            while is_parallel && let Some((call, selected)) = queue.next_if(|(_, next)| reads(next)) {
                running.push(self.perform(call, selected, &events));
            }
            loop {
                // Events first: they precede the result of their call.
                let next = tokio::select! {
                    biased;
                    Some(event) = reported.recv() => {
                        self.report_event(event);
                        continue;
                    }
                    next = running.next() => next,
                };
                let Some((call_id, mut outcome)) = next else { break };
                match outcome.effect.take() {
                    None => self.record_outcome(&call_id, outcome).await?,
                    Some(Effect::HandOver { plan }) => self.record_plan(&call_id, outcome, plan).await?,
                    Some(Effect::Wait(asked)) => requests.get_or_insert_default().extend(asked),
                }
            }
        }
        Ok(requests)
    }

    /// Tells viewers what a call reports while it runs.
    fn report_event(&self, ToolEvent { call_id, event }: ToolEvent) {
        self.record.report_passing(Event::ToolEvent { tool_use_id: call_id, event });
    }

    /// Reads what was decided about calls, if a pending call depends on it.
    async fn decisions(&self, offer: &[Selected]) -> Result<Decisions, NotStored> {
        let depends = |pending: &PendingCall| Circumstances::needs_decisions(offer, pending);
        match self.run.pending().iter().any(depends) {
            true => self.record.decisions().await,
            false => Ok(Decisions::default()),
        }
    }

    /// Starts one call. The mode may have changed since the verdict.
    fn perform(&self, call: ToolCall, selected: &Selected, events: &EventSender) -> Performed {
        let id = call.id.clone();
        if let Err(refused) = check_mode(&selected.tool, self.record.mode()) {
            return Box::pin(std::future::ready((id, refused.into())));
        }
        let Some(registered) = self.toolset.get(&call.name).cloned() else {
            let outcome = Outcome::error(format!("{} is no longer available.", call.name));
            return Box::pin(std::future::ready((id, outcome)));
        };
        let (cancelled, events) = (self.record.cancel.clone(), events.clone());
        Box::pin(async move {
            let outcome = registered.call(Invocation { call, cancelled, events }).await;
            (id, outcome)
        })
    }

    /// Stores a call's result and the events beside it.
    async fn record_outcome(&mut self, call_id: &str, outcome: Outcome) -> Result<(), NotStored> {
        self.record.append(entries_of(call_id, outcome), RunChange::default()).await?;
        self.run.on_result(call_id);
        Ok(())
    }

    /// Stores a plan. It ends the run: the user decides what happens with it.
    async fn record_plan(&mut self, call_id: &str, outcome: Outcome, plan: String) -> Result<(), NotStored> {
        let mut entries = entries_of(call_id, outcome);
        entries.push(noted(Note::PlanReady { plan: plan.clone() }));
        let plan = Plan { content: plan, status: PlanStatus::Proposed, created_at: Utc::now() };
        self.record.append(entries, RunChange { plan: Some(plan.clone()), ..RunChange::default() }).await?;
        self.record.session.plan = Some(plan);
        self.run.end_after_tools(End::EndTurn);
        self.run.on_result(call_id);
        Ok(())
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
