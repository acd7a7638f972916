use llm::{Block, FailureKind, Malformed, Message, ReplyEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::request::Body;
use super::stream::Decoder;
use crate::trial::{
    self, NAME, blocks, check_cuts, end, events, failure, full_request, json_of, target, user,
};

fn data(chunk: &Value) -> String {
    format!("data: {chunk}\r\n\r\n")
}

fn parts(parts: &Value) -> String {
    data(&json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 100}, "modelVersion": "model-1-2026"}))
}

fn finish(reason: &str) -> String {
    data(
        &json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 20,
                          "thoughtsTokenCount": 5}}),
    )
}

fn text(text: &str) -> String {
    parts(&json!([{ "text": text }]))
}

fn decoder() -> Decoder {
    Decoder::new(NAME, &full_request())
}

fn said(body: &str) -> Vec<Block> {
    blocks(events(decoder(), body))
}

/// The parts that these blocks become when they go back.
fn sent(model: &str, blocks: Vec<Block>) -> Value {
    let mut request = trial::request(vec![user("Hi"), Message::Assistant(blocks)]);
    request.model = model.into();
    json_of(&Body::new(&request, target()).expect("a body"))["contents"][1]["parts"].clone()
}

#[test]
fn text_tools_and_text_keep_their_order() {
    let body = [
        text("Let "),
        text("me löök."),
        parts(&json!([
            {"functionCall": {"name": "read_file", "args": {"path": "a"}, "id": "g1"}},
            {"functionCall": {"name": "list_files"}},
        ])),
        text("Done."),
        finish("STOP"),
    ]
    .concat();
    let told = events(decoder(), &body);
    let usage = Usage { input_tokens: 100, output_tokens: 25, cache_read_tokens: 64, cache_write_tokens: 0 };
    assert_eq!(
        told.last(),
        Some(&ReplyEvent::Finished { stop: StopReason::ToolUse, usage, model: Some("model-1-2026".into()) })
    );
    let said = blocks(told);
    assert_eq!((&said[0], &said[3]), (&trial::text("Let me löök."), &trial::text("Done.")));
    let [_, Block::ToolCall(one), Block::ToolCall(two), _] = &said[..] else { panic!("{said:?}") };
    let (one, two) = (&one.call, &two.call);
    assert_eq!((one.id.as_str(), one.name.as_str()), ("g1", "read_file"));
    assert_eq!(Value::Object(one.input.clone()), json!({ "path": "a" }));
    assert!(two.id.starts_with("call_") && two.input.is_empty(), "{two:?}");
}

#[test]
fn a_cut_is_never_an_end() {
    let call = json!([{"functionCall": {"name": "list_files", "id": "g1"}, "thoughtSignature": "c2ln"}]);
    check_cuts(decoder, &[text("Löök"), text("ing."), parts(&call), text("Done."), finish("STOP")].concat());
}

#[test]
fn signatures_go_back_on_their_own_parts() {
    let body = [
        parts(&json!([{"text": "Thinking…", "thought": true}])),
        text("Hello "),
        text("wörld"),
        parts(&json!([{"text": "!", "thoughtSignature": "c2ln+/=1"}])),
        parts(&json!([{"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": "c2ln2"},
                      {"functionCall": {"name": "list_files", "args": {}, "id": "g2"}}])),
        parts(&json!([{"text": "", "thoughtSignature": "c2ln3"}])),
        finish("STOP"),
    ]
    .concat();
    let told = events(decoder(), &body);
    assert_eq!(told[0], ReplyEvent::ReasoningDelta("Thinking…".into()));
    let said = blocks(told);
    assert!(matches!(&said[0], Block::Text { text, .. } if text == "Hello wörld!"), "{said:?}");
    let expected = json!([
        {"text": "Hello wörld"},
        {"text": "!", "thoughtSignature": "c2ln+/=1"},
        {"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": "c2ln2"},
        {"functionCall": {"name": "list_files", "args": {}, "id": "g2"}},
        {"text": "", "thoughtSignature": "c2ln3"},
    ]);
    assert_eq!(sent("gemini-3-pro", said.clone()), expected);
    let foreign = json!([
        {"text": "Hello wörld!"},
        {"functionCall": {"name": "read_file", "args": {}}},
        {"functionCall": {"name": "list_files", "args": {}}},
    ]);
    assert_eq!(sent("gemini-2.5-pro", trial::of_another(said)), foreign);
}

