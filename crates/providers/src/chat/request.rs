//! A request as chat completions take it.

use std::borrow::Cow;
use std::sync::Arc;

use llm::{Block, Failure, FailureKind, Message, OutputSchema, ProviderState, Request, Schema, ToolCall};
use serde::Serialize;
use serde_json::Value;

use crate::wire::{Element, Target, push_kept};

#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    messages: Vec<Element<'a, WireMessage<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    /// OpenAI's newer models refuse the old name; imitators know no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a Schema,
    strict: bool,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Schema,
}

#[derive(Serialize, Default)]
struct WireMessage<'a> {
    role: &'static str,
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    /// Under the name that the server used itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: String,
}

impl<'a> Body<'a> {
    pub(crate) fn new(request: &'a Request, target: Target<'_>) -> Result<Self, Failure> {
        let most = request.sampling.max_output_tokens.or(target.max_output_tokens);
        Ok(Self {
            model: &request.model,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            messages: messages(request, target)?,
            tools: request
                .tools
                .iter()
                .map(|tool| Tool {
                    r#type: "function",
                    function: Function {
                        name: &tool.name,
                        description: &tool.description,
                        parameters: &tool.input_schema,
                    },
                })
                .collect(),
            temperature: request.sampling.temperature,
            top_p: request.sampling.top_p,
            max_completion_tokens: most.filter(|_| target.official),
            max_tokens: most.filter(|_| !target.official),
            seed: request.sampling.seed,
            response_format: request.output.as_ref().map(|OutputSchema { name, schema }| ResponseFormat {
                r#type: "json_schema",
                json_schema: JsonSchema { name, schema, strict: true },
            }),
        })
    }
}

fn text<'a>(role: &'static str, text: impl Into<Cow<'a, str>>) -> WireMessage<'a> {
    WireMessage { role, content: Some(text.into()), ..WireMessage::default() }
}

fn messages<'a>(
    request: &'a Request,
    target: Target<'_>,
) -> Result<Vec<Element<'a, WireMessage<'a>>>, Failure> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let system = request.system.text();
    if !system.trim().is_empty() {
        messages.push(Element::New(text("system", system)));
    }
    // Thinking goes back only while a model uses tools: afterwards some refuse it.
    let said_last = request
        .messages
        .iter()
        .rposition(|message| matches!(&**message, Message::User { texts, .. } if !texts.is_empty()));
    let form = Arc::from(format!("chat {}", target.provider));
    for (at, message) in request.messages.iter().enumerate() {
        let thinks = said_last.is_none_or(|last| at > last);
        let is_last = at + 1 == request.messages.len();
        if is_last || (thinks && has_state(message)) {
            messages.extend(wire(message, target, thinks)?.into_iter().map(Element::New));
        } else {
            push_kept(&mut messages, message, &form, || wire(message, target, thinks))?;
        }
    }
    Ok(messages)
}

fn has_state(message: &Message) -> bool {
    let Message::Assistant(blocks) = message else { return false };
    blocks.iter().any(|block| block_state(block).is_some())
}

fn block_state(block: &Block) -> Option<&ProviderState> {
    match block {
        Block::Text { state, .. } => state.as_ref(),
        Block::ToolCall(block) => block.state.as_ref(),
    }
}

fn wire<'a>(message: &'a Message, target: Target<'_>, thinks: bool) -> Result<Vec<WireMessage<'a>>, Failure> {
    Ok(match message {
        Message::User { results, texts } => {
            let results = results.iter().map(|result| WireMessage {
                tool_call_id: Some(&result.call_id),
                ..text("tool", &result.output)
            });
            let texts = texts.iter().filter(|said| !said.is_empty()).map(|said| text("user", said));
            results.chain(texts).collect()
        }
        Message::Assistant(blocks) => assistant(blocks, target, thinks)?.into_iter().collect(),
    })
}

/// A message has one text and then its calls: alternating text and calls lose their order.
fn assistant<'a>(
    blocks: &'a [Block],
    target: Target<'_>,
    thinks: bool,
) -> Result<Option<WireMessage<'a>>, Failure> {
    let mut message = WireMessage { role: "assistant", ..WireMessage::default() };
    let mut reasoning = None;
    for block in blocks {
        let state = target.own(block_state(block));
        reasoning = reasoning.or(state.and_then(|state| state.get("reasoning")));
        match block {
            Block::Text { text, .. } if text.is_empty() => {}
            Block::Text { text, .. } => {
                message.content = Some(match message.content {
                    None => Cow::Borrowed(text.as_str()),
                    Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
                });
            }
            Block::ToolCall(block) => message.tool_calls.push(wire_call(&block.call, state)?),
        }
    }
    if message.content.is_none() && message.tool_calls.is_empty() {
        return Ok(None);
    }
    if let Some(reasoning) = reasoning.filter(|_| thinks && !message.tool_calls.is_empty()) {
        let field = |name: &str| reasoning.get(name).and_then(Value::as_str);
        message.reasoning_content = field("reasoning_content");
        message.reasoning = field("reasoning");
    }
    Ok(Some(message))
}

fn wire_call<'a>(call: &'a ToolCall, state: Option<&'a Value>) -> Result<WireCall<'a>, Failure> {
    let arguments = serde_json::to_string(&call.input)
        .map_err(|error| Failure::new(FailureKind::Rejected, error.to_string()))?;
    Ok(WireCall {
        id: &call.id,
        r#type: "function",
        function: Called { name: &call.name, arguments },
        extra_content: state.and_then(|state| state.get("extra_content")),
    })
}
