use llm::{Block, FailureKind, Malformed, Message, ReplyEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::request::Body;
use super::stream::Decoder;
use crate::trial::{
    self, NAME, blocks, check_cuts, end, events, failure, full_request, json_of, target, user,
};

/// A body with these events, each named by its type as the wire has it.
fn body(events: &[Value]) -> String {
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type"));
    events.iter().map(event).collect()
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "model": "model-1-2026", "content": [],
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000,
                  "output_tokens": 1}}})
}

fn block(index: usize, block: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut events = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    events.extend(
        deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn text(index: usize, pieces: &[&str]) -> Vec<Value> {
    let deltas: Vec<_> = pieces.iter().map(|text| json!({"type": "text_delta", "text": text})).collect();
    block(index, &json!({"type": "text", "text": ""}), &deltas)
}

fn tool(index: usize, id: &str, pieces: &[&str]) -> Vec<Value> {
    let deltas: Vec<_> =
        pieces.iter().map(|json| json!({"type": "input_json_delta", "partial_json": json})).collect();
    block(index, &json!({"type": "tool_use", "id": id, "name": "read_file", "input": {}}), &deltas)
}

fn thinking(index: usize, pieces: &[&str], signature: &str) -> Vec<Value> {
    let mut deltas: Vec<_> =
        pieces.iter().map(|text| json!({"type": "thinking_delta", "thinking": text})).collect();
    deltas.push(json!({"type": "signature_delta", "signature": signature}));
    block(index, &json!({"type": "thinking", "thinking": "", "signature": ""}), &deltas)
}

fn stop(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
               "usage": {"output_tokens": 42}}),
        json!({"type": "message_stop"}),
    ]
}

fn whole(pieces: &[Vec<Value>], reason: &str) -> String {
    let mut all = vec![start(), json!({"type": "ping"})];
    all.extend(pieces.iter().flatten().cloned());
    all.extend(stop(reason));
    body(&all)
}

fn decoder() -> Decoder {
    Decoder::new(NAME)
}

#[test]
fn text_tools_and_text_keep_their_order() {
    let body = whole(
        &[
            text(0, &["Let ", "me ", "löök."]),
            tool(1, "toolu_1", &["", "{\"pa", "th\":\"a\"}"]),
            tool(2, "toolu_2", &[]),
            text(3, &["Done."]),
        ],
        "tool_use",
    );
    let told = events(decoder(), &body);
    // Text that arrives together is one delta.
    assert_eq!(told[0], ReplyEvent::TextDelta("Let me löök.".into()));
    assert_eq!(told[1], ReplyEvent::TextEnd { state: None });
    let model = Some("model-1-2026".to_owned());
    assert!(matches!(told.last(), Some(ReplyEvent::Finished { model: found, .. }) if *found == model));
    let expected = [
        trial::text("Let me löök."),
        trial::call("toolu_1", "read_file", &json!({"path": "a"})),
        trial::call("toolu_2", "read_file", &json!({})),
        trial::text("Done."),
    ];
    assert_eq!(blocks(told), expected);
    check_cuts(decoder, &body);
}

#[test]
fn usage_counts_cached_tokens_as_input() {
    let (stop, usage) = end(decoder(), &whole(&[text(0, &["Hi"])], "end_turn"));
    assert_eq!(stop, StopReason::EndTurn);
    let expected =
        Usage { input_tokens: 3210, output_tokens: 42, cache_read_tokens: 3000, cache_write_tokens: 200 };
    assert_eq!(usage, expected);
}

