//! The stream of Gemini.

use std::mem;

use llm::{Failure, Request, StopReason, ToolInput, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::call_ids::CallIds;
use crate::failure::ErrorBody;
use crate::reply_events::ReplyEvents;
use crate::sse;
use crate::wire::{Decode, cut, read};

/// The name of a call without a known tool.
const NAMELESS: &str = "malformed_function_call";

#[derive(Debug)]
pub(crate) struct Decoder {
    answer: ReplyEvents,
    ids: CallIds,
    tools: Vec<String>,
    /// The signature on a part of the text that is not yet complete, and where that part began.
    signed: Option<(String, usize)>,
    finish: Option<(String, String)>,
    usage: Usage,
    /// True once the answer's id has been sent.
    is_named: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    response_id: Option<String>,
    #[serde(default)]
    candidates: Vec<Candidate>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Counts>,
    model_version: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    function_call: Option<FunctionCall>,
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct FunctionCall {
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    prompt_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
}

impl Decoder {
    pub(crate) fn new(provider: &str, request: &Request) -> Self {
        Self {
            answer: ReplyEvents::new(provider),
            ids: CallIds::of(request),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            signed: None,
            finish: None,
            usage: Usage::default(),
            is_named: false,
        }
    }

    fn part(&mut self, part: Part) {
        if let Some(call) = part.function_call {
            self.end_text();
            self.call(call, part.thought_signature);
            return;
        }
        let Some(text) = part.text else { return };
        if part.thought {
            self.answer.reasoning(text);
            return;
        }
        // A text has one signature; a signed part ends its text.
        if self.signed.is_some() {
            self.end_text();
        }
        if let Some(signature) = part.thought_signature {
            self.signed = Some((signature, self.answer.text_bytes()));
        }
        self.answer.text(text);
    }

    fn call(&mut self, call: FunctionCall, signature: Option<String>) {
        let given = call.id.filter(|id| !id.is_empty());
        let id = self.ids.take(given.as_deref());
        let mut state = Map::new();
        if given.as_ref() == Some(&id) {
            state.insert("id".to_owned(), Value::String(id.clone()));
        }
        if let Some(signature) = signature {
            state.insert("thoughtSignature".to_owned(), Value::String(signature));
        }
        let input = match call.args {
            Value::Null => ToolInput::Object(Map::new()),
            Value::Object(args) => ToolInput::Object(args),
            other => ToolInput::parse(&other.to_string()),
        };
        self.answer.call(id, call.name, input, (!state.is_empty()).then_some(Value::Object(state)));
    }

    fn end_text(&mut self) {
        let state = self.signed.take().map(|(signature, after)| {
            let mut state = Map::from_iter([("thoughtSignature".to_owned(), Value::String(signature))]);
            if after > 0 {
                state.insert("after".to_owned(), Value::from(after));
            }
            Value::Object(state)
        });
        self.answer.end_text(state);
    }

    /// An unreadable call is still a call: its result tells the
    /// model what was wrong.
    fn malformed_call(&mut self, message: String) {
        let named = self.tools.iter().filter(|tool| message.contains(tool.as_str()));
        let name = named.max_by_key(|tool| tool.len()).cloned().unwrap_or_else(|| NAMELESS.to_owned());
        let reason = "the call could not be read; call the tool again with one JSON object";
        let id = self.ids.take(None);
        self.answer.call(id, name, ToolInput::malformed(message, reason), None);
    }
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        let sum = |one: Option<u64>, two: Option<u64>| one.unwrap_or(0).saturating_add(two.unwrap_or(0));
        Self {
            input_tokens: sum(counts.prompt_token_count, counts.tool_use_prompt_token_count),
            output_tokens: sum(counts.candidates_token_count, counts.thoughts_token_count),
            cache_read_tokens: counts.cached_content_token_count.unwrap_or(0),
            cache_write_tokens: 0,
        }
    }
}

impl Decode for Decoder {
    fn answer(&mut self) -> &mut ReplyEvents {
        &mut self.answer
    }

    fn event(&mut self, event: sse::SseEvent<'_>) -> Result<(), Failure> {
        let chunk: Chunk = read(event.data)?;
        if let Some(error) = chunk.error {
            return Err(ErrorBody::of(&error).in_stream());
        }
        // No header has it, but every chunk does.
        if let Some(id) = chunk.response_id.filter(|id| !self.is_named && !id.is_empty()) {
            self.is_named = true;
            self.answer.started(Some(id));
        }
        self.answer.model(chunk.model_version.as_ref().and_then(Value::as_str));
        if let Some(usage) = chunk.usage_metadata {
            self.usage = usage.into();
        }
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            self.finish = Some((format!("BLOCKED_{reason}"), String::new()));
        }
        if let Some(candidate) = chunk.candidates.into_iter().next() {
            for part in candidate.content.map(|content| content.parts).unwrap_or_default() {
                self.part(part);
            }
            if let Some(reason) = candidate.finish_reason {
                self.finish = Some((reason, candidate.finish_message.unwrap_or_default()));
            }
        }
        Ok(())
    }

    /// More may follow the reason to stop, so the answer is complete at the end only.
    fn end(&mut self) -> Result<(), Failure> {
        let Some((reason, message)) = mem::take(&mut self.finish) else { return Err(cut()) };
        self.end_text();
        let stop = match reason.as_str() {
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => StopReason::Refusal,
            blocked if blocked.starts_with("BLOCKED_") => StopReason::Refusal,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
                self.malformed_call(message);
                StopReason::ToolUse
            }
            _ => self.answer.natural_stop(),
        };
        self.answer.finish(stop, self.usage);
        Ok(())
    }
}