#[test]
fn a_text_after_a_signed_one_is_another() {
    let body =
        [parts(&json!([{"text": "A", "thoughtSignature": "c2ln"}])), text("B"), finish("STOP")].concat();
    let said = said(&body);
    assert_eq!(said.len(), 2);
    assert_eq!(sent("m", said), json!([{"text": "A", "thoughtSignature": "c2ln"}, {"text": "B"}]));
}

#[test]
fn calls_of_other_models_get_the_word_in_place_of_a_signature() {
    let calls = || vec![trial::call("c1", "a", &json!({})), trial::call("c2", "a", &json!({}))];
    let parts = sent("gemini-3-flash", calls());
    assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(parts[1].get("thoughtSignature"), None);
    for model in ["gemini-2.5-flash", "models/gemini-1.5-pro", "gemma-3-27b"] {
        assert_eq!(sent(model, calls())[0].get("thoughtSignature"), None, "{model}");
    }
}

#[test]
fn reasons_to_stop() {
    for (reason, expected) in [
        ("STOP", StopReason::EndTurn),
        ("MAX_TOKENS", StopReason::MaxTokens),
        ("SAFETY", StopReason::Refusal),
        ("RECITATION", StopReason::Refusal),
        ("BLOCKLIST", StopReason::Refusal),
        ("PROHIBITED_CONTENT", StopReason::Refusal),
        ("SPII", StopReason::Refusal),
        ("NEVER_HEARD_OF", StopReason::EndTurn),
    ] {
        assert_eq!(end(decoder(), &[text("Hi"), finish(reason)].concat()).0, expected, "{reason}");
    }
    let blocked = data(&json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}));
    assert_eq!(end(decoder(), &blocked).0, StopReason::Refusal);
}

#[test]
fn an_unreadable_call_is_a_call() {
    let finish = |message: &str| {
        data(&json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": message}]}))
    };
    for (message, name) in [
        ("Malformed function call: print(default_api.list_files(path=", "list_files"),
        ("Malformed function call", "malformed_function_call"),
    ] {
        let told = events(decoder(), &finish(message));
        assert!(matches!(told.last(), Some(ReplyEvent::Finished { stop: StopReason::ToolUse, .. })));
        let said = blocks(told);
        let Block::ToolCall(block) = &said[0] else { panic!("{said:?}") };
        assert_eq!(block.call.name, name);
        assert!(matches!(&block.malformed, Some(Malformed { text, .. }) if text == message));
    }
    let odd = [parts(&json!([{"functionCall": {"name": "a", "args": [1]}}])), finish("")].concat();
    assert!(matches!(&said(&odd)[0], Block::ToolCall(block) if block.malformed.is_some()));
}

#[test]
fn errors_in_mid_stream() {
    let error = |code: u16, status: &str| {
        data(&json!({"error": {"code": code, "message": "Sorry.", "status": status}}))
    };
    let kind = |code: u16, status: &str| failure(decoder(), &[text("Hi"), error(code, status)].concat()).kind;
    assert_eq!(kind(503, "UNAVAILABLE"), FailureKind::Transport);
    assert_eq!(kind(429, "RESOURCE_EXHAUSTED"), FailureKind::RateLimited);
    assert_eq!(kind(400, "INVALID_ARGUMENT"), FailureKind::Rejected);
}

#[test]
fn odd_chunks_do_no_harm() {
    let odd = [
        data(&json!({"never": "heard of"})),
        data(&json!({"candidates": [{}]})),
        data(&json!({"candidates": [{"content": {}}]})),
        parts(&json!([{"executableCode": {"code": "1"}}, {}])),
    ];
    assert_eq!(said(&[odd.concat(), text("Hi"), finish("STOP")].concat()), [trial::text("Hi")]);
}

#[test]
fn the_request() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let declaration = |name: &str| json!({"name": name, "description": format!("Does {name}."), "parametersJsonSchema": schema});
    let call = |path: &str| json!({"functionCall": {"name": "read_file", "args": {"path": path}}});
    let answer = |response: Value| json!({"functionResponse": {"name": "read_file", "response": response}});
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be kind.\n\nPlan only."}]},
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100},
        "tools": [{"functionDeclarations": [declaration("read_file"), declaration("list_files")]}],
        "contents": [
            {"role": "user", "parts": [{"text": "Read a and b."}]},
            {"role": "model", "parts": [{"text": "Both."}, call("a"), call("b"), {"text": "Wait."}]},
            {"role": "user", "parts": [
                answer(json!({"output": "A"})), answer(json!({"error": "error: gone"})), {"text": "And?"}]},
        ],
    });
    assert_eq!(json_of(&Body::new(&full_request(), target()).expect("a body")), expected);
    let least = json_of(&Body::new(&trial::request(vec![user("Hi")]), target()).expect("a body"));
    assert_eq!(least, json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}));
}