#[test]
fn reasons_to_stop() {
    for (reason, expected) in [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("model_context_window_exceeded", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        ("pause_turn", StopReason::Pause),
        ("never_heard_of", StopReason::EndTurn),
    ] {
        assert_eq!(end(decoder(), &whole(&[text(0, &["Hi"])], reason)).0, expected, "{reason}");
    }
    assert_eq!(end(decoder(), &whole(&[tool(0, "t", &[])], "tool_use")).0, StopReason::ToolUse);
    assert_eq!(end(decoder(), &whole(&[tool(0, "t", &["{\"a"])], "max_tokens")).0, StopReason::MaxTokens);
}

#[test]
fn arguments_that_are_no_json_are_kept_as_they_are() {
    let told = blocks(events(decoder(), &whole(&[tool(0, "t", &["{\"path\": ", "oops"])], "tool_use")));
    let Block::ToolCall(block) = &told[0] else { panic!("{told:?}") };
    assert!(
        matches!(&block.malformed, Some(Malformed { text, .. }) if text == "{\"path\": oops"),
        "{block:?}"
    );
}

#[test]
fn thinking_goes_back_before_what_followed_it() {
    let redacted = json!({"type": "redacted_thinking", "data": "EmwK/+=="});
    let body = whole(
        &[
            thinking(0, &["Hmm, ", "well…"], "sig+/=1"),
            block(1, &redacted, &[]),
            text(2, &["Text."]),
            thinking(3, &["More."], "sig2"),
            tool(4, "toolu_1", &["{}"]),
            thinking(5, &["Last."], "sig3"),
        ],
        "tool_use",
    );
    check_cuts(decoder, &body);
    let told = events(decoder(), &body);
    assert_eq!(told[0], ReplyEvent::ReasoningDelta("Hmm, well…".into()));
    let said = blocks(told);
    assert_eq!(said.len(), 2, "{said:?}");
    let content = |blocks: Vec<Block>| {
        let request = trial::request(vec![user("Hi"), Message::Assistant(blocks)]);
        json_of(&Body::new(&request, target()).expect("a body"))["messages"][1]["content"].clone()
    };
    let text = json!({"type": "text", "text": "Text."});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}});
    let expected = json!([
        {"type": "thinking", "thinking": "Hmm, well…", "signature": "sig+/=1"},
        redacted,
        text,
        {"type": "thinking", "thinking": "More.", "signature": "sig2"},
        call,
    ]);
    assert_eq!(content(said.clone()), expected);
    assert_eq!(content(trial::of_another(said)), json!([text, call]));
}

#[test]
fn thinking_that_nothing_followed_does_not_go_back() {
    let body = whole(&[text(0, &["A"]), thinking(1, &["Hmm"], "sig")], "max_tokens");
    assert_eq!(blocks(events(decoder(), &body)), [trial::text("A")]);
    // A text of blanks is not sent, and so its thinking would be the end.
    let body = whole(&[text(0, &["A"]), thinking(1, &["Hmm"], "sig"), text(2, &[" \n"])], "end_turn");
    let request = trial::request(vec![user("Hi"), Message::Assistant(blocks(events(decoder(), &body)))]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    assert_eq!(sent["messages"][1]["content"], json!([{"type": "text", "text": "A"}]));
}

#[test]
fn blocks_that_only_the_provider_knows_go_back_too() {
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let deltas = [json!({"type": "input_json_delta", "partial_json": "{\"query\":\"x\"}"})];
    let told = blocks(events(decoder(), &whole(&[block(0, &search, &deltas)], "pause_turn")));
    let request = trial::request(vec![user("Hi"), Message::Assistant(told)]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    let mut expected = search;
    expected["input"] = json!({"query": "x"});
    assert_eq!(sent["messages"][1]["content"], json!([expected]));
}

#[test]
fn errors_in_mid_stream() {
    for (code, kind) in [
        ("overloaded_error", FailureKind::Transport),
        ("api_error", FailureKind::Transport),
        ("rate_limit_error", FailureKind::RateLimited),
        ("invalid_request_error", FailureKind::Rejected),
    ] {
        let error = json!({"type": "error", "error": {"type": code, "message": "Overloaded"}});
        let failure = failure(decoder(), &body(&[start(), error]));
        assert_eq!((failure.kind, failure.code.as_deref()), (kind, Some(code)));
        assert_eq!(failure.message, "Overloaded");
    }
}

#[test]
fn odd_events_do_no_harm() {
    let odd = [
        json!({"type": "never_heard_of", "delta": 7}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lost"}}),
        json!({"type": "content_block_stop", "index": 9}),
        json!({"type": "content_block_start", "index": 0, "content_block": 7}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    let told = events(decoder(), &whole(&[odd.to_vec(), text(0, &["Hi"])], "end_turn"));
    assert_eq!(told[0], ReplyEvent::TextDelta("Hi".into()));
    for broken in ["data: {\"type\":\"content_block_delta\"}\n\n", "data: nonsense\n\n", "data: [1]\n\n"] {
        assert_eq!(failure(decoder(), broken).kind, FailureKind::Transport, "{broken}");
    }
}

#[test]
fn the_request() {
    let ephemeral = json!({"type": "ephemeral"});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let expected = json!({
        "model": "model-1",
        "max_tokens": 100,
        "stream": true,
        "temperature": 0.5,
        "system": [
            {"type": "text", "text": "Be kind.", "cache_control": ephemeral},
            {"type": "text", "text": "Plan only."},
        ],
        "tools": [
            {"name": "read_file", "description": "Does read_file.", "input_schema": schema},
            {"name": "list_files", "description": "Does list_files.", "input_schema": schema,
             "cache_control": ephemeral},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read a and b.", "cache_control": ephemeral}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Both."},
                {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}},
                {"type": "tool_use", "id": "c2", "name": "read_file", "input": {"path": "b"}},
                {"type": "text", "text": "Wait."},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "A"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "error: gone", "is_error": true},
                {"type": "text", "text": "And?", "cache_control": ephemeral},
            ]},
        ],
    });
    assert_eq!(json_of(&Body::new(&full_request(), target()).expect("a body")), expected);
}

