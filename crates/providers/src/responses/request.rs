//! A request as OpenAI Responses takes it.

use std::borrow::Cow;
use std::sync::Arc;

use llm::{Block, CallBlock, Failure, FailureKind, Message, OutputSchema, ProviderState, Request, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::call_ids;
use crate::wire::{Element, Target, push_kept};

#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    stream: bool,
    /// The conversation is kept here and sent whole every time.
    store: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    input: Vec<Element<'a, Item<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextConfig<'a>>,
}

#[derive(Serialize)]
struct TextConfig<'a> {
    format: TextFormat<'a>,
}

#[derive(Serialize)]
struct TextFormat<'a> {
    r#type: &'static str,
    name: &'a str,
    schema: &'a Schema,
    strict: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Schema,
    /// Strict schemas are a dialect that most schemas are not written in, and the default.
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Message {
        r#type: &'static str,
        role: &'static str,
        content: [Part<'a>; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a Value>,
    },
    Call {
        r#type: &'static str,
        call_id: Cow<'a, str>,
        name: &'a str,
        arguments: String,
    },
    Output {
        r#type: &'static str,
        call_id: Cow<'a, str>,
        output: &'a str,
    },
    /// A reasoning item that goes back as it was.
    Kept(&'a Value),
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> Body<'a> {
    pub(crate) fn new(request: &'a Request, target: Target<'_>) -> Result<Self, Failure> {
        let mut input = Vec::with_capacity(request.messages.len());
        if let Some((last, earlier)) = request.messages.split_last() {
            let form = Arc::from(format!("responses {}", target.provider));
            for message in earlier {
                push_kept(&mut input, message, &form, || items(message, target))?;
            }
            input.extend(items(last, target)?.into_iter().map(Element::New));
        }
        let reasons = target.reasoning_items.unwrap_or(target.official && reasons(&request.model));
        Ok(Self {
            model: &request.model,
            stream: true,
            store: false,
            instructions: request.system.text(),
            input,
            tools: request
                .tools
                .iter()
                .map(|tool| Tool {
                    r#type: "function",
                    name: &tool.name,
                    description: &tool.description,
                    parameters: &tool.input_schema,
                    strict: false,
                })
                .collect(),
            include: if reasons { vec!["reasoning.encrypted_content"] } else { Vec::new() },
            temperature: request.sampling.temperature,
            top_p: request.sampling.top_p,
            max_output_tokens: request.sampling.max_output_tokens.or(target.max_output_tokens),
            text: request.output.as_ref().map(|OutputSchema { name, schema }| TextConfig {
                format: TextFormat { r#type: "json_schema", name, schema, strict: true },
            }),
        })
    }
}

/// True for reasoning models. Other models reject a request for reasoning.
fn reasons(model: &str) -> bool {
    let number = |text: &str| text.chars().next().and_then(|first| first.to_digit(10));
    let o_series = model.strip_prefix('o').is_some_and(|rest| number(rest).is_some());
    let gpt = model.strip_prefix("gpt-").and_then(number).is_some_and(|version| version >= 5);
    o_series || (gpt && !model.contains("-chat"))
}

fn message<'a>(role: &'static str, part: &'static str, text: &'a str, phase: Option<&'a Value>) -> Item<'a> {
    Item::Message { r#type: "message", role, content: [Part { r#type: part, text }], phase }
}

fn items<'a>(said: &'a Message, target: Target<'_>) -> Result<Vec<Item<'a>>, Failure> {
    let mut input = Vec::new();
    match said {
        Message::User { results, texts } => {
            input.extend(results.iter().map(|result| Item::Output {
                r#type: "function_call_output",
                call_id: call_ids::short(&result.call_id),
                output: &result.output,
            }));
            input.extend(
                texts
                    .iter()
                    .filter(|text| !text.is_empty())
                    .map(|text| message("user", "input_text", text, None)),
            );
        }
        Message::Assistant(blocks) => {
            for block in blocks {
                push_block(block, target, &mut input)?;
            }
        }
    }
    Ok(input)
}

fn push_block<'a>(block: &'a Block, target: Target<'_>, input: &mut Vec<Item<'a>>) -> Result<(), Failure> {
    let mut own = |state: &'a Option<ProviderState>| {
        let state = target.own(state.as_ref())?;
        if let Some(Value::Array(before)) = state.get("before") {
            input.extend(before.iter().map(Item::Kept));
        }
        state.get("phase")
    };
    match block {
        Block::Text { text, state } => {
            let phase = own(state);
            if !text.is_empty() {
                input.push(message("assistant", "output_text", text, phase));
            }
        }
        Block::ToolCall(CallBlock { call, state, .. }) => {
            own(state);
            input.push(Item::Call {
                r#type: "function_call",
                call_id: call_ids::short(&call.id),
                name: &call.name,
                arguments: serde_json::to_string(&call.input)
                    .map_err(|error| Failure::new(FailureKind::Rejected, error.to_string()))?,
            });
        }
    }
    Ok(())
}
