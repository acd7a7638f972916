//! Properties of requests that all four protocols share.

use llm::{
    Block, CallBlock, Failure, Message, OutputSchema, ProviderState, Request, Sampling, Schema, SharedMessage,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::Target;
use crate::trial::{self, full_request, user};
use crate::{anthropic, chat, gemini, responses};

const TARGET: Target<'_> =
    Target { provider: "stage", official: false, reasoning_items: None, max_output_tokens: None };

const PROTOCOLS: [&str; 4] = ["anthropic", "responses", "chat", "gemini"];

/// The body of a request in a protocol.
fn body(protocol: &str, request: &Request) -> String {
    fn text(body: Result<impl Serialize, Failure>) -> String {
        serde_json::to_string(&body.expect("a body")).expect("JSON")
    }
    match protocol {
        "anthropic" => text(anthropic::request::Body::new(request, TARGET)),
        "responses" => text(responses::request::Body::new(request, TARGET)),
        "chat" => text(chat::request::Body::new(request, TARGET)),
        _ => text(gemini::request::Body::new(request, TARGET)),
    }
}

/// A call with a state that each protocol reads something from.
fn thoughtful_call(id: &str) -> Block {
    let data = json!({
        "reasoning": { "reasoning_content": "Hm." }, "extra_content": { "signed": true },
        "id": format!("given-{id}"), "thoughtSignature": "sig", "before": [{ "type": "reasoning" }],
    });
    let Block::ToolCall(call) = trial::call(id, "read_file", &json!({ "path": "a" })) else {
        unreachable!("a call")
    };
    let state = Some(ProviderState { provider: "stage".to_owned(), data });
    Block::ToolCall(CallBlock { state, ..call })
}

/// Four rounds: a message, a call, its result, an answer.
fn conversation() -> Vec<Message> {
    let round = |at: usize| {
        let id = format!("c{at}");
        [
            user(&format!("Question \"{at}\"\n")),
            Message::Assistant(vec![trial::text("I look."), thoughtful_call(&id)]),
            trial::results(&[(id.as_str(), "read_file", "A")]),
            Message::Assistant(vec![trial::text(&format!("Answer {at}."))]),
        ]
    };
    (0..4).flat_map(round).collect()
}

/// Messages written for earlier requests must not change what later requests say.
#[test]
fn a_conversation_that_grows_is_sent_as_if_it_were_new() {
    let all = conversation();
    for protocol in PROTOCOLS {
        let shared: Vec<SharedMessage> = all.iter().cloned().map(SharedMessage::from).collect();
        for length in 1..=all.len() {
            let request = Request { messages: shared[..length].to_vec(), ..trial::request(Vec::new()) };
            let fresh = trial::request(all[..length].to_vec());
            assert_eq!(body(protocol, &request), body(protocol, &fresh), "{protocol}, {length} messages");
        }
    }
}

/// A session may move to another provider and back.
#[test]
fn messages_written_in_one_form_are_sent_in_another() {
    let shared = trial::request(conversation());
    for protocol in PROTOCOLS.into_iter().chain(PROTOCOLS) {
        let fresh = trial::request(conversation());
        assert_eq!(body(protocol, &shared), body(protocol, &fresh), "{protocol}");
    }
}

#[test]
fn sampling_that_the_author_left_open_is_not_sent() {
    let set = Sampling { temperature: Some(0.0), top_p: Some(1.0), ..Sampling::default() };
    for protocol in PROTOCOLS {
        let sent = |sampling: Sampling| -> Value {
            let body = body(protocol, &Request { sampling, ..full_request() });
            let body: Value = serde_json::from_str(&body).expect("JSON");
            if protocol == "gemini" { body["generationConfig"].clone() } else { body }
        };
        let top_p = if protocol == "gemini" { "topP" } else { "top_p" };
        for (field, value) in [("temperature", json!(0.0)), (top_p, json!(1.0))] {
            assert_eq!(sent(set).get(field), Some(&value), "{protocol} {field}");
            assert_eq!(sent(Sampling::default()).get(field), None, "{protocol} {field}");
        }
    }
}

/// The fields of a request for an answer in a form, beside those of the same request without.
#[test]
fn a_schema_and_a_seed_are_sent_where_the_protocol_has_them() {
    let schema = json!({
        "type": "object", "properties": { "verdict": { "type": "string" } }, "required": ["verdict"],
        "additionalProperties": false,
    });
    let request = Request {
        sampling: Sampling { seed: Some(0x8000_0007), ..Sampling::default() },
        output: Some(OutputSchema { name: "vote".into(), schema: Schema::new(schema.clone()) }),
        ..trial::request(vec![user("Hi")])
    };
    let strict = |fields: Value| {
        let mut format = json!({ "name": "vote", "schema": schema, "strict": true });
        if let (Some(format), Value::Object(fields)) = (format.as_object_mut(), fields) {
            format.extend(fields);
        }
        format
    };
    let json_schema = json!({ "type": "json_schema" });
    for (protocol, expected) in [
        ("anthropic", json!({ "output_config": { "format": { "type": "json_schema", "schema": schema } } })),
        ("responses", json!({ "text": { "format": strict(json_schema) } })),
        (
            "chat",
            json!({
                "seed": 0x8000_0007_u32,
                "response_format": { "type": "json_schema", "json_schema": strict(json!({})) },
            }),
        ),
        (
            "gemini",
            json!({ "generationConfig": {
                "seed": 7, "responseMimeType": "application/json", "responseJsonSchema": schema,
            } }),
        ),
    ] {
        let mut sent: Value = serde_json::from_str(&body(protocol, &request)).expect("JSON");
        let plain = trial::request(vec![user("Hi")]);
        let plain: Value = serde_json::from_str(&body(protocol, &plain)).expect("JSON");
        let (Some(fields), Some(plain)) = (sent.as_object_mut(), plain.as_object()) else {
            panic!("{protocol} sends an object")
        };
        fields.retain(|name, _| !plain.contains_key(name));
        assert_eq!(sent, expected, "{protocol}");
    }
}