#[test]
fn the_least_request_has_nothing_that_was_not_set() {
    let request = trial::request(vec![user("Hi"), Message::Assistant(vec![trial::text(" ")]), user(" \n")]);
    let expected = json!({"model": "model-1", "max_tokens": 8192, "stream": true,
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}]});
    assert_eq!(json_of(&Body::new(&request, target()).expect("a body")), expected);
    let target = crate::wire::Target { max_output_tokens: Some(7), ..target() };
    assert_eq!(json_of(&Body::new(&request, target).expect("a body"))["max_tokens"], 7);
}

#[test]
fn the_context_follows_the_stable_text_with_a_mark_of_its_own() {
    let mut request = full_request();
    request.system.context = Some("# Files".into());
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    let ephemeral = json!({"type": "ephemeral"});
    let expected = json!([
        {"type": "text", "text": "Be kind.", "cache_control": ephemeral},
        {"type": "text", "text": "# Files", "cache_control": ephemeral},
        {"type": "text", "text": "Plan only."},
    ]);
    assert_eq!(sent["system"], expected);
}

#[test]
fn no_request_has_more_than_four_marks() {
    no_more_than_four_marks(full_request());
    let mut request = full_request();
    request.system.context = Some("# Files".into());
    no_more_than_four_marks(request);
}

fn no_more_than_four_marks(mut request: llm::Request) {
    for round in 0..10 {
        let id = format!("d{round}");
        request.messages.push(Message::Assistant(vec![trial::call(&id, "read_file", &json!({}))]).into());
        request.messages.push(trial::results(&[(&id, "read_file", "X")]).into());
    }
    let sent = json_of(&Body::new(&request, target()).expect("a body")).to_string();
    assert_eq!(sent.matches("cache_control").count(), 4);
}

#[test]
fn ids_of_other_providers_are_made_plain_on_both_sides() {
    let request = trial::request(vec![
        user("Hi"),
        Message::Assistant(vec![trial::call("functions.read:0", "read_file", &json!({}))]),
        trial::results(&[("functions.read:0", "read_file", "A")]),
    ]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    let id = sent["messages"][1]["content"][0]["id"].as_str().expect("an id");
    assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{id}");
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], id);
}

#[test]
fn a_malformed_call_goes_back_as_an_empty_one() {
    let told = blocks(events(decoder(), &whole(&[tool(0, "t", &["oops"])], "tool_use")));
    let request = trial::request(vec![user("Hi"), Message::Assistant(told)]);
    assert_eq!(
        json_of(&Body::new(&request, target()).expect("a body"))["messages"][1]["content"][0]["input"],
        json!({})
    );
}
