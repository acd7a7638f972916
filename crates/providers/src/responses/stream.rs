//! The stream of OpenAI Responses.

use std::mem;

use llm::{Failure, StopReason, ToolInput, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::ErrorBody;
use crate::reply_events::ReplyEvents;
use crate::sse;
use crate::wire::{Decode, kind_of, read};

#[derive(Debug)]
pub(crate) struct Decoder {
    answer: ReplyEvents,
    /// Reasoning items that will be the state of the next message or call.
    before: Vec<Value>,
    refused: bool,
    /// Whole items came one by one, as they should.
    items: bool,
}

#[derive(Deserialize)]
struct TextDelta {
    delta: String,
}

#[derive(Deserialize)]
struct ItemDone {
    item: Value,
}

#[derive(Deserialize)]
struct Ended {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    model: Option<Value>,
    output: Option<Vec<Value>>,
    usage: Option<Counts>,
    incomplete_details: Option<Incomplete>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<Cached>,
}

#[derive(Deserialize)]
struct Cached {
    cached_tokens: Option<u64>,
}

impl Decoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self { answer: ReplyEvents::new(provider), before: Vec::new(), refused: false, items: false }
    }

    /// A whole item.
    fn item(&mut self, item: Value) {
        let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "message" => {
                if self.answer.text_bytes() == 0 {
                    self.whole_message(&item);
                }
                if self.answer.text_bytes() > 0 {
                    let state = self.state(item.get("phase"));
                    self.answer.end_text(state);
                }
            }
            "function_call" => {
                // A message without an end ends before the next item.
                self.end_text();
                let id = if text("call_id").is_empty() { text("id") } else { text("call_id") };
                let state = self.state(None);
                let input = ToolInput::parse(text("arguments"));
                self.answer.call(id.to_owned(), text("name").to_owned(), input, state);
            }
            "reasoning" if can_return(&item) => self.before.push(item),
            _ => {}
        }
    }

    /// The text of a message that came without deltas.
    fn whole_message(&mut self, item: &Value) {
        let parts = item.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for part in parts {
            self.refused |= part.get("refusal").is_some();
            if let Some(text) = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str) {
                self.answer.text(text);
            }
        }
    }

    fn end_text(&mut self) {
        if self.answer.text_bytes() > 0 {
            let state = self.state(None);
            self.answer.end_text(state);
        }
    }

    fn state(&mut self, phase: Option<&Value>) -> Option<Value> {
        let mut state = Map::new();
        if !self.before.is_empty() {
            state.insert("before".to_owned(), Value::Array(mem::take(&mut self.before)));
        }
        if let Some(phase) = phase.filter(|phase| !phase.is_null()) {
            state.insert("phase".to_owned(), phase.clone());
        }
        (!state.is_empty()).then_some(Value::Object(state))
    }

    fn finish(&mut self, response: Response, complete: bool) {
        if !self.items {
            // Some servers send deltas and nothing else until the end.
            for item in response.output.into_iter().flatten() {
                self.item(item);
            }
        }
        // Trailing reasoning is dropped: the provider refuses it without the item that follows.
        self.end_text();
        let reason = response.incomplete_details.and_then(|details| details.reason);
        let stop = match reason.as_deref() {
            Some("content_filter") => StopReason::Refusal,
            _ if !complete => StopReason::MaxTokens,
            _ if self.refused => StopReason::Refusal,
            _ => self.answer.natural_stop(),
        };
        let usage = response.usage.map(Usage::from).unwrap_or_default();
        self.answer.model(response.model.as_ref().and_then(Value::as_str));
        self.answer.finish(stop, usage);
    }
}

/// The provider stores nothing: only items with their own content can be sent back.
fn can_return(item: &Value) -> bool {
    let encrypted =
        item.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let open = item.get("content").and_then(Value::as_array).is_some_and(|parts| !parts.is_empty());
    encrypted || open
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        Self {
            input_tokens: counts.input_tokens.unwrap_or(0),
            output_tokens: counts.output_tokens.unwrap_or(0),
            cache_read_tokens: counts
                .input_tokens_details
                .and_then(|cached| cached.cached_tokens)
                .unwrap_or(0),
            cache_write_tokens: 0,
        }
    }
}

impl Decode for Decoder {
    fn answer(&mut self) -> &mut ReplyEvents {
        &mut self.answer
    }

    fn event(&mut self, event: sse::SseEvent<'_>) -> Result<(), Failure> {
        if event.data == "[DONE]" {
            return Ok(());
        }
        match kind_of(event)?.as_ref() {
            "response.output_text.delta" => self.answer.text(read::<TextDelta>(event.data)?.delta),
            "response.refusal.delta" => {
                self.refused = true;
                self.answer.text(read::<TextDelta>(event.data)?.delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.answer.reasoning(read::<TextDelta>(event.data)?.delta);
            }
            "response.output_item.done" => {
                self.items = true;
                self.item(read::<ItemDone>(event.data)?.item);
            }
            "response.completed" => self.finish(read::<Ended>(event.data)?.response, true),
            "response.incomplete" => self.finish(read::<Ended>(event.data)?.response, false),
            "response.failed" => {
                let error = read::<Ended>(event.data)?.response.error.unwrap_or_default();
                return Err(ErrorBody::of(&error).in_stream());
            }
            "error" => return Err(ErrorBody::read(event.data).in_stream()),
            _ => {}
        }
        Ok(())
    }
}
