use llm::{Block, CallBlock, FailureKind, Malformed, Message, ReplyEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::request::Body;
use super::stream::Decoder;
use crate::trial::{
    self, NAME, blocks, check_cuts, end, events, failure, full_request, json_of, target, user,
};
use crate::wire::Target;

fn data(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: &Value) -> String {
    data(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "model-1-2026",
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn finish(reason: &str) -> String {
    data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

fn usage() -> String {
    data(&json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64}}}))
}

fn tool(index: usize, id: &str, name: &str, arguments: &str) -> String {
    delta(&json!({"tool_calls": [
        {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]}))
}

fn more(index: usize, arguments: &str) -> String {
    delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
}

fn text(text: &str) -> String {
    delta(&json!({"content": text}))
}

const DONE: &str = "data: [DONE]\n\n";

fn decoder() -> Decoder {
    Decoder::new(NAME, &trial::request(vec![]))
}

fn said(body: &str) -> Vec<Block> {
    blocks(events(decoder(), body))
}

#[test]
fn text_and_parallel_calls_in_pieces() {
    let body = [
        delta(&json!({"role": "assistant", "content": ""})),
        text("Let "),
        text("me löök."),
        tool(0, "call_1", "read_file", ""),
        more(0, "{\"pa"),
        tool(1, "call_2", "list_files", "{"),
        more(0, "th\":\"a\"}"),
        more(1, "}"),
        finish("tool_calls"),
        usage(),
        DONE.to_owned(),
    ]
    .concat();
    let told = events(decoder(), &body);
    let usage = Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 64, cache_write_tokens: 0 };
    assert_eq!(
        told.last(),
        Some(&ReplyEvent::Finished { stop: StopReason::ToolUse, usage, model: Some("model-1-2026".into()) })
    );
    let expected = [
        trial::text("Let me löök."),
        trial::call("call_1", "read_file", &json!({"path": "a"})),
        trial::call("call_2", "list_files", &json!({})),
    ];
    assert_eq!(blocks(told), expected);
    check_cuts(decoder, &body);
}

#[test]
fn text_after_calls_stays_after_them() {
    let body = [text("A"), tool(0, "call_1", "read_file", "{}"), text("B"), finish("stop")].concat();
    let expected = [trial::text("A"), trial::call("call_1", "read_file", &json!({})), trial::text("B")];
    assert_eq!(said(&body), expected);
    let mixed =
        [tool(0, "call_1", "read_file", "{\"a\""), text("B"), more(0, ":1}"), finish("stop")].concat();
    let expected = [trial::text("B"), trial::call("call_1", "read_file", &json!({"a": 1}))];
    assert_eq!(said(&mixed), expected);
}

#[test]
fn usage_comes_before_or_after_the_end_and_done_may_be_missing() {
    for body in [
        [text("Hi"), finish("stop"), usage(), DONE.to_owned()].concat(),
        [text("Hi"), usage(), finish("stop"), DONE.to_owned()].concat(),
        [text("Hi"), finish("stop"), usage()].concat(),
    ] {
        let (stop, usage) = end(decoder(), &body);
        assert_eq!((stop, usage.input_tokens, usage.output_tokens), (StopReason::EndTurn, 100, 20), "{body}");
    }
    assert_eq!(end(decoder(), &[text("Hi"), finish("stop")].concat()).1, Usage::default());
    let broken = failure(decoder(), &[text("Hi"), DONE.to_owned()].concat());
    assert_eq!(broken.kind, FailureKind::Transport);
}

#[test]
fn calls_of_careless_servers() {
    let whole = |calls: Value| [delta(&json!({ "tool_calls": calls })), finish("stop")].concat();
    let names_and_inputs = |body: &str| -> Vec<(String, Value)> {
        said(body)
            .into_iter()
            .map(|block| match block {
                Block::ToolCall(CallBlock { call, .. }) => {
                    assert!(!call.id.is_empty());
                    (call.name, Value::Object(call.input))
                }
                Block::Text { .. } => panic!("a text"),
            })
            .collect()
    };
    let expected = vec![("a".to_owned(), json!({"x": 1})), ("b".to_owned(), json!({"y": 2}))];
    let (a, b) =
        (json!({"name": "a", "arguments": "{\"x\":1}"}), json!({"name": "b", "arguments": "{\"y\":2}"}));
    // Neither ids nor numbers; the number 0 for all; objects in place of texts; the same id for all.
    for calls in [
        json!([{"function": a}, {"function": b}]),
        json!([{"index": 0, "id": "1", "function": a}, {"index": 0, "id": "2", "function": b}]),
        json!([{"index": 0, "function": {"name": "a", "arguments": {"x": 1}}},
               {"index": 1, "function": {"name": "b", "arguments": {"y": 2}}}]),
        json!([{"index": 0, "id": "call_0", "function": a}, {"index": 1, "id": "call_0", "function": b}]),
    ] {
        let body = whole(calls);
        assert_eq!(names_and_inputs(&body), expected, "{body}");
        assert_eq!(end(decoder(), &body).0, StopReason::ToolUse);
    }
    // The name again with every piece, the rest without a number.
    let body = [
        delta(&json!({"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{\"x\""}}]})),
        delta(&json!({"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": ":"}}]})),
        delta(&json!({"tool_calls": [{"function": {"arguments": "1}"}}]})),
        finish("tool_calls"),
    ]
    .concat();
    assert_eq!(names_and_inputs(&body), expected[..1]);
}

#[test]
fn an_id_that_the_conversation_has_is_not_used_again() {
    let request = trial::request(vec![Message::Assistant(vec![trial::call("call_0", "a", &json!({}))])]);
    let body = [tool(0, "call_0", "a", "{}"), finish("tool_calls")].concat();
    let said = blocks(events(Decoder::new(NAME, &request), &body));
    assert!(matches!(&said[0], Block::ToolCall(block) if block.call.id != "call_0"), "{said:?}");
}

