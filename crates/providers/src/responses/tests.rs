use llm::{Block, FailureKind, Malformed, Message, ReplyEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::request::Body;
use super::stream::Decoder;
use crate::trial::{
    self, NAME, blocks, check_cuts, end, events, failure, full_request, json_of, target, user,
};
use crate::wire::Target;

fn body(events: &[Value]) -> String {
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type"));
    events.iter().map(event).collect()
}

fn message(pieces: &[&str]) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "response.output_item.added", "item": {"type": "message", "content": []}})];
    events.extend(pieces.iter().map(|delta| json!({"type": "response.output_text.delta", "delta": delta})));
    let text = pieces.concat();
    events.push(json!({"type": "response.output_text.done", "text": text}));
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    events.push(done(&json!({"type": "message", "role": "assistant", "content": content})));
    events
}

fn done(item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": 0, "item": item})
}

fn call(id: &str, arguments: &str) -> Vec<Value> {
    let delta = json!({"type": "response.function_call_arguments.delta", "delta": arguments});
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": "read_file",
        "arguments": arguments, "status": "completed"});
    vec![delta, done(&item)]
}

fn reasoning(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "Hmm"}],
        "encrypted_content": "gAAAA+/=="})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "model": "model-1-2026", "output": [],
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 20}}})
}

fn whole(pieces: &[Vec<Value>]) -> String {
    let mut all = vec![json!({"type": "response.created", "response": {"status": "in_progress"}})];
    all.extend(pieces.iter().flatten().cloned());
    all.push(completed());
    body(&all)
}

fn decoder() -> Decoder {
    Decoder::new(NAME)
}

#[test]
fn text_tools_and_text_keep_their_order() {
    let body = whole(&[
        message(&["Let ", "me ", "löök."]),
        call("call_1", "{\"path\":\"a\"}"),
        call("call_2", ""),
        message(&["Done."]),
    ]);
    let told = events(decoder(), &body);
    assert_eq!(told[0], ReplyEvent::TextDelta("Let me löök.".into()));
    let usage = Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 64, cache_write_tokens: 0 };
    assert_eq!(
        told.last(),
        Some(&ReplyEvent::Finished { stop: StopReason::ToolUse, usage, model: Some("model-1-2026".into()) })
    );
    let expected = [
        trial::text("Let me löök."),
        trial::call("call_1", "read_file", &json!({"path": "a"})),
        trial::call("call_2", "read_file", &json!({})),
        trial::text("Done."),
    ];
    assert_eq!(blocks(told), expected);
    check_cuts(decoder, &body);
}

#[test]
fn reasoning_goes_back_before_what_followed_it() {
    let body = whole(&[
        vec![
            json!({"type": "response.reasoning_summary_text.delta", "delta": "Hmm"}),
            done(&reasoning("rs_1")),
        ],
        message(&["Text."]),
        vec![done(&reasoning("rs_2")), done(&reasoning("rs_3"))],
        call("call_1", "{}"),
        vec![done(&reasoning("rs_4"))],
    ]);
    check_cuts(decoder, &body);
    let told = events(decoder(), &body);
    assert_eq!(told[0], ReplyEvent::ReasoningDelta("Hmm".into()));
    let said = blocks(told);
    let input = |blocks: Vec<Block>| {
        let request = trial::request(vec![Message::Assistant(blocks)]);
        json_of(&Body::new(&request, target()).expect("a body"))["input"].clone()
    };
    let text = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Text."}]});
    let call = json!({"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": "{}"});
    let expected = json!([reasoning("rs_1"), text, reasoning("rs_2"), reasoning("rs_3"), call]);
    assert_eq!(input(said.clone()), expected);
    assert_eq!(input(trial::of_another(said)), json!([text, call]));
}

#[test]
fn reasoning_without_content_is_not_kept() {
    let empty = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null});
    let open = json!({"type": "reasoning", "id": "rs_2", "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hmm"}]});
    let said = blocks(events(decoder(), &whole(&[vec![done(&empty)], message(&["A"])])));
    assert_eq!(said, [trial::text("A")]);
    let said = blocks(events(decoder(), &whole(&[vec![done(&open)], message(&["A"])])));
    assert!(
        matches!(&said[0], Block::Text { state: Some(state), .. } if state.data == json!({"before": [open]}))
    );
}

