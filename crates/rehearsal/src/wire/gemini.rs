//! Gemini: every chunk is a whole response that holds the next parts.

use llm::StopReason;
use serde_json::{Map, Value, json};

use crate::protocol::Framing;
use crate::rendered_reply::{RenderedReply, ReplyPiece};
use crate::request_content::RequestContent;
use crate::score::{Score, tokens};

pub(super) fn stream(received: &RequestContent, answer: &RenderedReply, score: &mut Score) {
    let chunk = Chunk::new(received, answer);
    let mut signature = signature(answer);
    for piece in &answer.pieces {
        match piece {
            ReplyPiece::Reasoning(text) => chunk.texts(score, text, true),
            ReplyPiece::Text(text) => chunk.texts(score, text, false),
            // Gemini does not send malformed calls; it reports them at the end.
            ReplyPiece::Tool { .. } if answer.malformed => {}
            ReplyPiece::Tool { id, name, input } => {
                score.beat();
                let part = call(id.as_ref(), name, input, signature.take());
                chunk.open(score);
                score.json(&part);
                chunk.close(score);
            }
        }
    }
    score.close();
    chunk.last(score, answer, signature);
}

/// The fields that all chunks of a stream share, serialised once.
struct Chunk {
    framing: Framing,
    tail: String,
}

impl Chunk {
    fn new(received: &RequestContent, answer: &RenderedReply) -> Self {
        let input = answer.usage.input_tokens;
        let tail = format!(
            "],\"role\":\"model\"}},\"index\":0}}],\"usageMetadata\":{{\"promptTokenCount\":{input},\
             \"totalTokenCount\":{input}}},\"modelVersion\":{},\"responseId\":\"{}\"}}",
            Value::from(answer.model.as_str()),
            answer.stamp,
        );
        Self { framing: received.framing, tail }
    }

    fn open(&self, score: &mut Score) {
        begin(self.framing, score);
        score.raw("{\"candidates\":[{\"content\":{\"parts\":[");
    }

    fn close(&self, score: &mut Score) {
        score.raw(&self.tail);
        end(self.framing, score);
    }

    fn texts(&self, score: &mut Score, text: &str, thought: bool) {
        for token in tokens(text) {
            score.beat();
            self.open(score);
            score.raw("{\"text\":").json(token).raw(if thought { ",\"thought\":true}" } else { "}" });
            self.close(score);
        }
    }

    fn last(&self, score: &mut Score, answer: &RenderedReply, signature: Option<String>) {
        let mut part = json!({ "text": "" });
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature.into();
        }
        begin(self.framing, score);
        score.json(&response(answer, &[part]));
        end(self.framing, score);
        if self.framing == Framing::Array {
            score.raw("]");
        }
    }
}

fn begin(framing: Framing, score: &mut Score) {
    match framing {
        Framing::Array => score.raw(if score.bytes.is_empty() { "[" } else { ",\r\n" }),
        _ => score.raw("data: "),
    };
}

fn end(framing: Framing, score: &mut Score) {
    if framing != Framing::Array {
        score.raw("\r\n\r\n");
    }
}

pub(super) fn whole(answer: &RenderedReply) -> Value {
    let mut signature = signature(answer);
    let mut parts: Vec<Value> = Vec::new();
    for piece in &answer.pieces {
        match piece {
            ReplyPiece::Reasoning(text) => parts.push(json!({ "text": text, "thought": true })),
            ReplyPiece::Text(text) => parts.push(json!({ "text": text })),
            ReplyPiece::Tool { .. } if answer.malformed => {}
            ReplyPiece::Tool { id, name, input } => {
                parts.push(call(id.as_ref(), name, input, signature.take()));
            }
        }
    }
    if let (Some(signature), Some(last)) = (signature, parts.last_mut()) {
        last["thoughtSignature"] = signature.into();
    }
    response(answer, &parts)
}

pub(super) fn fail(received: &RequestContent, score: &mut Score, code: &str, message: &str) {
    let status = if code == "overloaded_error" { "UNAVAILABLE" } else { code };
    begin(received.framing, score);
    score.json(&json!({ "error": { "code": 503, "message": message, "status": status } }));
    end(received.framing, score);
    if received.framing == Framing::Array {
        score.raw("]");
    }
}

/// The last response, or the only one.
fn response(answer: &RenderedReply, parts: &[Value]) -> Value {
    let malformed = answer.pieces.iter().find_map(|piece| match piece {
        ReplyPiece::Tool { name, input, .. } if answer.malformed => Some((name, input)),
        _ => None,
    });
    let mut candidate = json!({
        "content": { "parts": parts, "role": "model" },
        "finishReason": finish(answer.stop),
        "index": 0,
    });
    if let Some((name, input)) = malformed {
        candidate["finishReason"] = "MALFORMED_FUNCTION_CALL".into();
        candidate["finishMessage"] = format!("Malformed function call: {name}({input}").into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(answer),
        "modelVersion": answer.model,
        "responseId": answer.stamp,
    })
}

/// Thoughts are counted beside the candidates here, not among them.
fn usage(answer: &RenderedReply) -> Value {
    let usage = &answer.usage;
    let mut metadata = Map::new();
    metadata.insert("promptTokenCount".to_owned(), usage.input_tokens.into());
    let said = usage.output_tokens.saturating_sub(answer.reasoning_tokens);
    metadata.insert("candidatesTokenCount".to_owned(), said.into());
    metadata.insert("totalTokenCount".to_owned(), (usage.input_tokens + usage.output_tokens).into());
    if usage.cache_read_tokens > 0 {
        metadata.insert("cachedContentTokenCount".to_owned(), usage.cache_read_tokens.into());
    }
    if answer.reasoning_tokens > 0 {
        metadata.insert("thoughtsTokenCount".to_owned(), answer.reasoning_tokens.into());
    }
    Value::Object(metadata)
}

fn call(id: Option<&String>, name: &str, input: &str, signature: Option<String>) -> Value {
    let args = serde_json::from_str(input).unwrap_or_else(|_| json!({}));
    let mut call = json!({ "name": name, "args": args });
    if let Some(id) = id {
        call["id"] = id.as_str().into();
    }
    let mut part = json!({ "functionCall": call });
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

/// The signature on the first call, or else on the last part, in base64.
fn signature(answer: &RenderedReply) -> Option<String> {
    let letters = |stamp: &str| stamp.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    answer.has_reasoning().then(|| {
        let mut text = format!("rehearsalsignature{}", letters(&answer.stamp));
        while !text.len().is_multiple_of(4) {
            text.push('A');
        }
        text
    })
}

/// This protocol has no stop reason for calls or pauses.
fn finish(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::ToolUse | StopReason::Pause => "STOP",
        StopReason::MaxTokens => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
    }
}
