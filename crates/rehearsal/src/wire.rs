//! Answers in the four wire protocols, as streams and whole.

use serde_json::Value;

use crate::protocol::Protocol;
use crate::rendered_reply::RenderedReply;
use crate::request_content::RequestContent;
use crate::score::Score;

mod anthropic;
mod chat;
mod error;
mod gemini;
mod models;
mod responses;

pub(crate) use error::{Trouble, error_body};
pub(crate) use models::models;

/// Room for the events around each byte of text, so that a score is allocated once.
const EVENT_BYTES: usize = 32;
const OPENING_BYTES: usize = 4 * 1024;

/// The answer as a stream of events.
pub(crate) fn stream(received: &RequestContent, answer: &RenderedReply) -> Score {
    let mut score = Score::with_capacity(OPENING_BYTES + answer.text_bytes() * EVENT_BYTES);
    match received.protocol {
        Protocol::Anthropic => anthropic::stream(answer, &mut score),
        Protocol::OpenaiResponses => responses::stream(received, answer, &mut score),
        Protocol::OpenaiChat => chat::stream(received, answer, &mut score),
        Protocol::Gemini => gemini::stream(received, answer, &mut score),
    }
    score
}

/// The answer as one JSON value.
pub(crate) fn whole(received: &RequestContent, answer: &RenderedReply) -> Value {
    match received.protocol {
        Protocol::Anthropic => anthropic::whole(answer),
        Protocol::OpenaiResponses => responses::whole(received, answer),
        Protocol::OpenaiChat => chat::whole(answer),
        Protocol::Gemini => gemini::whole(answer),
    }
}

/// Ends a stream with an error after so many tokens.
pub(crate) fn fail(
    received: &RequestContent,
    answer: &RenderedReply,
    score: &mut Score,
    after: usize,
    code: &str,
) {
    score.reopen(after);
    let message = error::in_stream(code);
    match received.protocol {
        Protocol::Anthropic => anthropic::fail(score, code, &message),
        Protocol::OpenaiResponses => responses::fail(received, answer, score, code, &message),
        Protocol::OpenaiChat => chat::fail(score, code, &message),
        Protocol::Gemini => gemini::fail(received, score, code, &message),
    }
}