#[test]
fn the_phase_of_a_message_goes_back() {
    let item =
        json!({"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "A"}]});
    let said = blocks(events(decoder(), &whole(&[vec![done(&item)]])));
    let request = trial::request(vec![Message::Assistant(said)]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    assert_eq!(sent["input"][0]["phase"], "commentary");
}

#[test]
fn reasons_to_stop() {
    let ended = |kind: &str, response: Value| {
        end(
            decoder(),
            &body(&[&message(&["Hi"])[..], &[json!({"type": kind, "response": response})]].concat()),
        )
        .0
    };
    assert_eq!(ended("response.completed", json!({})), StopReason::EndTurn);
    let incomplete = |reason: &str| json!({"incomplete_details": {"reason": reason}});
    assert_eq!(ended("response.incomplete", incomplete("max_output_tokens")), StopReason::MaxTokens);
    assert_eq!(ended("response.incomplete", incomplete("content_filter")), StopReason::Refusal);
    assert_eq!(ended("response.incomplete", json!({})), StopReason::MaxTokens);
    let refused = whole(&[
        vec![json!({"type": "response.refusal.delta", "delta": "No."})],
        vec![done(&json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}))],
    ]);
    assert_eq!(end(decoder(), &refused).0, StopReason::Refusal);
    assert_eq!(blocks(events(decoder(), &refused)), [trial::text("No.")]);
}

#[test]
fn failures_in_mid_stream() {
    for (code, kind) in [
        ("server_error", FailureKind::Transport),
        ("rate_limit_exceeded", FailureKind::RateLimited),
        ("context_length_exceeded", FailureKind::ContextExceeded),
        ("invalid_prompt", FailureKind::Rejected),
    ] {
        let error = json!({"code": code, "message": "Sorry."});
        let failed = json!({"type": "response.failed", "response": {"error": error, "status": "failed"}});
        let plain = json!({"type": "error", "code": code, "message": "Sorry.", "param": null});
        for event in [failed, plain] {
            let failure = failure(decoder(), &body(&[event]));
            assert_eq!((failure.kind, failure.message.as_str()), (kind, "Sorry."), "{code}");
        }
    }
}

#[test]
fn servers_that_send_everything_at_the_end() {
    let output = json!([
        {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
        {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": "{}"},
    ]);
    let last = json!({"type": "response.completed", "response": {"output": output}});
    let expected = [trial::text("Hi"), trial::call("call_1", "read_file", &json!({}))];
    assert_eq!(blocks(events(decoder(), &body(std::slice::from_ref(&last)))), expected);
    let delta = json!({"type": "response.output_text.delta", "delta": "Hi"});
    assert_eq!(blocks(events(decoder(), &body(&[delta, last]))), expected);
}

#[test]
fn arguments_that_are_no_json_are_kept_as_they_are() {
    let said = blocks(events(decoder(), &whole(&[call("call_1", "[1")])));
    let Block::ToolCall(block) = &said[0] else { panic!("{said:?}") };
    assert!(matches!(&block.malformed, Some(Malformed { text, .. }) if text == "[1"));
}

#[test]
fn odd_events_do_no_harm() {
    let odd = [
        json!({"type": "response.never", "delta": {"a": 1}}),
        done(&json!({"type": "web_search_call"})),
        done(&json!(7)),
    ];
    let body = format!("{}data: [DONE]\n\n", whole(&[odd.to_vec(), message(&["Hi"])]));
    assert_eq!(blocks(events(decoder(), &body)), [trial::text("Hi")]);
}

#[test]
fn the_request() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = |name: &str| {
        json!({"type": "function", "name": name, "description": format!("Does {name}."), "parameters": schema,
               "strict": false})
    };
    let said = |role: &str, part: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]});
    let expected = json!({
        "model": "model-1",
        "stream": true,
        "store": false,
        "instructions": "Be kind.\n\nPlan only.",
        "temperature": 0.5,
        "max_output_tokens": 100,
        "tools": [tool("read_file"), tool("list_files")],
        "input": [
            said("user", "input_text", "Read a and b."),
            said("assistant", "output_text", "Both."),
            {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{\"path\":\"a\"}"},
            {"type": "function_call", "call_id": "c2", "name": "read_file", "arguments": "{\"path\":\"b\"}"},
            said("assistant", "output_text", "Wait."),
            {"type": "function_call_output", "call_id": "c1", "output": "A"},
            {"type": "function_call_output", "call_id": "c2", "output": "error: gone"},
            said("user", "input_text", "And?"),
        ],
    });
    assert_eq!(json_of(&Body::new(&full_request(), target()).expect("a body")), expected);
    let least = json_of(&Body::new(&trial::request(vec![]), target()).expect("a body"));
    assert_eq!(least, json!({"model": "model-1", "stream": true, "store": false, "input": []}));
}

#[test]
fn reasoning_is_asked_for_only_where_it_is_given() {
    let include = |model: &str, official: bool| {
        let mut request = trial::request(vec![user("Hi")]);
        request.model = model.into();
        let body = json_of(&Body::new(&request, Target { official, ..target() }).expect("a body"));
        body.get("include").is_some()
    };
    for model in ["o3", "o4-mini", "gpt-5", "gpt-5.1-codex", "gpt-6"] {
        assert!(include(model, true) && !include(model, false), "{model}");
    }
    let asked = |reasoning_items: bool, model: &str, official: bool| {
        let mut request = trial::request(vec![user("Hi")]);
        request.model = model.into();
        let target = Target { official, reasoning_items: Some(reasoning_items), ..target() };
        json_of(&Body::new(&request, target).expect("a body")).get("include").is_some()
    };
    assert!(asked(true, "ours", false) && !asked(false, "gpt-5", true), "the settings have the last word");
    for model in ["gpt-4.1", "gpt-4o", "gpt-5-chat-latest", "omni", "chatgpt-4o-latest"] {
        assert!(!include(model, true), "{model}");
    }
}

#[test]
fn ids_are_short_on_both_sides() {
    let long = "x".repeat(100);
    let request = trial::request(vec![
        Message::Assistant(vec![trial::call(&long, "read_file", &json!({}))]),
        trial::results(&[(&long, "read_file", "A")]),
    ]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    assert!(sent["input"][0]["call_id"].as_str().is_some_and(|id| id.len() <= 64));
    assert_eq!(sent["input"][0]["call_id"], sent["input"][1]["call_id"]);
}
