//! OpenAI Responses: items with parts, each announced, filled and closed.

use llm::StopReason;
use serde_json::{Value, json};

use crate::rendered_reply::{RenderedReply, ReplyPiece};
use crate::request_content::RequestContent;
use crate::score::{Score, tokens};

const CALL: &str = "call_";

pub(super) fn stream(received: &RequestContent, answer: &RenderedReply, score: &mut Score) {
    let mut events = Events { score, sequence: 0 };
    let opening = response(answer, "in_progress", &[]);
    for name in ["response.created", "response.in_progress"] {
        events.open(name).raw(",\"response\":").json(&opening).raw(END);
    }
    let mut done = Vec::with_capacity(answer.pieces.len());
    for (index, piece) in answer.pieces.iter().enumerate() {
        let added = item(received, answer, index, piece, Fill::Empty);
        events.item("response.output_item.added", index, &added);
        match piece {
            ReplyPiece::Reasoning(text) => summary(&mut events, answer, index, text),
            ReplyPiece::Text(text) => message(&mut events, answer, index, text),
            ReplyPiece::Tool { name, input, .. } => arguments(&mut events, answer, index, name, input),
        }
        let finished = item(received, answer, index, piece, Fill::Whole);
        events.item("response.output_item.done", index, &finished);
        done.push(finished);
    }
    events.score.close();
    let (name, status) = end(answer);
    events.open(name).raw(",\"response\":").json(&response(answer, status, &done)).raw(END);
}

pub(super) fn whole(received: &RequestContent, answer: &RenderedReply) -> Value {
    let pieces = answer.pieces.iter().enumerate();
    let items: Vec<Value> =
        pieces.map(|(index, piece)| item(received, answer, index, piece, Fill::Whole)).collect();
    response(answer, end(answer).1, &items)
}

/// An error event and the failed response. Some servers send only one of them.
pub(super) fn fail(
    received: &RequestContent,
    answer: &RenderedReply,
    score: &mut Score,
    code: &str,
    message: &str,
) {
    let sequence =
        score.bytes.windows(SEQUENCE.len()).filter(|window| *window == SEQUENCE.as_bytes()).count();
    let mut events = Events { score, sequence: sequence as u64 };
    let param = json!({ "code": code, "message": message, "param": null });
    events.open("error").raw(",\"code\":").json(&param["code"]).raw(",\"message\":").json(&param["message"]);
    events.score.raw(",\"param\":null").raw(END);
    let mut failed = response(&RenderedReply { pieces: Vec::new(), ..answer.clone() }, "failed", &[]);
    failed["error"] = json!({ "code": code, "message": message });
    failed["model"] = received.model.as_str().into();
    events.open("response.failed").raw(",\"response\":").json(&failed).raw(END);
}

const END: &str = "}\n\n";
const SEQUENCE: &str = ",\"sequence_number\":";

/// Numbers its events.
struct Events<'a> {
    score: &'a mut Score,
    sequence: u64,
}

impl Events<'_> {
    /// Writes an event up to its number; its other fields and [`END`] follow.
    fn open(&mut self, name: &str) -> &mut Score {
        self.score.raw("event: ").raw(name).raw("\ndata: {\"type\":\"").raw(name).raw("\"");
        self.score.raw(SEQUENCE).number(self.sequence);
        self.sequence += 1;
        self.score
    }

    fn item(&mut self, name: &str, index: usize, item: &Value) {
        self.open(name).raw(",\"output_index\":").number(index as u64).raw(",\"item\":").json(item).raw(END);
    }

    /// Writes an event up to the place that it is about.
    fn within(&mut self, name: &str, index: usize, item_id: &str, place: &str) -> &mut Score {
        self.open(name).raw(",\"item_id\":\"").raw(item_id).raw("\",\"output_index\":").number(index as u64);
        self.score.raw(place)
    }

    fn deltas(&mut self, name: &str, index: usize, item_id: &str, place: &str, text: &str) {
        for token in tokens(text) {
            self.score.beat();
            self.within(name, index, item_id, place).raw(",\"delta\":").json(token).raw(END);
        }
    }
}

