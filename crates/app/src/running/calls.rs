//! Running the tools that a reply asks for.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use agent::{
    Approval, ApprovalAnswer, End, Entry, Mode, NewTurn, Note, PendingCall, Plan, PlanStatus, Selected,
    TurnBody, limits,
};
use chrono::Utc;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use sessions::{After, RunChange};
use tools::{Answer, Call};

use super::delegate::Delegation;
use super::drive::{Approvals, Driver, NotKept, entry, noted};
use super::toolset::{DELEGATE, LOAD_SKILL, PLAN_EXIT, is_allowed, text};

/// What a call is told that needs permission where nobody can give it.
pub const NOBODY_TO_ASK: &str = "it needs somebody's approval, and nobody is there to give it";

/// What came of a call.
pub(super) enum Outcome {
    Answered(Answer),
    /// A plan was handed over.
    Planned(String),
    /// A delegate waits for permission or is still at it; what it asks for is shown here too.
    Waiting(Vec<Note>),
}

/// What is to become of a call.
enum Judged<'a> {
    Run(&'a Selected),
    Ask,
    Refuse(String),
}

/// What somebody decided about a session's calls.
#[derive(Default)]
struct Decisions {
    by_call: BTreeMap<String, ApprovalAnswer>,
    remembered: BTreeMap<String, bool>,
}

type Performed = Pin<Box<dyn Future<Output = (PendingCall, Outcome)> + Send>>;

impl Driver {
    /// Runs what is pending. False where the run now waits for somebody's permission.
    pub(super) async fn run_tools(&mut self) -> Result<bool, NotKept> {
        let offer = self.toolset.offered(&self.prepared, self.mode());
        let offered = offer.selected.as_slice();
        let decisions = self.decisions(offered).await?;
        let mut waiting = Vec::new();
        let mut runnable = Vec::new();
        for call in self.run.pending().to_vec() {
            match self.judge(&call, offered, &decisions) {
                Judged::Run(selected) => runnable.push((call, selected)),
                Judged::Ask => waiting.push(call),
                Judged::Refuse(why) => self.answer(&call, Answer::error(why)).await?,
            }
        }
        let delegates = self.perform_all(runnable).await?;
        if self.cancel.is_cancelled() || (waiting.is_empty() && delegates.is_none()) {
            return Ok(true);
        }
        let mut asked = delegates.unwrap_or_default();
        let session = self.session.id;
        asked.extend(waiting.iter().map(|call| Note::ApprovalRequest {
            session,
            tool_use_id: call.tool_use_id.clone(),
            tool_name: call.tool_name.clone(),
            input: call.input.clone(),
        }));
        let ask = waiting.into_iter().map(|call| Approval {
            session,
            call_id: call.tool_use_id,
            tool_name: call.tool_name,
            input: call.input,
            asked_at: Utc::now(),
            answer: None,
        });
        let change = RunChange { ask: ask.collect(), then: Some(After::Waiting), ..RunChange::default() };
        self.keep(asked.into_iter().map(noted).collect(), change).await?;
        Ok(false)
    }

    /// Runs calls in their order; those that only read and follow each other run at once. Returns
    /// what delegates ask for, where one has to be waited for.
    async fn perform_all(
        &mut self,
        calls: Vec<(PendingCall, &Selected)>,
    ) -> Result<Option<Vec<Note>>, NotKept> {
        let mut asked: Option<Vec<Note>> = None;
        let mut queue = calls.into_iter().peekable();
        let reads = |selected: &Selected| selected.tool.annotations.read_only_hint;
        while let Some((call, selected)) = queue.next() {
            if self.cancel.is_cancelled() {
                break;
            }
            let together = reads(selected);
            let running: FuturesUnordered<Performed> = FuturesUnordered::new();
            running.push(self.perform(call, selected));
            while together && let Some((call, selected)) = queue.next_if(|(_, next)| reads(next)) {
                running.push(self.perform(call, selected));
            }
            let mut running = running;
            while let Some((call, outcome)) = running.next().await {
                match outcome {
                    Outcome::Answered(answer) => self.answer(&call, answer).await?,
                    Outcome::Planned(plan) => self.keep_plan(&call, plan).await?,
                    Outcome::Waiting(requests) => asked.get_or_insert_default().extend(requests),
                }
            }
        }
        Ok(asked)
    }

