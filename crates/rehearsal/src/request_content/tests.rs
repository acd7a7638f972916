use serde_json::json;

use super::*;

fn call(protocol: Protocol) -> ReplyCall {
    let model = (protocol == Protocol::Gemini).then(|| "m".to_owned());
    let framing = if protocol == Protocol::Gemini { Framing::Events } else { Framing::AsRequested };
    ReplyCall { protocol, model, framing }
}

/// One conversation in each protocol's words: two calls at once, their results, a new question.
fn conversation(protocol: Protocol) -> Value {
    match protocol {
        Protocol::Anthropic => json!({
            "model": "m", "max_tokens": 1, "stream": true,
            "system": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }],
            "tools": [{ "name": "a" }, { "name": "b" }],
            "messages": [
                { "role": "user", "content": "first" },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": "s" },
                    { "type": "text", "text": "I call" },
                    { "type": "tool_use", "id": "1", "name": "a", "input": {} },
                    { "type": "tool_use", "id": "2", "name": "b", "input": {} },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "1", "content": "ra" },
                    { "type": "tool_result", "tool_use_id": "2", "content": [{ "type": "text", "text": "rb" }] },
                    { "type": "text", "text": "second" },
                    { "type": "text", "text": "third" },
                ] },
            ],
        }),
        Protocol::OpenaiResponses => json!({
            "model": "m", "stream": true, "instructions": "one",
            "tools": [{ "type": "function", "name": "a" }, { "type": "function", "name": "b" }],
            "input": [
                { "role": "developer", "content": "two" },
                { "role": "user", "content": [{ "type": "input_text", "text": "first" }] },
                { "type": "reasoning", "id": "r", "summary": [] },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I call" }] },
                { "type": "function_call", "call_id": "1", "name": "a", "arguments": "{}" },
                { "type": "function_call", "call_id": "2", "name": "b", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "1", "output": "ra" },
                { "type": "function_call_output", "call_id": "2", "output": [{ "type": "input_text", "text": "rb" }] },
                { "role": "user", "content": "second" },
                { "role": "user", "content": "third" },
            ],
        }),
        Protocol::OpenaiChat => json!({
            "model": "m", "stream": true,
            "tools": [
                { "type": "function", "function": { "name": "a" } },
                { "type": "function", "function": { "name": "b" } },
            ],
            "messages": [
                { "role": "system", "content": "one" },
                { "role": "system", "content": "two" },
                { "role": "user", "content": [{ "type": "text", "text": "first" }] },
                { "role": "assistant", "content": "I call", "tool_calls": [
                    { "id": "1", "type": "function", "function": { "name": "a", "arguments": "{}" } },
                    { "id": "2", "type": "function", "function": { "name": "b", "arguments": "{}" } },
                ] },
                { "role": "tool", "tool_call_id": "1", "content": "ra" },
                { "role": "tool", "tool_call_id": "2", "content": "rb" },
                { "role": "user", "content": "second" },
                { "role": "user", "content": "third" },
            ],
        }),
        Protocol::Gemini => json!({
            "systemInstruction": { "parts": [{ "text": "one" }, { "text": "two" }] },
            "tools": [{ "functionDeclarations": [{ "name": "a" }] }, { "function_declarations": [{ "name": "b" }] }],
            "contents": [
                { "role": "user", "parts": [{ "text": "first" }] },
                { "role": "model", "parts": [
                    { "text": "I call" },
                    { "functionCall": { "name": "a", "args": {} }, "thoughtSignature": "s" },
                    { "functionCall": { "name": "b", "args": {} } },
                ] },
                { "role": "user", "parts": [
                    { "functionResponse": { "name": "a", "response": { "output": "ra" } } },
                    { "functionResponse": { "name": "b", "response": { "output": "rb" } } },
                    { "text": "second" },
                    { "text": "third" },
                ] },
            ],
        }),
    }
}

