//! A session's log: its turns and, between them, notes of everything else that happened.
//!
//! Every event except passing ones (deltas, progress, waits) is an entry of the log, in order. A
//! viewer that comes later or comes back reads what the others saw.

use chrono::{DateTime, Utc};
use llm::{ModelRef, ToolCall, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{ErrorCode, Mode, Notice, SelectionReason, Turn};

/// An entry and its place. Places count up from 1 and may have gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    pub seq: i64,
    pub entry: Entry,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    Turn(Turn),
    Note { at: DateTime<Utc>, note: Note },
}

/// An event of a session that is not a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Note {
    ModelSelected {
        model: ModelRef,
        reason: SelectionReason,
    },
    ModelEscalated {
        from: ModelRef,
        to: ModelRef,
        code: ErrorCode,
        message: String,
    },
    /// These turns left the log: their attempt failed, or their message was taken back.
    TextDiscarded {
        turns: Vec<Uuid>,
    },
    Usage {
        model: ModelRef,
        usage: Usage,
        /// By the price at the time of the call. `None` if the model had none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    ModeChanged {
        mode: Mode,
    },
    ApprovalRequest {
        session: Uuid,
        #[serde(flatten)]
        call: ToolCall,
    },
    ApprovalAnswered {
        tool_use_id: String,
        approved: bool,
    },
    PlanReady {
        plan: String,
    },
    /// A tool reported something beside its text.
    ToolEvent {
        tool_use_id: String,
        event: Value,
    },
    Notice {
        #[serde(flatten)]
        notice: Notice,
    },
    Error {
        code: ErrorCode,
        message: String,
    },
    Done {
        stop_reason: End,
    },
}

/// Every way in which a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    EndTurn,
    MaxTokens,
    Refusal,
    Cancelled,
    MaxToolRounds,
    LoopDetected,
    Failed,
}

impl End {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
            Self::MaxToolRounds => "max_tool_rounds",
            Self::LoopDetected => "loop_detected",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests;