#[test]
fn reasons_to_stop() {
    for (reason, expected) in [
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refusal),
        ("tool_calls", StopReason::EndTurn),
        ("never_heard_of", StopReason::EndTurn),
    ] {
        assert_eq!(end(decoder(), &[text("Hi"), finish(reason)].concat()).0, expected, "{reason}");
    }
    for reason in ["stop", "tool_calls", "function_call"] {
        let body = [tool(0, "c", "a", ""), finish(reason)].concat();
        assert_eq!(end(decoder(), &body).0, StopReason::ToolUse, "{reason}");
    }
    let refused = [delta(&json!({"content": null, "refusal": "No."})), finish("stop")].concat();
    assert_eq!(end(decoder(), &refused).0, StopReason::Refusal);
}

#[test]
fn arguments_that_are_cut_are_kept_as_they_are() {
    let body = [tool(0, "c", "a", "{\"x\": \"long"), finish("length")].concat();
    let said = said(&body);
    let Block::ToolCall(block) = &said[0] else { panic!("{said:?}") };
    assert!(matches!(&block.malformed, Some(Malformed { text, .. }) if text == "{\"x\": \"long"));
}

#[test]
fn thinking_goes_back_while_tools_are_used() {
    for field in ["reasoning_content", "reasoning"] {
        let body = [
            delta(&json!({field: "Hmm, "})),
            delta(&json!({field: "well…"})),
            tool(0, "call_1", "a", "{}"),
            finish("tool_calls"),
        ]
        .concat();
        let told = events(decoder(), &body);
        assert_eq!(told[0], ReplyEvent::ReasoningDelta("Hmm, well…".into()));
        let said = blocks(told);
        let sent = |blocks: Vec<Block>, last: Message| {
            let request = trial::request(vec![user("Hi"), Message::Assistant(blocks), last]);
            json_of(&Body::new(&request, target()).expect("a body"))["messages"][1].clone()
        };
        let result = || trial::results(&[("call_1", "a", "A")]);
        assert_eq!(sent(said.clone(), result())[field], "Hmm, well…");
        assert_eq!(sent(said.clone(), user("Next.")).get(field), None);
        assert_eq!(sent(trial::of_another(said), result()).get(field), None);
    }
}

#[test]
fn a_signature_beside_a_call_goes_back() {
    let extra = json!({"google": {"thought_signature": "c2ln+/=="}});
    let call = json!({"index": 0, "id": "call_1", "function": {"name": "a", "arguments": "{}"}, "extra_content": extra});
    let said = said(&[delta(&json!({"tool_calls": [call]})), finish("tool_calls")].concat());
    let request = trial::request(vec![Message::Assistant(said)]);
    let sent = json_of(&Body::new(&request, target()).expect("a body"));
    assert_eq!(sent["messages"][0]["tool_calls"][0]["extra_content"], extra);
}

#[test]
fn errors_in_mid_stream() {
    let error = data(&json!({"error": {"code": 500, "message": "slot unavailable", "type": "server_error"}}));
    let failure = failure(decoder(), &[text("Hi"), error].concat());
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Transport, "slot unavailable"));
    let limited = data(&json!({"error": {"code": "rate_limit_exceeded", "message": "slow down"}}));
    assert_eq!(trial::failure(decoder(), &limited).kind, FailureKind::RateLimited);
}

#[test]
fn odd_chunks_do_no_harm() {
    let odd = [
        data(&json!({"never": "heard of"})),
        data(&json!({"choices": [{"index": 1, "delta": {"content": "another choice"}}]})),
        data(&json!({"choices": [{"index": 0}], "usage": null})),
        delta(&json!({"tool_calls": null, "content": null})),
        ": a comment\n\n".to_owned(),
        data(&json!({"choices": null})),
        delta(&json!({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": ""}]})),
    ];
    assert_eq!(said(&[odd.concat(), text("Hi"), finish("stop")].concat()), [trial::text("Hi")]);
    let listed = delta(&json!({"content": [{"type": "text", "text": "Hi"}]}));
    assert_eq!(said(&[listed, finish("stop")].concat()), [trial::text("Hi")]);
}

#[test]
fn the_request() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "description": format!("Does {name}."), "parameters": schema}});
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}});
    let expected = json!({
        "model": "model-1",
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.5,
        "max_tokens": 100,
        "tools": [tool("read_file"), tool("list_files")],
        "messages": [
            {"role": "system", "content": "Be kind.\n\nPlan only."},
            {"role": "user", "content": "Read a and b."},
            {"role": "assistant", "content": "Both.\n\nWait.",
             "tool_calls": [call("c1", "{\"path\":\"a\"}"), call("c2", "{\"path\":\"b\"}")]},
            {"role": "tool", "tool_call_id": "c1", "content": "A"},
            {"role": "tool", "tool_call_id": "c2", "content": "error: gone"},
            {"role": "user", "content": "And?"},
        ],
    });
    assert_eq!(json_of(&Body::new(&full_request(), target()).expect("a body")), expected);
    let official =
        json_of(&Body::new(&full_request(), Target { official: true, ..target() }).expect("a body"));
    assert_eq!((&official["max_completion_tokens"], official.get("max_tokens")), (&json!(100), None));
    let silent = trial::request(vec![Message::Assistant(vec![trial::call("c", "a", &json!({}))])]);
    let sent = json_of(&Body::new(&silent, target()).expect("a body"));
    assert_eq!(sent["messages"][0]["content"], Value::Null);
    assert_eq!((sent.get("tools"), sent.get("temperature"), sent.get("max_tokens")), (None, None, None));
}
