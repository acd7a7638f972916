//! One model call: system text, tools and messages.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Schema, SharedMessage};

/// One call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// As the provider names it.
    pub model: String,
    pub system: System,
    pub messages: Vec<SharedMessage>,
    /// The same for many calls, as a rule.
    pub tools: Arc<[ToolSpec]>,
    pub sampling: Sampling,
    /// The form of the answer's text. The caller checks the answer: a model may still break off.
    pub output: Option<OutputSchema>,
    /// Parameters that the adapter leaves out if the server rejects them, in this order where the server
    /// does not name one.
    pub may_omit: &'static [Parameter],
}

/// A JSON Schema for the text of an answer.
///
/// Providers take few words of JSON Schema here: objects need `additionalProperties: false` and all of
/// their properties in `required`. Properties are answered in the order of their names.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSchema {
    /// Letters, digits, `_` and `-`; at most 64.
    pub name: String,
    pub schema: Schema,
}

/// A part of a request that a caller can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameter {
    OutputSchema,
    Seed,
    Temperature,
}

impl Request {
    /// True if the request has the parameter.
    pub fn has(&self, parameter: Parameter) -> bool {
        match parameter {
            Parameter::OutputSchema => self.output.is_some(),
            Parameter::Seed => self.sampling.seed.is_some(),
            Parameter::Temperature => self.sampling.temperature.is_some(),
        }
    }

    pub fn omit(&mut self, parameter: Parameter) {
        match parameter {
            Parameter::OutputSchema => self.output = None,
            Parameter::Seed => self.sampling.seed = None,
            Parameter::Temperature => self.sampling.temperature = None,
        }
    }
}

/// The system text, the most lasting part first, so that providers can cache it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct System {
    /// The same in many runs.
    pub stable: String,
    /// Files of the project: the same in every call of one run.
    pub context: Option<String>,
    /// May change with every call.
    pub reminder: Option<String>,
}

impl System {
    /// All parts as one text, for protocols that have one field.
    pub fn text(&self) -> String {
        let further = [&self.context, &self.reminder].into_iter().flatten();
        let parts = std::iter::once(&self.stable).chain(further);
        parts.filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n\n")
    }
}

/// The author's settings only: some models reject settings that others accept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sampling {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// Makes answers repeatable where the protocol and the server have it. Anthropic Messages and OpenAI
    /// Responses have none.
    pub seed: Option<u32>,
}

/// Messages alternate as the protocols require: user, assistant, user.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// User texts and tool results; results come first.
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
    ToolCall(CallBlock),
}

/// The provider's name for a call. The call's result repeats it.
pub type CallId = String;

/// A call of a tool. It has this shape from the model's answer to the tool, the log and the fronts;
/// its JSON is the one of turns and events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    #[serde(rename = "toolUseId")]
    pub id: CallId,
    #[serde(rename = "toolName")]
    pub name: String,
    pub input: Map<String, Value>,
}

/// A call as a piece of an assistant's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CallBlock {
    pub call: ToolCall,
    /// Set if the arguments could not be read; the call's input is empty then.
    pub malformed: Option<Malformed>,
    pub state: Option<ProviderState>,
}

/// Arguments that are not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The arguments as the model wrote them.
    pub text: String,
    pub reason: String,
}

/// The arguments of a call. Protocols want an object; models sometimes write something else.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    Object(Map<String, Value>),
    Malformed(Malformed),
}

impl ToolInput {
    /// Parses arguments that arrived as text. Blank text is an empty object.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(Map::new());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Self::Object(object),
            Ok(other) => Self::malformed(text, format!("expected a JSON object, not {}", kind_of(&other))),
            Err(error) => Self::malformed(text, error.to_string()),
        }
    }

    pub fn malformed(text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Malformed(Malformed { text: text.into(), reason: reason.into() })
    }

    /// The object, and the error if the arguments could not be read; the object is empty then.
    pub fn into_parts(self) -> (Map<String, Value>, Option<Malformed>) {
        match self {
            Self::Object(object) => (object, None),
            Self::Malformed(malformed) => (Map::new(), Some(malformed)),
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

/// A tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub call_id: CallId,
    /// Some protocols name the tool again beside its result.
    pub tool_name: String,
    pub output: String,
    pub is_error: bool,
}

/// Opaque state of a block that only its provider understands: thinking with its signature, a
/// reasoning item, a thought's signature. Sent back to that provider unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderState {
    /// The provider's configured name.
    pub provider: String,
    pub data: Value,
}

/// A tool as described to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub input_schema: Schema,
}
