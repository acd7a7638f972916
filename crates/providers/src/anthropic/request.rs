//! A request as Anthropic Messages takes it.

use std::borrow::Cow;
use std::sync::Arc;

use llm::{Block, CallBlock, Failure, Message, Request, Schema, System};
use serde::Serialize;
use serde_json::{Map, Value};

use super::stream::is_thinking;
use crate::call_ids;
use crate::limits;
use crate::wire::{Element, Target, push_kept};

#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Text<'a>>,
    messages: Vec<Element<'a, WireMessage<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: OutputFormat<'a>,
}

#[derive(Serialize)]
struct OutputFormat<'a> {
    r#type: &'static str,
    schema: &'a Schema,
}

/// Everything up to and including what carries this is kept by the provider and found again when
/// the next request begins in the same way. Four places of a request may carry it.
#[derive(Serialize, Clone, Copy)]
struct CacheControl {
    r#type: &'static str,
}

const EPHEMERAL: CacheControl = CacheControl { r#type: "ephemeral" };

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Schema,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Vec<Content<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Text<'a>),
    ToolUse {
        r#type: &'static str,
        id: Cow<'a, str>,
        name: &'a str,
        input: &'a Map<String, Value>,
    },
    ToolResult {
        r#type: &'static str,
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// A block that came from the provider and goes back as it was.
    Kept(&'a Value),
}

impl<'a> Body<'a> {
    pub(crate) fn new(request: &'a Request, target: Target<'_>) -> Result<Self, Failure> {
        let sampling = &request.sampling;
        Ok(Self {
            model: &request.model,
            max_tokens: sampling
                .max_output_tokens
                .or(target.max_output_tokens)
                .unwrap_or(limits::ANTHROPIC_MAX_TOKENS),
            stream: true,
            system: system(request),
            messages: messages(request, target)?,
            tools: tools(request),
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            output_config: request.output.as_ref().map(|output| OutputConfig {
                format: OutputFormat { r#type: "json_schema", schema: &output.schema },
            }),
        })
    }
}

fn text(text: &str) -> Text<'_> {
    Text { r#type: "text", text, cache_control: None }
}

/// Texts without a visible character are refused.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The stable text and the context end with a mark each: the next run keeps the one, the next call both.
fn system(request: &Request) -> Vec<Text<'_>> {
    let System { stable, context, reminder } = &request.system;
    let marked = [Some(stable), context.as_ref()].into_iter().flatten();
    let marked = marked.map(|part| Text { cache_control: Some(EPHEMERAL), ..text(part) });
    let parts = marked.chain(reminder.as_deref().map(text));
    parts.filter(|part| !is_blank(part.text)).collect()
}

/// Tools stand before the system text, so their mark keeps them when only that text changes. A context
/// needs the mark more: a request has four at most.
fn tools(request: &Request) -> Vec<Tool<'_>> {
    let mut tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| Tool {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.input_schema,
            cache_control: None,
        })
        .collect();
    if let (Some(last), None) = (tools.last_mut(), &request.system.context) {
        last.cache_control = Some(EPHEMERAL);
    }
    tools
}

fn wire<'a>(message: &'a Message, target: Target<'_>) -> Option<WireMessage<'a>> {
    let (role, content) = match message {
        Message::User { results, texts } => {
            let results = results.iter().map(|result| Content::ToolResult {
                r#type: "tool_result",
                tool_use_id: call_ids::plain(&result.call_id),
                content: &result.output,
                is_error: result.is_error.then_some(true),
                cache_control: None,
            });
            let texts = texts.iter().filter(|text| !is_blank(text)).map(|said| Content::Text(text(said)));
            ("user", results.chain(texts).collect())
        }
        Message::Assistant(blocks) => {
            let mut content = Vec::with_capacity(blocks.len());
            for block in blocks {
                push_block(block, target, &mut content);
            }
            // A message must not end with thinking.
            while matches!(content.last(), Some(Content::Kept(block)) if is_thinking(block)) {
                content.pop();
            }
            ("assistant", content)
        }
    };
    (!content.is_empty()).then_some(WireMessage { role, content })
}

fn push_block<'a>(block: &'a Block, target: Target<'_>, content: &mut Vec<Content<'a>>) {
    let state = match block {
        Block::Text { state, .. } => state,
        Block::ToolCall(block) => &block.state,
    };
    if let Some(Value::Array(kept)) = target.own(state.as_ref()) {
        content.extend(kept.iter().map(Content::Kept));
    }
    match block {
        Block::Text { text: said, .. } if is_blank(said) => {}
        Block::Text { text: said, .. } => content.push(Content::Text(text(said))),
        Block::ToolCall(CallBlock { call, .. }) => content.push(Content::ToolUse {
            r#type: "tool_use",
            id: call_ids::plain(&call.id),
            name: &call.name,
            input: &call.input,
        }),
    }
}

/// User messages that carry a mark: the last one, for the next request; and the one before it, where this
/// request finds what the last one left, however many blocks came in between.
const MARKED: usize = 2;

fn messages<'a>(
    request: &'a Request,
    target: Target<'_>,
) -> Result<Vec<Element<'a, WireMessage<'a>>>, Failure> {
    let (mut last, mut marked, mut earlier) = (Vec::new(), 0, request.messages.as_slice());
    while let Some((message, before)) = earlier.split_last().filter(|_| marked < MARKED) {
        earlier = before;
        let Some(mut made) = wire(message, target) else { continue };
        if made.role == "user" {
            mark(&mut made);
            marked += 1;
        }
        last.push(Element::New(made));
    }
    let form = Arc::from(format!("anthropic {}", target.provider));
    let mut messages = Vec::with_capacity(earlier.len() + last.len());
    for message in earlier {
        let write = || Ok(wire(message, target).into_iter().collect());
        push_kept(&mut messages, message, &form, write)?;
    }
    messages.extend(last.into_iter().rev());
    Ok(messages)
}

fn mark(message: &mut WireMessage<'_>) {
    if let Some(Content::Text(Text { cache_control, .. }) | Content::ToolResult { cache_control, .. }) =
        message.content.last_mut()
    {
        *cache_control = Some(EPHEMERAL);
    }
}