#[test]
fn a_conversation_reads_alike_in_every_protocol() {
    for protocol in Protocol::ALL {
        let received = read(&call(protocol), &conversation(protocol)).expect("a request");
        assert_eq!((received.model.as_str(), received.call, received.streams), ("m", 2, true), "{protocol}");
        assert_eq!(received.system.split_whitespace().collect::<Vec<_>>(), ["one", "two"], "{protocol}");
        assert_eq!(
            (received.last_user.as_str(), received.user_speaks),
            ("second\nthird", true),
            "{protocol}"
        );
        assert_eq!(received.tools, ["a", "b"], "{protocol}");
        let results: Vec<_> =
            received.results.iter().map(|one| (one.tool.as_str(), one.text.as_str())).collect();
        assert_eq!(results, [("a", "ra"), ("b", "rb")], "{protocol}");
    }
}

#[track_caller]
fn refused(protocol: Protocol, body: &Value, words: &str) {
    match read(&call(protocol), body) {
        Err(Rejected { message, .. }) => assert!(message.contains(words), "{protocol}: {message}"),
        Ok(received) => panic!("{protocol} took {received:?}"),
    }
}

#[test]
fn a_call_needs_its_result_and_a_result_its_call() {
    let places = [
        (Protocol::Anthropic, "/messages", "/messages/2/content/0/tool_use_id"),
        (Protocol::OpenaiResponses, "/input", "/input/6/call_id"),
        (Protocol::OpenaiChat, "/messages", "/messages/4/tool_call_id"),
        (Protocol::Gemini, "/contents", "/contents/2/parts/0/functionResponse/name"),
    ];
    for (protocol, list, id) in places {
        let mut other = conversation(protocol);
        *other.pointer_mut(id).expect("an id") = json!("other");
        refused(
            protocol,
            &other,
            if protocol == Protocol::Gemini { "number of function" } else { "not open" },
        );

        let mut cut = conversation(protocol);
        let items = cut.pointer_mut(list).and_then(Value::as_array_mut).expect("a list");
        let results =
            items.len() - if protocol == Protocol::Anthropic || protocol == Protocol::Gemini { 1 } else { 4 };
        items.truncate(results);
        refused(protocol, &cut, "has no result");

        let mut empty = conversation(protocol);
        *empty.pointer_mut(list).expect("a list") = json!([]);
        refused(protocol, &empty, "empty");
    }
}

#[test]
fn invalid_conversations_are_rejected() {
    let with = |protocol: Protocol, pointer: &str, value: Value| {
        let mut body = conversation(protocol);
        *body.pointer_mut(pointer).expect("a place") = value;
        body
    };
    use Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    for (protocol, pointer, value, words) in [
        (Anthropic, "/max_tokens", json!(0), "max_tokens"),
        (Anthropic, "/model", json!(""), "model"),
        (Anthropic, "/messages/0/content", json!(""), "non-empty"),
        (Anthropic, "/messages/0/role", json!("assistant"), "first message"),
        (Anthropic, "/messages/0/role", json!("system"), "role"),
        (Anthropic, "/messages/1/content/0/signature", json!(null), "signature"),
        (Anthropic, "/messages/1/content/1/text", json!(""), "non-empty"),
        (Anthropic, "/messages/1/content/2/input", json!("{}"), "dictionary"),
        (Anthropic, "/messages/2/content/2/text", json!(""), "non-empty"),
        (Anthropic, "/messages/2/content/2/type", json!("tool_use"), "user's"),
        (OpenaiChat, "/messages/0/role", json!("robot"), "role"),
        (OpenaiResponses, "/input/2/type", json!("computer"), "computer"),
        (Gemini, "/contents/0/role", json!("assistant"), "valid role"),
    ] {
        refused(protocol, &with(protocol, pointer, value), words);
    }
}

#[test]
fn a_text_alone_is_a_users() {
    let received = read(&call(Protocol::OpenaiResponses), &json!({ "model": "m", "input": "hello" }));
    let received = received.expect("a request");
    assert_eq!((received.last_user.as_str(), received.call, received.streams), ("hello", 1, false));
}