    /// What was decided about calls of this session; nothing is read where no tool needs it.
    async fn decisions(&self, offered: &[Selected]) -> Result<Decisions, NotKept> {
        let needs_one = |call: &PendingCall| {
            offered.iter().any(|selected| selected.tool.name == call.tool_name && !is_allowed(selected))
        };
        if !self.run.pending().iter().any(needs_one) {
            return Ok(Decisions::default());
        }
        let mut decisions = Decisions::default();
        // What was allowed above holds below as well; the nearest decision counts.
        let mut next = Some((self.session.id, self.session.parent));
        while let Some((id, parent)) = next {
            let approvals = self.runtime.store().approvals(id, false).await.map_err(NotKept)?;
            for approval in approvals {
                let Some(answer) = approval.answer else { continue };
                if answer.remember {
                    decisions.remembered.entry(approval.tool_name).or_insert(answer.approved);
                }
                if id == self.session.id {
                    decisions.by_call.insert(approval.call_id, answer);
                }
            }
            next = match parent {
                Some(id) => {
                    let above = self.runtime.store().session(id).await.map_err(NotKept)?;
                    above.map(|above| (above.id, above.parent))
                }
                None => None,
            };
        }
        Ok(decisions)
    }

    fn judge<'a>(&self, call: &PendingCall, offered: &'a [Selected], decisions: &Decisions) -> Judged<'a> {
        if let Some(problem) = &call.malformed {
            let name = &call.tool_name;
            return Judged::Refuse(format!(
                "The arguments of {name} could not be read: {problem}. Call it again with a JSON object that fits its schema."
            ));
        }
        let Some(selected) = offered.iter().find(|selected| selected.tool.name == call.tool_name) else {
            return Judged::Refuse(self.not_there(&call.tool_name, offered));
        };
        if is_allowed(selected) {
            return Judged::Run(selected);
        }
        if let Some(answer) = decisions.by_call.get(&call.tool_use_id) {
            return match answer.approved {
                true => Judged::Run(selected),
                false => Judged::Refuse(rejected(answer.reason.as_deref())),
            };
        }
        match decisions.remembered.get(&call.tool_name) {
            Some(true) => return Judged::Run(selected),
            Some(false) => return Judged::Refuse(rejected(None)),
            None => {}
        }
        let reads = selected.tool.annotations.read_only_hint;
        match self.approvals {
            Approvals::All => Judged::Run(selected),
            Approvals::Read if reads => Judged::Run(selected),
            Approvals::Ask => Judged::Ask,
            Approvals::AskViewer if self.live.is_watched() => Judged::Ask,
            Approvals::AskViewer | Approvals::Read | Approvals::Refuse => Judged::Refuse(format!(
                "{} was not run: {NOBODY_TO_ASK}. Go on without it, or say what it would have been for.",
                call.tool_name
            )),
        }
    }

    fn not_there(&self, name: &str, offered: &[Selected]) -> String {
        let names: Vec<&str> = offered.iter().map(|selected| selected.tool.name.as_str()).collect();
        let there = match names.is_empty() {
            true => "there are no tools; answer without them".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        let name: String = name.chars().take(80).collect();
        match (self.mode(), self.toolset.get(&name)) {
            (Mode::Plan, Some(_)) => {
                format!("{name} was not run: plan mode has only tools that read; {there}.")
            }
            _ => format!("There is no tool {name:?}; {there}."),
        }
    }

    /// One call, on its way. The mode is looked at once more: it may have changed since.
    fn perform(&self, call: PendingCall, selected: &Selected) -> Performed {
        let name = call.tool_name.clone();
        if self.mode() == Mode::Plan && !selected.tool.annotations.read_only_hint {
            let why = format!(
                "{name} was not run: the session went over to plan mode, which has only tools that read."
            );
            return ready(call, Outcome::Answered(Answer::error(why)));
        }
        match name.as_str() {
            LOAD_SKILL => {
                let answer = self.load_skill(&call);
                ready(call, Outcome::Answered(answer))
            }
            PLAN_EXIT => match text(&call.input, "plan") {
                Ok(plan) if plan.len() <= limits::PLAN_BYTES => {
                    let plan = plan.to_owned();
                    ready(call, Outcome::Planned(plan))
                }
                Ok(_) => {
                    let most = limits::PLAN_BYTES / 1024;
                    let why = format!("The plan is too long: at most {most} KiB. Shorten it.");
                    ready(call, Outcome::Answered(Answer::error(why)))
                }
                Err(why) => ready(call, Outcome::Answered(Answer::error(why))),
            },
            DELEGATE => {
                let delegation = Delegation {
                    runtime: Arc::clone(&self.runtime),
                    live: Arc::clone(&self.live),
                    session: self.session.clone(),
                    mode: self.mode(),
                    approvals: self.approvals,
                    cancel: self.cancel.child_token(),
                };
                Box::pin(async move {
                    let outcome = delegation.perform(&call).await;
                    (call, outcome)
                })
            }
            _ => {
                let registered = self.toolset.get(&name).cloned();
                let cancelled = self.cancel.clone();
                Box::pin(async move {
                    let answer = match registered {
                        Some(registered) => {
                            let (id, input) = (call.tool_use_id.clone(), call.input.clone());
                            registered.call(Call { id, input, cancelled }).await
                        }
                        None => Answer::error(format!("{name} is not there any more.")),
                    };
                    (call, Outcome::Answered(answer))
                })
            }
        }
    }

    fn load_skill(&self, call: &PendingCall) -> Answer {
        let name = match text(&call.input, "name") {
            Ok(name) => name,
            Err(why) => return Answer::error(why),
        };
        let found = self.prepared.skills.iter().find(|(skill, _)| skill.as_str() == name);
        match found {
            Some((_, content)) => Answer::text(content.clone()),
            None => {
                let known: Vec<&str> = self.prepared.skills.keys().map(persona::Name::as_str).collect();
                Answer::error(format!("There is no skill {name:?}; there are {}.", known.join(", ")))
            }
        }
    }

    /// Keeps a result, with what the tool said besides it.
    async fn answer(&mut self, call: &PendingCall, answer: Answer) -> Result<(), NotKept> {
        let Answer { text: output, is_error, events } = answer;
        let tool_use_id = call.tool_use_id.clone();
        let mut entries: Vec<Entry> = vec![result(tool_use_id.clone(), output, is_error)];
        let told = |event: Value| noted(Note::ToolEvent { tool_use_id: tool_use_id.clone(), event });
        entries.extend(events.into_iter().map(told));
        self.keep(entries, RunChange::default()).await?;
        self.run.on_result(&call.tool_use_id);
        Ok(())
    }

    /// Keeps a plan. The run ends with it: only the user decides what comes of it.
    async fn keep_plan(&mut self, call: &PendingCall, content: String) -> Result<(), NotKept> {
        let told = "The plan was handed to the user, who decides what comes of it.".to_owned();
        let entries = vec![
            result(call.tool_use_id.clone(), told, false),
            noted(Note::PlanReady { plan: content.clone() }),
        ];
        let plan = Plan { content, status: PlanStatus::Proposed, created_at: Utc::now() };
        self.keep(entries, RunChange { plan: Some(plan.clone()), ..RunChange::default() }).await?;
        self.session.plan = Some(plan);
        self.run.end_after_tools(End::EndTurn);
        self.run.on_result(&call.tool_use_id);
        Ok(())
    }
}

fn result(tool_use_id: String, output: String, is_error: bool) -> Entry {
    entry(NewTurn::from(TurnBody::ToolResult { tool_use_id, output, is_error }))
}

fn ready(call: PendingCall, outcome: Outcome) -> Performed {
    Box::pin(std::future::ready((call, outcome)))
}

fn rejected(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The user did not allow this: {reason}"),
        None => {
            "The user did not allow this. Do not try it again in another form; ask what they want instead."
                .to_owned()
        }
    }
}