#[test]
fn results_repeat_the_ids_that_gemini_gave_and_no_others() {
    let call = parts(&json!([{"functionCall": {"name": "a", "id": "g1"}}, {"functionCall": {"name": "b"}}]));
    let said = said(&[call, finish("STOP")].concat());
    let [Block::ToolCall(one), Block::ToolCall(two)] = &said[..] else { panic!("{said:?}") };
    let results = trial::results(&[(&one.call.id, "a", "A"), (&two.call.id, "b", "B")]);
    let request = trial::request(vec![user("Hi"), Message::Assistant(said), results]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    let ids = |at: usize, kind: &str| -> Vec<Value> {
        let parts = sent["contents"][at]["parts"].as_array().expect("parts");
        parts.iter().map(|part| part[kind].get("id").cloned().unwrap_or_default()).collect()
    };
    assert_eq!(ids(1, "functionCall"), [json!("g1"), Value::Null]);
    assert_eq!(ids(2, "functionResponse"), [json!("g1"), Value::Null]);
}

/// A session names a call anew whose id it has already.
#[test]
fn a_result_repeats_the_id_that_gemini_gave_also_where_the_call_is_named_anew() {
    let call = parts(&json!([{"functionCall": {"name": "a", "id": "g1"}}]));
    let mut said = said(&[call, finish("STOP")].concat());
    let Some(Block::ToolCall(block)) = said.first_mut() else { panic!("{said:?}") };
    block.call.id = "call_anew".into();
    let other = vec![trial::call("g1", "a", &json!({}))];
    let messages = vec![
        user("Hi"),
        Message::Assistant(said),
        trial::results(&[("call_anew", "a", "A")]),
        Message::Assistant(other),
        trial::results(&[("g1", "a", "B")]),
    ];
    let sent = json_of(&Body::new(&trial::request(messages), target()).expect("a body"));
    assert_eq!(sent["contents"][2]["parts"][0]["functionResponse"]["id"], "g1");
    assert_eq!(sent["contents"][4]["parts"][0]["functionResponse"].get("id"), None, "Gemini gave none");
}

#[test]
fn the_answers_own_id_is_the_requests() {
    let chunk = |text: &str| {
        data(&json!({"responseId": "resp-1", "candidates": [{"content": {"parts": [{"text": text}]}}]}))
    };
    let told = events(decoder(), &[chunk("Hi"), chunk(" there"), finish("STOP")].concat());
    let named = told.iter().filter(|event| matches!(event, ReplyEvent::Started { .. }));
    assert_eq!(named.collect::<Vec<_>>(), [&ReplyEvent::Started { request_id: Some("resp-1".into()) }]);
}
