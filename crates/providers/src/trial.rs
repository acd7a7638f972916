//! Shared test code of the four protocols: streams as text, and requests to compare.

use std::sync::Arc;

use llm::{
    Block, CallBlock, Failure, FailureKind, Message, ProviderState, ReplyEvent, Request, Sampling,
    StopReason, System, ToolCall, ToolInput, ToolResult, ToolSpec, Usage,
};
use serde_json::{Value, json};

use crate::sse;
use crate::wire::{Decode, Target};

/// The name under which the provider of a test is configured.
pub(crate) const NAME: &str = "mine";

pub(crate) fn target() -> Target<'static> {
    Target { provider: NAME, official: false, reasoning_items: None, max_output_tokens: None }
}

/// The events of a body with exactly this text.
pub(crate) fn play(mut decoder: impl Decode, body: &str) -> (Vec<ReplyEvent>, Result<(), Failure>) {
    let result = feed(&mut decoder, body);
    let events = std::iter::from_fn(|| decoder.answer().next()).collect();
    (events, result)
}

fn feed(decoder: &mut impl Decode, body: &str) -> Result<(), Failure> {
    let mut events = sse::Decoder::new(1_000_000);
    events.push(body.as_bytes());
    while let Some(event) = events.next().expect("a short event") {
        decoder.event(event)?;
        if decoder.answer().is_finished() {
            return Ok(());
        }
    }
    if let Some(event) = events.rest().expect("a short event") {
        decoder.event(event)?;
    }
    if decoder.answer().is_finished() { Ok(()) } else { decoder.end() }
}

/// The events of a body that is a whole answer.
pub(crate) fn events(decoder: impl Decode, body: &str) -> Vec<ReplyEvent> {
    let (events, result) = play(decoder, body);
    assert_eq!(result, Ok(()), "{body}");
    assert!(matches!(events.last(), Some(ReplyEvent::Finished { .. })), "{events:?}");
    events
}

/// How a body ends.
pub(crate) fn end(decoder: impl Decode, body: &str) -> (StopReason, Usage) {
    match events(decoder, body).pop() {
        Some(ReplyEvent::Finished { stop, usage, model: _ }) => (stop, usage),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn failure(decoder: impl Decode, body: &str) -> Failure {
    play(decoder, body).1.expect_err(body)
}

/// Cuts a body at every byte: an answer is finished only after all of its events, and an unfinished
/// one is a transport failure.
pub(crate) fn check_cuts<D: Decode>(decoder: impl Fn() -> D, body: &str) {
    let mut whole = events(decoder(), body);
    whole.pop();
    let mut finished = 0;
    for (cut, _) in body.char_indices() {
        let (mut events, result) = play(decoder(), &body[..cut]);
        match result {
            Ok(()) => {
                finished += 1;
                assert!(matches!(events.pop(), Some(ReplyEvent::Finished { .. })), "cut at {cut}");
                assert_eq!(events, whole, "cut at {cut}: {}", &body[..cut]);
            }
            Err(failure) => {
                assert_eq!(failure.kind, FailureKind::Transport, "cut at {cut}");
                assert!(failure.message.contains("the stream broke off"), "{failure}");
                assert!(
                    !events.iter().any(|event| matches!(event, ReplyEvent::Finished { .. })),
                    "cut at {cut}"
                );
            }
        }
    }
    assert!(finished < body.len() / 2, "a cut body counted as whole {finished} times");
}

/// The blocks that the loop keeps of an answer.
pub(crate) fn blocks(events: Vec<ReplyEvent>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut text = String::new();
    for event in events {
        match event {
            ReplyEvent::TextDelta(delta) => text.push_str(&delta),
            ReplyEvent::TextEnd { state } => {
                blocks.push(Block::Text { text: std::mem::take(&mut text), state });
            }
            ReplyEvent::ToolCall(call) => {
                assert_eq!(text, "", "a text was not ended before a call");
                blocks.push(Block::ToolCall(call));
            }
            ReplyEvent::Started { .. } | ReplyEvent::ReasoningDelta(_) | ReplyEvent::Finished { .. } => {}
        }
    }
    assert_eq!(text, "", "a text was not ended");
    blocks
}

pub(crate) fn text(text: &str) -> Block {
    Block::Text { text: text.into(), state: None }
}

pub(crate) fn call(id: &str, name: &str, input: &Value) -> Block {
    let (input, malformed) = ToolInput::parse(&input.to_string()).into_parts();
    let call = ToolCall { id: id.into(), name: name.into(), input };
    Block::ToolCall(CallBlock { call, malformed, state: None })
}

pub(crate) fn user(text: &str) -> Message {
    Message::User { results: vec![], texts: vec![text.into()] }
}

pub(crate) fn results(results: &[(&str, &str, &str)]) -> Message {
    let results = results
        .iter()
        .map(|(id, tool, output)| ToolResult {
            call_id: (*id).into(),
            tool_name: (*tool).into(),
            output: (*output).into(),
            is_error: output.starts_with("error"),
        })
        .collect();
    Message::User { results, texts: vec![] }
}

/// A request with these messages and nothing else.
pub(crate) fn request(messages: Vec<Message>) -> Request {
    Request {
        model: "model-1".into(),
        system: System::default(),
        messages: messages.into_iter().map(llm::SharedMessage::from).collect(),
        tools: Arc::default(),
        sampling: Sampling::default(),
        output: None,
        may_omit: &[],
    }
}

/// A request with one of everything.
pub(crate) fn full_request() -> Request {
    Request {
        system: System { stable: "Be kind.".into(), context: None, reminder: Some("Plan only.".into()) },
        tools: ["read_file", "list_files"]
            .map(|name| ToolSpec {
                name: name.into(),
                description: format!("Does {name}."),
                input_schema: llm::Schema::new(
                    json!({"type": "object", "properties": {"path": {"type": "string"}}}),
                ),
            })
            .into(),
        sampling: Sampling { temperature: Some(0.5), max_output_tokens: Some(100), ..Sampling::default() },
        ..request(vec![
            user("Read a and b."),
            Message::Assistant(vec![
                text("Both."),
                call("c1", "read_file", &json!({"path": "a"})),
                call("c2", "read_file", &json!({"path": "b"})),
                text("Wait."),
            ]),
            Message::User {
                results: vec![
                    ToolResult {
                        call_id: "c1".into(),
                        tool_name: "read_file".into(),
                        output: "A".into(),
                        is_error: false,
                    },
                    ToolResult {
                        call_id: "c2".into(),
                        tool_name: "read_file".into(),
                        output: "error: gone".into(),
                        is_error: true,
                    },
                ],
                texts: vec!["And?".into()],
            },
        ])
    }
}

pub(crate) fn json_of(body: &impl serde::Serialize) -> Value {
    serde_json::to_value(body).expect("JSON")
}

/// The same blocks as if another provider had made them.
pub(crate) fn of_another(mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        let (Block::Text { state, .. } | Block::ToolCall(CallBlock { state, .. })) = block;
        if let Some(ProviderState { provider, .. }) = state {
            *provider = "another".into();
        }
    }
    blocks
}
