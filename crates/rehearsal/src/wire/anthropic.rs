//! Anthropic Messages.

use llm::{StopReason, Usage};
use serde_json::{Value, json};

use crate::rendered_reply::{RenderedReply, ReplyPiece};
use crate::score::{Score, tokens};

const CALL: &str = "toolu_";

pub(super) fn stream(answer: &RenderedReply, score: &mut Score) {
    event(score, "message_start").raw(",\"message\":").json(&opening(answer)).raw(END);
    for (index, piece) in answer.pieces.iter().enumerate() {
        start(score, index, &block(answer, index, piece, Fill::Empty));
        if index == 0 {
            event(score, "ping").raw(END);
        }
        match piece {
            ReplyPiece::Reasoning(text) => {
                deltas(score, index, "thinking_delta", "thinking", text);
                delta(score, index, "signature_delta", "signature", &signature(answer, index));
            }
            ReplyPiece::Text(text) => deltas(score, index, "text_delta", "text", text),
            ReplyPiece::Tool { input, .. } => {
                delta(score, index, "input_json_delta", "partial_json", "");
                deltas(score, index, "input_json_delta", "partial_json", input);
            }
        }
        event(score, "content_block_stop").raw(",\"index\":").number(index as u64).raw(END);
    }
    score.close();
    let delta = json!({ "stop_reason": stop(answer.stop), "stop_sequence": null });
    event(score, "message_delta").raw(",\"delta\":").json(&delta);
    score.raw(",\"usage\":").json(&usage(&answer.usage, answer.usage.output_tokens)).raw(END);
    event(score, "message_stop").raw(END);
}

pub(super) fn whole(answer: &RenderedReply) -> Value {
    let pieces = answer.pieces.iter().enumerate();
    let content: Vec<Value> = pieces.map(|(index, piece)| block(answer, index, piece, Fill::Whole)).collect();
    let mut message = opening(answer);
    message["content"] = content.into();
    message["stop_reason"] = stop(answer.stop).into();
    message["usage"] = usage(&answer.usage, answer.usage.output_tokens);
    message
}

pub(super) fn fail(score: &mut Score, code: &str, message: &str) {
    let error = json!({ "type": code, "message": message });
    event(score, "error").raw(",\"error\":").json(&error).raw(END);
}

const END: &str = "}\n\n";

/// Writes an event up to its type; its other fields and [`END`] follow.
fn event<'a>(score: &'a mut Score, name: &str) -> &'a mut Score {
    score.raw("event: ").raw(name).raw("\ndata: {\"type\":\"").raw(name).raw("\"")
}

fn start(score: &mut Score, index: usize, block: &Value) {
    event(score, "content_block_start").raw(",\"index\":").number(index as u64);
    score.raw(",\"content_block\":").json(block).raw(END);
}

fn deltas(score: &mut Score, index: usize, kind: &str, field: &str, text: &str) {
    for token in tokens(text) {
        score.beat();
        delta(score, index, kind, field, token);
    }
}

fn delta(score: &mut Score, index: usize, kind: &str, field: &str, text: &str) {
    event(score, "content_block_delta").raw(",\"index\":").number(index as u64);
    score.raw(",\"delta\":{\"type\":\"").raw(kind).raw("\",\"").raw(field).raw("\":").json(text);
    score.raw("}").raw(END);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    Empty,
    Whole,
}

fn block(answer: &RenderedReply, index: usize, piece: &ReplyPiece, fill: Fill) -> Value {
    let filled = |text: &str| if fill == Fill::Whole { text.to_owned() } else { String::new() };
    match piece {
        ReplyPiece::Reasoning(text) => json!({
            "type": "thinking",
            "thinking": filled(text),
            "signature": filled(&signature(answer, index)),
        }),
        ReplyPiece::Text(text) => json!({ "type": "text", "text": filled(text) }),
        ReplyPiece::Tool { id, name, input } => {
            let input = match fill {
                Fill::Empty => json!({}),
                // Malformed input cannot be part of well-formed JSON but as a text.
                Fill::Whole => serde_json::from_str(input).unwrap_or_else(|_| Value::from(input.as_str())),
            };
            json!({
                "type": "tool_use",
                "id": answer.call_id(CALL, index, id.as_ref()),
                "name": name,
                "input": input,
            })
        }
    }
}

fn opening(answer: &RenderedReply) -> Value {
    json!({
        "id": format!("msg_{}", answer.stamp),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(&answer.usage, 1),
    })
}

/// This protocol counts cached input separately.
fn usage(usage: &Usage, output_tokens: u64) -> Value {
    let cached = usage.cache_read_tokens + usage.cache_write_tokens;
    json!({
        "input_tokens": usage.input_tokens.saturating_sub(cached),
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": output_tokens,
    })
}

/// A signature that only the provider could verify; clients send it back with the block.
fn signature(answer: &RenderedReply, index: usize) -> String {
    answer.piece_id("rehearsal-signature-", index)
}

fn stop(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
        StopReason::Pause => "pause_turn",
    }
}
