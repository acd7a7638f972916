//! Puts an answer on the wire, with the faults that its reply asks for.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

use super::player::{Ending, Player, Step, Streams, steps};
use crate::protocol::{Framing, Protocol};
use crate::rendered_reply::RenderedReply;
use crate::request_content::{Rejected, RequestContent};
use crate::score::{Score, tokens};
use crate::script::{Cut, Fault, HttpError, Reply};
use crate::wire::{self, Trouble};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";

pub(super) async fn perform(
    reply: &Reply,
    received: &RequestContent,
    answer: &RenderedReply,
    streams: &Arc<Streams>,
) -> Response {
    let none = Fault::default();
    let fault = reply.fault.as_ref().unwrap_or(&none);
    // A stall without a place holds everything up, the head of the answer included.
    if let Some(stall) = fault.stall.filter(|stall| stall.after.is_none()) {
        tokio::time::sleep(stall.wait).await;
    }
    let mut response = if let Some(refused) = &fault.refused {
        refusal(received.protocol, refused, (None, fault.body.as_deref()), &answer.stamp)
    } else if let Some(body) = &fault.body {
        let kind = if received.framing == Framing::Events { EVENTS } else { JSON };
        response(StatusCode::OK, kind, Body::from(body.clone()))
    } else if received.framing == Framing::Whole {
        whole(reply, fault, received, answer).await
    } else {
        stream(reply, fault, received, answer, streams)
    };
    name(&mut response, received.protocol, &answer.stamp);
    if let Some(kind) = fault.content_type.as_deref().and_then(|kind| HeaderValue::from_str(kind).ok()) {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}

fn stream(
    reply: &Reply,
    fault: &Fault,
    received: &RequestContent,
    answer: &RenderedReply,
    streams: &Arc<Streams>,
) -> Response {
    let mut score = wire::stream(received, answer);
    let middle = score.tokens() / 2;
    if let Some(error) = &fault.error_event {
        wire::fail(received, answer, &mut score, error.after.unwrap_or(middle), &error.code);
    }
    let (limit, ending) = match fault.cut {
        None => (score.bytes.len(), Ending::Whole),
        Some(cut) => {
            let ending = if cut.clean { Ending::Whole } else { Ending::Cut };
            (cut_at(&score, cut), ending)
        }
    };
    let stall = fault.stall.and_then(|stall| Some((stall.after?, stall.wait)));
    let steps = steps(&score, reply.pace, stall, limit);
    let player = Player::new(score.bytes, steps, ending, Arc::clone(streams));
    let kind = match (received.framing, received.protocol) {
        (Framing::Array, _) => "application/json; charset=UTF-8",
        (_, Protocol::Gemini) => "text/event-stream",
        _ => EVENTS,
    };
    let mut response = response(StatusCode::OK, kind, Body::from_stream(player));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The byte at which a stream is cut.
fn cut_at(score: &Score, cut: Cut) -> usize {
    let start = score.start_of(cut.after.unwrap_or(score.tokens() / 2));
    if !cut.half_event {
        return start;
    }
    let rest = &score.bytes[start..];
    let length = rest.windows(2).position(|two| two == b"\n\n" || two == b"\r\n").unwrap_or(rest.len());
    start + length.div_ceil(2)
}

async fn whole(reply: &Reply, fault: &Fault, received: &RequestContent, answer: &RenderedReply) -> Response {
    let count: usize = answer.pieces.iter().map(|piece| tokens(piece.text()).count()).sum();
    let later = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
    let mut wait = reply.pace.first_token + reply.pace.token.saturating_mul(later);
    if let Some(stall) = fault.stall.filter(|stall| stall.after.is_some()) {
        wait += stall.wait;
    }
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    if let Some(error) = &fault.error_event {
        let status = match error.code.as_str() {
            "overloaded_error" if received.protocol == Protocol::Anthropic => 529,
            "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => 429,
            _ => 503,
        };
        let refused =
            HttpError { status, retry_after_s: None, code: None, message: None, context_exceeded: false };
        return refusal(received.protocol, &refused, (None, None), &answer.stamp);
    }
    let mut text = wire::whole(received, answer).to_string();
    let Some(cut) = fault.cut else { return response(StatusCode::OK, JSON, Body::from(text)) };
    let announced = text.len();
    let mut half = text.len() / 2;
    while !text.is_char_boundary(half) {
        half -= 1;
    }
    text.truncate(half);
    if cut.clean {
        return response(StatusCode::OK, JSON, Body::from(text));
    }
    let step = Step { due: Duration::ZERO, end: text.len() };
    let player = Player::new(text.into_bytes(), vec![step], Ending::Cut, Arc::default());
    let mut response = response(StatusCode::OK, JSON, Body::from_stream(player));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(announced));
    response
}

fn refusal(
    protocol: Protocol,
    refused: &HttpError,
    (parameter, body): (Option<&str>, Option<&str>),
    stamp: &str,
) -> Response {
    let request_id = format!("req_{stamp}");
    let usual = match refused.status {
        401 | 403 => "This key may not do this; the rehearsal's script says so.",
        429 => "Too many requests; the rehearsal's script says so.",
        _ => "The rehearsal's script answers with this error.",
    };
    let trouble = Trouble {
        status: refused.status,
        code: refused.code.as_deref(),
        message: refused.message.as_deref().unwrap_or(usual),
        parameter,
        retry_after_s: refused.retry_after_s,
        context_exceeded: refused.context_exceeded,
        request_id: &request_id,
    };
    let body = body.map_or_else(|| wire::error_body(protocol, &trouble).to_string(), str::to_owned);
    let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = response(status, JSON, Body::from(body));
    if let Some(seconds) = refused.retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An error of the rehearsal itself.
pub(super) fn trouble(protocol: Protocol, status: u16, message: &str, stamp: &str) -> Response {
    own_refusal(protocol, status, (message, None), stamp)
}

/// The answer to an invalid request.
pub(super) fn reject(protocol: Protocol, rejected: &Rejected, stamp: &str) -> Response {
    own_refusal(protocol, 400, (&rejected.message, rejected.parameter.as_deref()), stamp)
}

fn own_refusal(
    protocol: Protocol,
    status: u16,
    (message, parameter): (&str, Option<&str>),
    stamp: &str,
) -> Response {
    let refused = HttpError {
        status,
        retry_after_s: None,
        code: None,
        message: Some(message.to_owned()),
        context_exceeded: false,
    };
    let mut response = refusal(protocol, &refused, (parameter, None), stamp);
    name(&mut response, protocol, stamp);
    response
}

pub(super) fn json(status: StatusCode, value: &Value) -> Response {
    response(status, JSON, Body::from(Bytes::from(value.to_string())))
}

fn response(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Gives the response the id by which its provider knows the request.
fn name(response: &mut Response, protocol: Protocol, stamp: &str) {
    let header = match protocol {
        Protocol::Anthropic => HeaderName::from_static("request-id"),
        Protocol::OpenaiResponses | Protocol::OpenaiChat => HeaderName::from_static("x-request-id"),
        // Gemini names the answer in its body.
        Protocol::Gemini => return,
    };
    if let Ok(value) = HeaderValue::from_str(&format!("req_{stamp}")) {
        response.headers_mut().insert(header, value);
    }
}
