//! Which reply answers, what is recorded, and what is not taken.

use rehearsal::{Options, Protocol, Rehearsal, Script};
use serde_json::{Value, json};

use crate::client::{Raw, ask, asking, exchange, path, post, rehearse};

async fn say(rehearsal: &Rehearsal, text: &str) -> String {
    said(&ask(rehearsal, Protocol::Anthropic, text, false).await)
}

fn said(raw: &Raw) -> String {
    raw.json()["content"][0]["text"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn the_first_reply_that_holds_answers_as_often_as_it_may() {
    let rehearsal = rehearse(
        "[[reply]]\nwhen = { last_user = 'again' }\ntimes = 2\ntext = 'one of two'\n\
         [[reply]]\nwhen = { last_user = '/^again$/' }\ntext = 'the rest, {{last_user}}, {{model}}, {{call}}'\n\
         [[reply]]\nwhen = { request = 4 }\ntext = 'fourth'\n",
    )
    .await;
    let mut told = Vec::new();
    for text in ["again", "again", "again", "other", "other"] {
        told.push(say(&rehearsal, text).await);
    }
    assert_eq!(told[..4], ["one of two", "one of two", "the rest, again, model-1, 1", "fourth"]);
    assert!(told[4].starts_with("This is a rehearsal") && told[4].ends_with("other"), "{}", told[4]);
    let lines: Vec<_> = rehearsal.requests().iter().map(|request| request.reply_line).collect();
    assert_eq!(lines, [Some(1), Some(1), Some(5), Some(8), Some(0)]);
    rehearsal.clear();
    assert_eq!(rehearsal.requests(), []);
    assert_eq!(say(&rehearsal, "again").await, "one of two");
}

#[tokio::test]
async fn a_strict_script_answers_nothing_that_it_does_not_know() {
    let rehearsal = rehearse("strict = true\n[[reply]]\nwhen = { last_user = 'a' }\ntext = 'b'\n").await;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert_eq!(raw.status, 400);
        assert!(
            raw.json()["error"]["message"].as_str().is_some_and(|text| text.contains("\"x\"")),
            "{raw:?}"
        );
    }
}

#[tokio::test]
async fn requests_are_recorded_without_keys() {
    let rehearsal = rehearse("[[reply]]\ntext = 'a'\n").await;
    ask(&rehearsal, Protocol::Gemini, "hello", true).await;
    let recorded = rehearsal.requests();
    let [only] = &recorded[..] else { panic!("one request, not {recorded:?}") };
    assert_eq!(
        (only.method.as_str(), only.path.as_str()),
        ("POST", "/v1beta/models/gem-1:streamGenerateContent")
    );
    assert_eq!(only.query.as_deref(), Some("alt=sse"));
    assert_eq!(only.header("X-Api-Key"), Some("[hidden]"));
    assert_eq!(only.body, asking(Protocol::Gemini, "hello", true));
    assert!(!format!("{recorded:?}").contains("sk-secret"));
}

#[tokio::test]
async fn nothing_is_recorded_without_the_option() {
    let options = Options { record: false, fixed: None };
    let script = Script::parse("[[reply]]\ntext = 'a'\n").expect("a script");
    let rehearsal = Rehearsal::start_with(script, ([127, 0, 0, 1], 0).into(), options).await.expect("a port");
    say(&rehearsal, "hello").await;
    assert_eq!((rehearsal.requests(), rehearsal.request_count()), (Vec::new(), 1));
}

#[tokio::test]
async fn ids_differ_from_answer_to_answer_and_from_run_to_run() {
    let script = "[[reply]]\nsay = [{ tool = 'a' }, { tool = 'b' }]\n";
    let mut ids = Vec::new();
    for _ in 0..2 {
        let script = Script::parse(script).expect("a script");
        let rehearsal = Rehearsal::start_local(script).await.expect("a port");
        for _ in 0..2 {
            let answer = ask(&rehearsal, Protocol::Anthropic, "x", false).await.json();
            let content = answer["content"].as_array().expect("content");
            ids.extend(content.iter().map(|block| block["id"].as_str().expect("an id").to_owned()));
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((count, ids.len()), (8, 8));
}

/// A tool's result in each protocol's form, with `{id}` as its id.
fn after_a_call(protocol: Protocol, id: &str) -> Value {
    match protocol {
        Protocol::Anthropic => json!({ "model": "m", "max_tokens": 9, "messages": [
            { "role": "user", "content": "list" },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "ls", "input": {} }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "a.rs" }] },
        ] }),
        Protocol::OpenaiResponses => json!({ "model": "m", "input": [
            { "role": "user", "content": "list" },
            { "type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}" },
            { "type": "function_call_output", "call_id": id, "output": "a.rs" },
        ] }),
        Protocol::OpenaiChat => json!({ "model": "m", "messages": [
            { "role": "user", "content": "list" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "1", "type": "function", "function": { "name": "ls", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": id, "content": "a.rs" },
        ] }),
        Protocol::Gemini => json!({ "contents": [
            { "role": "user", "parts": [{ "text": "list" }] },
            { "role": "model", "parts": [{ "functionCall": { "id": "1", "name": "ls", "args": {} } }] },
            { "role": "user", "parts": [{ "functionResponse": {
                "id": id, "name": "ls", "response": { "output": "a.rs" },
            } }] },
        ] }),
    }
}

#[tokio::test]
async fn a_tools_result_is_answered_in_every_protocol() {
    let rehearsal = rehearse(
        "strict = true\n[[reply]]\nwhen = { last_user = 'list' }\nsay = [{ tool = 'ls' }]\n\
         [[reply]]\nwhen = { tool_result_of = 'ls', call = 2 }\ntext = 'there is {{tool_result}}'\n",
    )
    .await;
    for protocol in Protocol::ALL {
        let raw = post(rehearsal.address(), path(protocol, false), &after_a_call(protocol, "1")).await;
        assert!(raw.body.contains("there is a.rs"), "{protocol}: {raw:?}");
    }
}

#[tokio::test]
async fn calls_and_results_must_fit() {
    let rehearsal = rehearse("[[reply]]\ntext = 'a'\n").await;
    for protocol in Protocol::ALL {
        let raw = post(rehearsal.address(), path(protocol, false), &after_a_call(protocol, "2")).await;
        assert_eq!(raw.status, 400, "{protocol}: {raw:?}");
    }
}

#[tokio::test]
async fn invalid_requests_are_refused_in_the_protocols_form() {
    let rehearsal = rehearse("[[reply]]\ntext = 'a'\n").await;
    let address = rehearsal.address();
    for protocol in Protocol::ALL {
        let path = path(protocol, false);
        for body in ["{", "[]", "null", "{}"] {
            let request = format!(
                "POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let raw = exchange(address, &request).await;
            assert_eq!(raw.status, 400, "{protocol} {body}");
            assert!(raw.json()["error"]["message"].is_string(), "{protocol} {body}: {}", raw.body);
        }
    }
    let large =
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 40000000\r\nconnection: close\r\n\r\n";
    assert_eq!(exchange(address, large).await.status, 413);
    assert_eq!(
        exchange(address, "PUT /v1/messages HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.status,
        404
    );
}