#[test]
fn turns_of_the_assistant_are_counted_however_they_are_written() {
    let turn = |n: u32| {
        json!([
            { "type": "function_call", "call_id": n.to_string(), "name": "a", "arguments": "{}" },
            { "type": "function_call_output", "call_id": n.to_string(), "output": "r" },
        ])
    };
    let mut input = vec![json!({ "role": "user", "content": "x" })];
    for n in 0..3 {
        input.extend(turn(n).as_array().cloned().unwrap_or_default());
    }
    let received = read(&call(Protocol::OpenaiResponses), &json!({ "model": "m", "input": input }));
    let received = received.expect("a request");
    assert_eq!((received.call, received.results.len(), received.user_speaks), (4, 1, false));
}

/// A body with one more field, named by its path.
fn with_field(protocol: Protocol, path: &[&str], value: &Value) -> Value {
    let mut body = conversation(protocol);
    path.iter().fold(&mut body, |place, key| &mut place[*key]).clone_from(value);
    body
}

#[test]
fn an_answer_may_have_a_schema() {
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "array", "items": { "type": "object",
        "properties": {}, "additionalProperties": false } } }, "required": ["a", "b"], "additionalProperties": false,
    });
    use Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    let forms: [(Protocol, &[&str], Value, &[&str]); 4] = [
        (Anthropic, &["output_config", "format"], json!({ "type": "json_schema" }), &["schema"]),
        (
            OpenaiResponses,
            &["text", "format"],
            json!({ "type": "json_schema", "name": "n", "strict": true }),
            &["schema"],
        ),
        (
            OpenaiChat,
            &["response_format"],
            json!({ "type": "json_schema", "json_schema": { "name": "n", "strict": true } }),
            &["json_schema", "schema"],
        ),
        (
            Gemini,
            &["generationConfig"],
            json!({ "responseMimeType": "application/json", "seed": 1 }),
            &["responseJsonSchema"],
        ),
    ];
    for (protocol, place, form, at) in forms {
        let with = |schema: &Value| {
            let mut form = form.clone();
            at.iter().fold(&mut form, |place, key| &mut place[*key]).clone_from(schema);
            with_field(protocol, place, &form)
        };
        read(&call(protocol), &with(&schema)).expect("a request");
        refused(protocol, &with(&json!("no schema")), "JSON Schema");
        let mut open = schema.clone();
        open["properties"]["b"]["items"]["additionalProperties"] = json!(true);
        let mut partial = schema.clone();
        partial["required"] = json!(["a"]);
        if protocol != Gemini {
            refused(protocol, &with(&open), "additionalProperties");
        }
        if matches!(protocol, OpenaiResponses | OpenaiChat) {
            refused(protocol, &with(&partial), "Missing 'b'");
            let Err(Rejected { parameter: Some(parameter), .. }) = read(&call(protocol), &with(&partial))
            else {
                panic!("{protocol} names no parameter")
            };
            assert!(parameter.starts_with(&place.join(".")), "{parameter}");
        }
    }
    for (protocol, path, value, words) in [
        (Anthropic, &["output_config", "format"][..], json!({ "type": "json" }), "output_config.format"),
        (
            OpenaiResponses,
            &["text", "format"],
            json!({ "type": "json_schema", "name": "a b" }),
            "text.format.name",
        ),
        (OpenaiChat, &["response_format"], json!({ "type": "yaml" }), "response_format"),
        (Gemini, &["generationConfig"], json!({ "responseJsonSchema": {} }), "application/json"),
        (Anthropic, &["seed"], json!(1), "seed: Extra inputs"),
        (OpenaiResponses, &["seed"], json!(1), "seed: Extra inputs"),
        (OpenaiChat, &["seed"], json!("1"), "seed"),
        (Gemini, &["generationConfig"], json!({ "seed": 0.5 }), "seed"),
    ] {
        refused(protocol, &with_field(protocol, path, &value), words);
    }
}
