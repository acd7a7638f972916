//! OpenAI's chat completions. Reasoning is sent as open servers do: in `reasoning_content`.

use llm::StopReason;
use serde_json::{Value, json};

use crate::rendered_reply::{RenderedReply, ReplyPiece};
use crate::request_content::RequestContent;
use crate::score::{Score, tokens};

const CALL: &str = "call_";

pub(super) fn stream(received: &RequestContent, answer: &RenderedReply, score: &mut Score) {
    let chunk = Chunk::new(received, answer);
    chunk.delta(score, |score| {
        score.raw("{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}");
    });
    let mut calls = 0;
    for (index, piece) in answer.pieces.iter().enumerate() {
        match piece {
            ReplyPiece::Reasoning(text) => chunk.texts(score, "reasoning_content", text),
            ReplyPiece::Text(text) => chunk.texts(score, "content", text),
            ReplyPiece::Tool { id, name, input } => {
                let id = answer.call_id(CALL, index, id.as_ref());
                chunk.delta(score, |score| {
                    score.raw("{\"tool_calls\":[{\"index\":").number(calls);
                    score.raw(",\"id\":").json(&id).raw(",\"type\":\"function\",\"function\":{\"name\":");
                    score.json(name).raw(",\"arguments\":\"\"}}]}");
                });
                for token in tokens(input) {
                    score.beat();
                    chunk.delta(score, |score| {
                        score.raw("{\"tool_calls\":[{\"index\":").number(calls);
                        score.raw(",\"function\":{\"arguments\":").json(token).raw("}}]}");
                    });
                }
                calls += 1;
            }
        }
    }
    score.close();
    chunk.last(score, finish(answer.stop));
    if received.wants_usage {
        score.raw(&chunk.head).raw(",\"choices\":[],\"usage\":").json(&usage(answer)).raw("}\n\n");
    }
    score.raw("data: [DONE]\n\n");
}

/// The fields that all chunks of a stream share, serialised once.
struct Chunk {
    /// Up to the choices.
    head: String,
    /// After the choices.
    tail: &'static str,
}

impl Chunk {
    fn new(received: &RequestContent, answer: &RenderedReply) -> Self {
        let head = format!(
            "data: {{\"id\":\"chatcmpl-{}\",\"object\":\"chat.completion.chunk\",\"created\":{},\"model\":{},\
             \"system_fingerprint\":\"fp_rehearsal\"",
            answer.stamp,
            answer.created,
            Value::from(answer.model.as_str()),
        );
        // With usage requested, every chunk has the field and the last one a value.
        let tail = if received.wants_usage { "],\"usage\":null}\n\n" } else { "]}\n\n" };
        Self { head, tail }
    }

    fn delta(&self, score: &mut Score, write: impl FnOnce(&mut Score)) {
        score.raw(&self.head).raw(",\"choices\":[{\"index\":0,\"delta\":");
        write(score);
        score.raw(",\"logprobs\":null,\"finish_reason\":null}").raw(self.tail);
    }

    fn texts(&self, score: &mut Score, field: &str, text: &str) {
        for token in tokens(text) {
            score.beat();
            self.delta(score, |score| {
                score.raw("{\"").raw(field).raw("\":").json(token).raw("}");
            });
        }
    }

    fn last(&self, score: &mut Score, finish: &str) {
        score
            .raw(&self.head)
            .raw(",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":");
        score.json(finish).raw("}").raw(self.tail);
    }
}

pub(super) fn whole(answer: &RenderedReply) -> Value {
    let (mut content, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for (index, piece) in answer.pieces.iter().enumerate() {
        match piece {
            ReplyPiece::Reasoning(text) => reasoning.push_str(text),
            ReplyPiece::Text(text) => content.push_str(text),
            ReplyPiece::Tool { id, name, input } => calls.push(json!({
                "id": answer.call_id(CALL, index, id.as_ref()),
                "type": "function",
                "function": { "name": name, "arguments": input },
            })),
        }
    }
    let content = if content.is_empty() && !calls.is_empty() { Value::Null } else { content.into() };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null, "annotations": [] });
    if !reasoning.is_empty() {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": format!("chatcmpl-{}", answer.stamp),
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish(answer.stop),
        }],
        "usage": usage(answer),
        "system_fingerprint": "fp_rehearsal",
    })
}

pub(super) fn fail(score: &mut Score, code: &str, message: &str) {
    let error = json!({ "error": { "message": message, "type": code, "param": null, "code": code } });
    score.raw("data: ").json(&error).raw("\n\n");
}

fn usage(answer: &RenderedReply) -> Value {
    let usage = &answer.usage;
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read_tokens, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": answer.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

/// This protocol has no pause.
fn finish(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::Pause => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    }
}
