//! The loop: from a user's message to a named end.
//!
//! The caller performs each [`Step`] and reports the result; the machine returns the turns to store,
//! in order. A run can be rebuilt from the turns that it left behind, so it resumes hours later, in
//! any process, when an approval request is answered.

use llm::{CallBlock, ProviderState, StopReason, ToolCall};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{End, PLAN_EXIT, Refusal, Refused, Turn, TurnBody, limits};

/// The next step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    CallModel,
    /// Run the calls of [`Run::pending`].
    RunTools,
    Finished(End),
}

/// A turn to store now. The caller gives it an id and a time.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    pub body: TurnBody,
    pub provider_state: Option<ProviderState>,
}

impl From<TurnBody> for NewTurn {
    fn from(body: TurnBody) -> Self {
        Self { body, provider_state: None }
    }
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    pub call: ToolCall,
    /// The error in arguments that could not be read.
    pub malformed: Option<String>,
}

type BatchHash = [u8; 32];

#[derive(Debug, Clone)]
pub struct Run {
    max_tool_rounds: u32,
    /// Replies so far after which the model is called again.
    rounds: u32,
    last_batch: Option<BatchHash>,
    /// Occurrences of the last batch in a row.
    repeats: u32,
    /// Of the reply that is arriving.
    text: String,
    arrived: Vec<PendingCall>,
    /// Of the reply that has arrived.
    pending: Vec<PendingCall>,
    /// How the run ends once the pending calls have results.
    ends_after_tools: Option<End>,
    end: Option<End>,
}

impl Run {
    pub fn new(max_tool_rounds: u32) -> Self {
        Self {
            max_tool_rounds: max_tool_rounds.min(limits::MOST_TOOL_ROUNDS),
            rounds: 0,
            last_batch: None,
            repeats: 0,
            text: String::new(),
            arrived: Vec::new(),
            pending: Vec::new(),
            ends_after_tools: None,
            end: None,
        }
    }

    /// Rebuilds the run that left these turns behind. A run that handed a plan over ends with the calls
    /// of that reply.
    pub fn resume(max_tool_rounds: u32, turns: &[Turn]) -> Self {
        let mut run = Self::new(max_tool_rounds);
        let is_user = |turn: &Turn| matches!(turn.body, TurnBody::User { .. });
        let start = turns.iter().rposition(is_user).map_or(0, |at| at + 1);
        let mut reply: Vec<PendingCall> = Vec::new();
        let mut is_answered = false;
        for turn in &turns[start..] {
            match &turn.body {
                TurnBody::ToolCall { call, malformed } => {
                    if std::mem::take(&mut is_answered) {
                        run.count(&std::mem::take(&mut reply));
                    }
                    reply.push(PendingCall { call: call.clone(), malformed: malformed.clone() });
                }
                TurnBody::ToolResult { .. } => is_answered = true,
                TurnBody::AssistantText { .. } | TurnBody::User { .. } | TurnBody::Summary { .. } => {}
            }
        }
        run.count(&reply);
        // Only turns after the reply answer it: some providers use ids again.
        let is_call = |turn: &Turn| matches!(turn.body, TurnBody::ToolCall { .. });
        let answers = turns.iter().rposition(is_call).map_or(turns.len(), |at| at + 1).max(start);
        run.pending = reply;
        for turn in &turns[answers..] {
            if let TurnBody::ToolResult { tool_use_id, is_error, .. } = &turn.body {
                let answered = run.answer(tool_use_id);
                // A plan was handed over. The reply's other calls still run.
                if !is_error && answered.is_some_and(|pending| pending.call.name == PLAN_EXIT) {
                    run.ends_after_tools = Some(End::EndTurn);
                }
            }
        }
        run.end_without_pending();
        run
    }

    pub fn step(&self) -> Step {
        match self.end {
            Some(end) => Step::Finished(end),
            None if self.pending.is_empty() => Step::CallModel,
            None => Step::RunTools,
        }
    }

