//! The stream of Anthropic Messages.

use std::mem;

use llm::{Failure, StopReason, ToolInput, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::ErrorBody;
use crate::reply_events::ReplyEvents;
use crate::sse;
use crate::wire::{Decode, kind_of, read};

#[derive(Debug)]
pub(crate) struct Decoder {
    answer: ReplyEvents,
    open: Option<Open>,
    /// Blocks that will be the state of the next text or call.
    kept: Vec<Value>,
    counts: Counts,
    stop_reason: Option<String>,
}

/// The block that is being sent.
#[derive(Debug)]
enum Open {
    Text,
    Tool {
        id: String,
        name: String,
        arguments: String,
        whole: Value,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    /// One that is only sent back; its input comes in pieces.
    Other {
        block: Value,
        input: String,
    },
}

/// Counts are of the whole answer so far: the last one is right.
#[derive(Debug, Default, Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct MessageStart {
    message: Started,
}

#[derive(Deserialize)]
struct Started {
    model: Option<Value>,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct BlockStart {
    content_block: Value,
}

#[derive(Deserialize)]
struct BlockDelta {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
}

#[derive(Deserialize)]
struct MessageDelta {
    delta: Stop,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Stop {
    stop_reason: Option<String>,
}

impl Decoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self {
            answer: ReplyEvents::new(provider),
            open: None,
            kept: Vec::new(),
            counts: Counts::default(),
            stop_reason: None,
        }
    }

    fn start(&mut self, block: Value) {
        self.close();
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        self.open = Some(match text("type") {
            "text" => {
                self.answer.text(text("text"));
                Open::Text
            }
            "tool_use" => Open::Tool {
                id: text("id").to_owned(),
                name: text("name").to_owned(),
                arguments: String::new(),
                whole: block.get("input").cloned().unwrap_or_default(),
            },
            "thinking" => {
                self.answer.reasoning(text("thinking"));
                Open::Thinking {
                    thinking: text("thinking").to_owned(),
                    signature: text("signature").to_owned(),
                }
            }
            _ => Open::Other { block, input: String::new() },
        });
    }

    fn delta(&mut self, delta: Delta) {
        match &mut self.open {
            Some(Open::Text) => self.answer.text(delta.text.unwrap_or_default()),
            Some(Open::Tool { arguments: input, .. } | Open::Other { input, .. }) => {
                input.push_str(&delta.partial_json.unwrap_or_default());
            }
            Some(Open::Thinking { thinking, signature }) => {
                let more = delta.thinking.unwrap_or_default();
                thinking.push_str(&more);
                signature.push_str(&delta.signature.unwrap_or_default());
                self.answer.reasoning(more);
            }
            None => {}
        }
    }

    /// Ends the block that is open, if one is.
    fn close(&mut self) {
        match self.open.take() {
            Some(Open::Text) if self.answer.text_bytes() > 0 => {
                let state = self.state();
                self.answer.end_text(state);
            }
            Some(Open::Tool { id, name, arguments, whole }) => {
                let input = match whole {
                    Value::Object(input) if arguments.is_empty() => ToolInput::Object(input),
                    _ => ToolInput::parse(&arguments),
                };
                let state = self.state();
                self.answer.call(id, name, input, state);
            }
            Some(Open::Thinking { thinking, signature }) => {
                self.kept.push(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
            }
            Some(Open::Other { mut block, input }) => {
                if let (Value::Object(block), ToolInput::Object(input)) =
                    (&mut block, ToolInput::parse(&input))
                    && !input.is_empty()
                {
                    block.insert("input".to_owned(), Value::Object(input));
                }
                self.kept.push(block);
            }
            Some(Open::Text) | None => {}
        }
    }

    fn count(&mut self, newer: Option<Counts>) {
        if let Some(newer) = newer {
            self.counts.update(&newer);
        }
    }

    fn state(&mut self) -> Option<Value> {
        (!self.kept.is_empty()).then(|| Value::Array(mem::take(&mut self.kept)))
    }

    fn finish(&mut self) {
        self.close();
        // Thinking that nothing followed is of no use: the provider refuses it as the end of a message.
        // Its other blocks are the state of a text without a character.
        let useful = self.kept.iter().rposition(|block| !is_thinking(block)).map_or(0, |last| last + 1);
        self.kept.truncate(useful);
        let state = self.state();
        self.answer.end_text(state);
        let stop = match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::MaxTokens,
            Some("refusal") => StopReason::Refusal,
            Some("pause_turn") => StopReason::Pause,
            _ => self.answer.natural_stop(),
        };
        self.answer.finish(stop, self.counts.usage());
    }
}

pub(super) fn is_thinking(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}

impl Counts {
    fn update(&mut self, newer: &Self) {
        let newest = |old: &mut Option<u64>, new: Option<u64>| *old = new.or(*old);
        newest(&mut self.input_tokens, newer.input_tokens);
        newest(&mut self.output_tokens, newer.output_tokens);
        newest(&mut self.cache_creation_input_tokens, newer.cache_creation_input_tokens);
        newest(&mut self.cache_read_input_tokens, newer.cache_read_input_tokens);
    }

    /// Anthropic counts cached input separately.
    fn usage(&self) -> Usage {
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let read = self.cache_read_input_tokens.unwrap_or(0);
        Usage {
            input_tokens: self.input_tokens.unwrap_or(0).saturating_add(written).saturating_add(read),
            output_tokens: self.output_tokens.unwrap_or(0),
            cache_read_tokens: read,
            cache_write_tokens: written,
        }
    }
}

impl Decode for Decoder {
    fn answer(&mut self) -> &mut ReplyEvents {
        &mut self.answer
    }

    fn event(&mut self, event: sse::SseEvent<'_>) -> Result<(), Failure> {
        match kind_of(event)?.as_ref() {
            "content_block_delta" => self.delta(read::<BlockDelta>(event.data)?.delta),
            "content_block_start" => self.start(read::<BlockStart>(event.data)?.content_block),
            "content_block_stop" => self.close(),
            "message_start" => {
                let Started { model, usage } = read::<MessageStart>(event.data)?.message;
                self.answer.model(model.as_ref().and_then(Value::as_str));
                self.count(usage);
            }
            "message_delta" => {
                let delta: MessageDelta = read(event.data)?;
                self.stop_reason = delta.delta.stop_reason.or(self.stop_reason.take());
                self.count(delta.usage);
            }
            "message_stop" => self.finish(),
            "error" => return Err(ErrorBody::read(event.data).in_stream()),
            _ => {}
        }
        Ok(())
    }
}
