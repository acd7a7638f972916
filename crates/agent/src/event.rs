//! Events: what viewers of a session receive as it happens.

use llm::{FailureKind, ModelRef, ToolCall, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{End, Entry, Mode, Note, Notice, Refusal, TurnBody};

/// One event. Its `type` is also its name in the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// The user's message, for the other viewers.
    User {
        id: Uuid,
        content: String,
    },
    TextDelta {
        content: String,
    },
    ReasoningDelta {
        content: String,
    },
    TextComplete {
        id: Uuid,
        content: String,
    },
    ToolCall {
        id: Uuid,
        #[serde(flatten)]
        call: ToolCall,
    },
    ToolResult {
        id: Uuid,
        tool_use_id: String,
        output: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        /// Why the tool did not run to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Refusal>,
    },
    /// A tool reports something beside its text.
    ToolEvent {
        tool_use_id: String,
        event: Value,
    },
    /// A call needs approval. `session_id` names the session to answer: a delegate's requests appear in
    /// the events of the sessions above it too.
    ApprovalRequest {
        session_id: Uuid,
        #[serde(flatten)]
        call: ToolCall,
    },
    ApprovalAnswered {
        tool_use_id: String,
        approved: bool,
    },
    ModelSelected {
        provider: String,
        model: String,
        reason: SelectionReason,
    },
    ModelEscalated {
        from: ModelRef,
        to: ModelRef,
        code: ErrorCode,
        message: String,
    },
    /// The model failed and is called again after so many seconds. Not stored.
    Waiting {
        provider: String,
        model: String,
        seconds: f64,
        code: ErrorCode,
        message: String,
    },
    /// Voids these turns and all text since the last turn that is not among them: an attempt failed, or
    /// a message was taken back.
    TextDiscarded {
        turn_ids: Vec<Uuid>,
    },
    Usage {
        provider: String,
        model: String,
        #[serde(flatten)]
        usage: Usage,
        /// In the currency of the prices. Absent if the model has no price.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    ModeChanged {
        mode: Mode,
    },
    PlanReady {
        plan: String,
    },
    Summary {
        id: Uuid,
        content: String,
        through: Uuid,
    },
    Done {
        stop_reason: End,
    },
    /// The run does not do something that the persona's author may expect.
    Notice {
        #[serde(flatten)]
        notice: Notice,
    },
    Error {
        code: ErrorCode,
        message: String,
    },
}

/// Why a model was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelectionReason {
    /// The caller named it.
    Requested,
    /// The persona's plan names it.
    Plan,
    /// The persona's first choice.
    Preferred,
    /// The persona names none; it is the first that is configured.
    Default,
    /// An earlier choice failed.
    Escalated,
    /// It answered shortly before, when an earlier choice had failed.
    Cooldown,
    /// Nothing is configured.
    Rehearsal,
}

/// The kind of an error. Programs match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    Transport,
    RateLimited,
    ContextExceeded,
    Unauthorized,
    UnknownModel,
    Rejected,
    /// No configured provider has that name.
    UnknownProvider,
    /// A text of the persona could not be filled in.
    Persona,
    /// The persona could not be loaded or assembled any more.
    UnknownPersona,
    /// The session could not be kept.
    Storage,
    /// Tools could not be had.
    Tools,
    /// The process that ran the session is gone.
    Interrupted,
}

impl ErrorCode {
    /// True if the run continues: the code names something that the run lacks.
    pub fn is_warning(self) -> bool {
        matches!(self, Self::Persona | Self::Tools)
    }
}

impl From<FailureKind> for ErrorCode {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Transport => Self::Transport,
            FailureKind::RateLimited => Self::RateLimited,
            FailureKind::ContextExceeded => Self::ContextExceeded,
            FailureKind::Unauthorized => Self::Unauthorized,
            FailureKind::UnknownModel => Self::UnknownModel,
            FailureKind::Rejected => Self::Rejected,
        }
    }
}

impl Event {
    /// The event's name in the stream.
    pub fn name(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::TextDelta { .. } => "text_delta",
            Self::ReasoningDelta { .. } => "reasoning_delta",
            Self::TextComplete { .. } => "text_complete",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::ToolEvent { .. } => "tool_event",
            Self::ApprovalRequest { .. } => "approval_request",
            Self::ApprovalAnswered { .. } => "approval_answered",
            Self::ModelSelected { .. } => "model_selected",
            Self::ModelEscalated { .. } => "model_escalated",
            Self::Waiting { .. } => "waiting",
            Self::TextDiscarded { .. } => "text_discarded",
            Self::Usage { .. } => "usage",
            Self::ModeChanged { .. } => "mode_changed",
            Self::PlanReady { .. } => "plan_ready",
            Self::Summary { .. } => "summary",
            Self::Done { .. } => "done",
            Self::Notice { .. } => "notice",
            Self::Error { .. } => "error",
        }
    }

    /// True if the event ends a run: nothing follows until the next message.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done { .. })
    }
}

impl From<&Entry> for Event {
    fn from(entry: &Entry) -> Self {
        match entry {
            Entry::Turn(turn) => of_turn(turn.id, &turn.body),
            Entry::Note { note, .. } => of_note(note),
        }
    }
}

fn of_turn(id: Uuid, body: &TurnBody) -> Event {
    match body.clone() {
        TurnBody::User { content } => Event::User { id, content },
        TurnBody::AssistantText { content } => Event::TextComplete { id, content },
        TurnBody::ToolCall { call, malformed: _ } => Event::ToolCall { id, call },
        TurnBody::ToolResult { tool_use_id, output, is_error, refusal } => {
            Event::ToolResult { id, tool_use_id, output, is_error: is_error.then_some(true), refusal }
        }
        TurnBody::Summary { content, through } => Event::Summary { id, content, through },
    }
}

fn of_note(note: &Note) -> Event {
    match note.clone() {
        Note::ModelSelected { model: ModelRef { provider, model }, reason } => {
            Event::ModelSelected { provider, model, reason }
        }
        Note::ModelEscalated { from, to, code, message } => Event::ModelEscalated { from, to, code, message },
        Note::TextDiscarded { turns } => Event::TextDiscarded { turn_ids: turns },
        Note::Usage { model: ModelRef { provider, model }, usage, cost, request_id } => {
            Event::Usage { provider, model, usage, cost, request_id }
        }
        Note::ModeChanged { mode } => Event::ModeChanged { mode },
        Note::ApprovalRequest { session, call } => Event::ApprovalRequest { session_id: session, call },
        Note::ApprovalAnswered { tool_use_id, approved } => Event::ApprovalAnswered { tool_use_id, approved },
        Note::PlanReady { plan } => Event::PlanReady { plan },
        Note::ToolEvent { tool_use_id, event } => Event::ToolEvent { tool_use_id, event },
        Note::Notice { notice } => Event::Notice { notice },
        Note::Error { code, message } => Event::Error { code, message },
        Note::Done { stop_reason } => Event::Done { stop_reason },
    }
}

#[cfg(test)]
mod tests;