    /// The calls of the last reply that have no result yet.
    pub fn pending(&self) -> &[PendingCall] {
        &self.pending
    }

    /// Takes a piece of text by reference; see [`Run::on_event`].
    pub fn on_text(&mut self, text: &str) {
        if self.step() == Step::CallModel {
            self.text.push_str(text);
        }
    }

    /// Takes an event of the model; returns the turns to store at once.
    ///
    /// Ignores events when no reply is expected, as after a cancellation.
    pub fn on_event(&mut self, event: llm::ReplyEvent) -> Vec<NewTurn> {
        if self.step() != Step::CallModel {
            return Vec::new();
        }
        match event {
            llm::ReplyEvent::Started { .. } | llm::ReplyEvent::ReasoningDelta(_) => Vec::new(),
            llm::ReplyEvent::TextDelta(text) => {
                self.on_text(&text);
                Vec::new()
            }
            llm::ReplyEvent::TextEnd { state } => self.flush(state).into_iter().collect(),
            llm::ReplyEvent::ToolCall(call) => {
                self.flush(None).into_iter().chain([self.arrive(call)]).collect()
            }
            llm::ReplyEvent::Finished { stop, .. } => self.finish(stop),
        }
    }

    /// Bytes of text since the last turn.
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Drops the reply that was arriving: its attempt failed.
    pub fn discard(&mut self) {
        self.text.clear();
        self.arrived.clear();
    }

    /// A pending call has its result.
    pub fn on_result(&mut self, tool_use_id: &str) {
        self.answer(tool_use_id);
        self.end_without_pending();
    }

    /// Removes one call with this id. A reply may use an id twice; it gets two results then.
    fn answer(&mut self, tool_use_id: &str) -> Option<PendingCall> {
        let at = self.pending.iter().position(|pending| pending.call.id == tool_use_id)?;
        Some(self.pending.remove(at))
    }

    fn end_without_pending(&mut self) {
        // A reply that is arriving completes first: its calls become pending then.
        let is_idle = self.pending.is_empty() && self.arrived.is_empty() && self.text.is_empty();
        if is_idle && self.end.is_none() {
            self.end = self.ends_after_tools.take();
        }
    }

    /// Ends the run once the pending calls have results, without another call of the model.
    pub fn end_after_tools(&mut self, end: End) {
        self.ends_after_tools = Some(end);
        self.end_without_pending();
    }

    /// Ends the run. Text that arrived becomes a turn, and every call gets a result. A run that has
    /// ended keeps its end.
    pub fn cancel(&mut self) -> Vec<NewTurn> {
        if self.end.is_some() {
            return Vec::new();
        }
        self.end = Some(End::Cancelled);
        let text = self.flush(None);
        let calls = std::mem::take(&mut self.pending).into_iter().chain(std::mem::take(&mut self.arrived));
        let refused =
            Refused::new(Refusal::Cancelled, "The run was cancelled before this tool had answered.");
        let results = calls.map(|pending| refuse(&pending, &refused));
        text.into_iter().chain(results).collect()
    }

    /// Ends the run because no model answers, and drops the reply that was arriving. Every call gets a
    /// result. A run that has ended keeps its end.
    pub fn fail(&mut self) -> Vec<NewTurn> {
        self.discard();
        if self.end.is_some() {
            return Vec::new();
        }
        self.end = Some(End::Failed);
        self.refuse_pending(&Refused::new(Refusal::RunFailed, "The run failed before this tool was run."))
    }

    fn flush(&mut self, state: Option<ProviderState>) -> Option<NewTurn> {
        if self.text.is_empty() && state.is_none() {
            return None;
        }
        let content = std::mem::take(&mut self.text);
        Some(NewTurn { body: TurnBody::AssistantText { content }, provider_state: state })
    }