fn summary(events: &mut Events<'_>, answer: &RenderedReply, index: usize, text: &str) {
    const PLACE: &str = ",\"summary_index\":0";
    let id = answer.piece_id("rs_", index);
    let part = |text: &str| json!({ "type": "summary_text", "text": text });
    let added = "response.reasoning_summary_part.added";
    events.within(added, index, &id, PLACE).raw(",\"part\":").json(&part("")).raw(END);
    events.deltas("response.reasoning_summary_text.delta", index, &id, PLACE, text);
    let done = "response.reasoning_summary_text.done";
    events.within(done, index, &id, PLACE).raw(",\"text\":").json(text).raw(END);
    let done = "response.reasoning_summary_part.done";
    events.within(done, index, &id, PLACE).raw(",\"part\":").json(&part(text)).raw(END);
}

fn message(events: &mut Events<'_>, answer: &RenderedReply, index: usize, text: &str) {
    const PLACE: &str = ",\"content_index\":0";
    let id = answer.piece_id("msg_", index);
    // Text comes with the likelihood of its tokens, a refusal does not.
    let (delta, done, field, extra) = match answer.stop {
        StopReason::Refusal => ("response.refusal.delta", "response.refusal.done", "refusal", PLACE),
        _ => {
            let extra = ",\"content_index\":0,\"logprobs\":[]";
            ("response.output_text.delta", "response.output_text.done", "text", extra)
        }
    };
    let added = "response.content_part.added";
    events.within(added, index, &id, PLACE).raw(",\"part\":").json(&part(answer, "")).raw(END);
    events.deltas(delta, index, &id, extra, text);
    events.within(done, index, &id, extra).raw(",\"").raw(field).raw("\":").json(text).raw(END);
    let done = "response.content_part.done";
    events.within(done, index, &id, PLACE).raw(",\"part\":").json(&part(answer, text)).raw(END);
}

fn arguments(events: &mut Events<'_>, answer: &RenderedReply, index: usize, name: &str, input: &str) {
    let id = answer.piece_id("fc_", index);
    events.deltas("response.function_call_arguments.delta", index, &id, "", input);
    events.within("response.function_call_arguments.done", index, &id, "").raw(",\"name\":").json(name);
    events.score.raw(",\"arguments\":").json(input).raw(END);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    Empty,
    Whole,
}

fn item(
    received: &RequestContent,
    answer: &RenderedReply,
    index: usize,
    piece: &ReplyPiece,
    fill: Fill,
) -> Value {
    let whole = fill == Fill::Whole;
    let status = match answer.stop {
        _ if !whole => "in_progress",
        StopReason::MaxTokens if index + 1 == answer.pieces.len() => "incomplete",
        _ => "completed",
    };
    match piece {
        ReplyPiece::Reasoning(text) => {
            let summary = if whole { json!([{ "type": "summary_text", "text": text }]) } else { json!([]) };
            let mut item =
                json!({ "id": answer.piece_id("rs_", index), "type": "reasoning", "summary": summary });
            if received.wants_encrypted {
                item["encrypted_content"] = answer.piece_id("rehearsal-encrypted-", index).into();
            }
            item
        }
        ReplyPiece::Text(text) => json!({
            "id": answer.piece_id("msg_", index),
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": if whole { json!([part(answer, text)]) } else { json!([]) },
        }),
        ReplyPiece::Tool { id, name, input } => json!({
            "id": answer.piece_id("fc_", index),
            "type": "function_call",
            "status": status,
            "call_id": answer.call_id(CALL, index, id.as_ref()),
            "name": name,
            "arguments": if whole { input.as_str() } else { "" },
        }),
    }
}

fn part(answer: &RenderedReply, text: &str) -> Value {
    match answer.stop {
        StopReason::Refusal => json!({ "type": "refusal", "refusal": text }),
        _ => json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }),
    }
}

fn response(answer: &RenderedReply, status: &str, output: &[Value]) -> Value {
    let incomplete =
        if status == "incomplete" { json!({ "reason": "max_output_tokens" }) } else { Value::Null };
    let usage = if status == "completed" || status == "incomplete" { usage(answer) } else { Value::Null };
    json!({
        "id": format!("resp_{}", answer.stamp),
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": incomplete,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "store": false,
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
    })
}

fn usage(answer: &RenderedReply) -> Value {
    let usage = &answer.usage;
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": answer.reasoning_tokens },
        "total_tokens": usage.input_tokens + usage.output_tokens,
    })
}

/// The last event and its status. This protocol has no pause, and a refusal is part of the content.
fn end(answer: &RenderedReply) -> (&'static str, &'static str) {
    match answer.stop {
        StopReason::MaxTokens => ("response.incomplete", "incomplete"),
        _ => ("response.completed", "completed"),
    }
}
