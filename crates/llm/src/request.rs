//! One call of a model: what it is told, what it may use, and what was said so far.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Schema;

/// One call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// As the provider names it.
    pub model: String,
    pub system: System,
    pub messages: Vec<Message>,
    /// The same for many calls, as a rule.
    pub tools: Arc<[ToolSpec]>,
    pub sampling: Sampling,
}

/// The system text. What stays the same from call to call comes first, so that providers can cache
/// it; the reminder may change with every call and stands last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct System {
    pub stable: String,
    pub reminder: Option<String>,
}

impl System {
    /// Both as one text, for protocols that have one field.
    pub fn text(&self) -> String {
        match &self.reminder {
            None => self.stable.clone(),
            Some(reminder) if self.stable.is_empty() => reminder.clone(),
            Some(reminder) => format!("{}\n\n{reminder}", self.stable),
        }
    }
}

/// Only what the author set: several models reject what others take for granted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sampling {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_output_tokens: Option<u32>,
}

/// Messages alternate as the protocols demand it: a user's, an assistant's, a user's.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What people said and what tools answered; results stand before texts.
    User {
        results: Vec<ToolResult>,
        texts: Vec<String>,
    },
    Assistant(Vec<Block>),
}

/// A piece of an assistant's answer, in its order.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Text { text: String, state: Option<ProviderState> },
    ToolCall(ToolCall),
}

/// The provider's own name for a call, which its result repeats.
pub type CallId = String;

/// A tool that the model wants to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub input: ToolInput,
    pub state: Option<ProviderState>,
}

/// The arguments of a call. Protocols want an object; models sometimes write something else.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    Object(Map<String, Value>),
    /// What was written, and what is wrong with it.
    Malformed {
        text: String,
        reason: String,
    },
}

impl ToolInput {
    /// Reads arguments that arrived as text; nothing at all is an empty object.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(Map::new());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Self::Object(object),
            Ok(other) => Self::Malformed {
                text: text.to_owned(),
                reason: format!("expected a JSON object, not {}", kind_of(&other)),
            },
            Err(error) => Self::Malformed { text: text.to_owned(), reason: error.to_string() },
        }
    }

    /// The object that a protocol is sent: an empty one in place of what could not be read.
    pub fn object(&self) -> Map<String, Value> {
        match self {
            Self::Object(object) => object.clone(),
            Self::Malformed { .. } => Map::new(),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub call_id: CallId,
    /// Some protocols name the tool again beside its result.
    pub tool_name: String,
    pub output: String,
    pub is_error: bool,
}

/// What belongs to a block and only its provider understands: thinking with its signature, a
/// reasoning item, a thought's signature. Sent back to that provider as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderState {
    /// The provider's configured name.
    pub provider: String,
    pub data: Value,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub input_schema: Schema,
}