    fn arrive(&mut self, CallBlock { call, malformed, state }: CallBlock) -> NewTurn {
        let malformed = malformed.map(|malformed| {
            let shown: String = malformed.text.chars().take(MALFORMED_CHARS).collect();
            format!("{}; what arrived was: {shown}", malformed.reason)
        });
        self.arrived.push(PendingCall { call: call.clone(), malformed: malformed.clone() });
        NewTurn { body: TurnBody::ToolCall { call, malformed }, provider_state: state }
    }

    /// Completes the reply and decides what comes next.
    fn finish(&mut self, stop: StopReason) -> Vec<NewTurn> {
        let mut turns: Vec<NewTurn> = self.flush(None).into_iter().collect();
        self.pending = std::mem::take(&mut self.arrived);
        if self.pending.is_empty() {
            self.end = match stop {
                StopReason::EndTurn | StopReason::ToolUse => Some(End::EndTurn),
                StopReason::MaxTokens => Some(End::MaxTokens),
                StopReason::Refusal => Some(End::Refusal),
                StopReason::Pause => {
                    self.rounds += 1;
                    (self.rounds > self.max_tool_rounds).then_some(End::MaxToolRounds)
                }
            };
            return turns;
        }
        let pending = std::mem::take(&mut self.pending);
        self.count(&pending);
        self.pending = pending;
        let (end, why) = match stop {
            StopReason::MaxTokens => {
                (End::MaxTokens, "This tool was not run: the reply reached its limit of tokens.".to_owned())
            }
            StopReason::Refusal => (End::Refusal, "This tool was not run: the reply was refused.".to_owned()),
            _ if self.repeats >= limits::REPEATED_BATCHES => {
                let times = self.repeats;
                let why = format!("This tool was not run: the same calls came {times} times in a row.");
                (End::LoopDetected, why)
            }
            _ if self.rounds > self.max_tool_rounds => {
                let most = self.max_tool_rounds;
                let why = format!("This tool was not run: a run has at most {most} rounds of tools.");
                (End::MaxToolRounds, why)
            }
            _ => {
                turns.extend(self.refuse_surplus());
                return turns;
            }
        };
        self.end = Some(end);
        turns.extend(self.refuse_pending(&Refused::new(Refusal::RunEnded, why)));
        turns
    }

    /// Refuses the calls of a reply beyond the limit.
    fn refuse_surplus(&mut self) -> Vec<NewTurn> {
        let most = limits::CALLS_PER_REPLY;
        let surplus = self.pending.split_off(most.min(self.pending.len()));
        let why = format!("This tool was not run: one reply may call {most} tools.");
        let refused = Refused::new(Refusal::TooManyCalls, why);
        surplus.iter().map(|call| refuse(call, &refused)).collect()
    }

    fn refuse_pending(&mut self, refused: &Refused) -> Vec<NewTurn> {
        std::mem::take(&mut self.pending).iter().map(|call| refuse(call, refused)).collect()
    }

    /// Counts a reply's calls as a round, and notices when they repeat.
    fn count(&mut self, calls: &[PendingCall]) {
        if calls.is_empty() {
            return;
        }
        self.rounds += 1;
        let batch = hash(calls);
        self.repeats = if self.last_batch == Some(batch) { self.repeats + 1 } else { 1 };
        self.last_batch = Some(batch);
    }
}

/// Characters of malformed arguments that the model is shown again.
const MALFORMED_CHARS: usize = 500;

fn refuse(pending: &PendingCall, refused: &Refused) -> NewTurn {
    NewTurn::from(TurnBody::refused(pending.call.id.as_str(), refused.clone()))
}

/// Equal for equal batches. The ids of calls are left out: they differ each time.
fn hash(calls: &[PendingCall]) -> BatchHash {
    let mut hash = Sha256::new();
    let mut put = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    for PendingCall { call, malformed } in calls {
        put(&call.name);
        put(malformed.as_deref().unwrap_or_default());
        // Keys are sorted, so equal arguments are equal texts.
        put(&Value::Object(call.input.clone()).to_string());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
