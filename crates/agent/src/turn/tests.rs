//! The JSON of turns, and a short notation in which other tests write lists of them.

use chrono::DateTime;
use serde_json::{Map, Value, json};

use super::*;

/// Turns from one word each: `u:hello` a user's, `t:hello` a text, `p:hello` a text with a provider's state,
/// `c:id` a call, `x:id` one that hands a plan over, `r:id` its result, `e:id` a failed one, `s3:short` a summary through the third
/// turn. The turns' ids count from 1.
pub(crate) fn turns(script: &str) -> Vec<Turn> {
    script.split_whitespace().enumerate().map(|(at, word)| turn(at, word)).collect()
}

fn turn(at: usize, word: &str) -> Turn {
    let (kind, text) = word.split_once(':').unwrap_or((word, word));
    let content = text.to_owned();
    let tool_use_id = text.to_owned();
    let body = match kind {
        "u" => TurnBody::User { content },
        "t" | "p" => TurnBody::AssistantText { content },
        "c" => TurnBody::ToolCall { call: call(text, "look"), malformed: None },
        "x" => TurnBody::ToolCall { call: call(text, crate::PLAN_EXIT), malformed: None },
        "r" => TurnBody::ToolResult { tool_use_id, output: "ok".into(), is_error: false, refusal: None },
        "e" => TurnBody::ToolResult { tool_use_id, output: "no".into(), is_error: true, refusal: None },
        summary => {
            let through = summary.strip_prefix('s').and_then(|through| through.parse().ok());
            TurnBody::Summary { content, through: id(through.expect("a word of the notation")) }
        }
    };
    let provider_state = (kind == "p").then(|| ProviderState { provider: "x".into(), data: json!("signed") });
    Turn { id: id(at + 1), created_at: DateTime::UNIX_EPOCH, body, provider_state }
}

pub(crate) fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), ..ToolCall::default() }
}

pub(crate) fn id(at: usize) -> Uuid {
    Uuid::from_u128(at as u128)
}

/// A turn back in the notation; of a summary, without what it covers.
pub(crate) fn word(turn: &Turn) -> String {
    match &turn.body {
        TurnBody::User { content } => format!("u:{content}"),
        TurnBody::AssistantText { content } => format!("t:{content}"),
        TurnBody::ToolCall { call, .. } => format!("c:{}", call.id),
        TurnBody::ToolResult { tool_use_id, is_error: false, .. } => format!("r:{tool_use_id}"),
        TurnBody::ToolResult { tool_use_id, .. } => format!("e:{tool_use_id}"),
        TurnBody::Summary { content, .. } => format!("s:{content}"),
    }
}

#[track_caller]
fn check(body: TurnBody, expected: Value) {
    let turn = Turn { id: id(1), created_at: DateTime::UNIX_EPOCH, body, provider_state: None };
    let mut whole =
        json!({"id": "00000000-0000-0000-0000-000000000001", "createdAt": "1970-01-01T00:00:00Z"});
    let Value::Object(fields) = expected else { panic!("a turn is an object") };
    whole.as_object_mut().expect("it is one").extend(fields);
    assert_eq!(serde_json::to_value(&turn).expect("it serialises"), whole);
    assert_eq!(serde_json::from_value::<Turn>(whole).expect("it reads back"), turn);
}

fn input(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).expect("an object")
}

#[test]
fn turns_are_flat_objects() {
    check(TurnBody::User { content: "Hi".into() }, json!({"type": "user", "content": "Hi"}));
    check(
        TurnBody::AssistantText { content: "Hello".into() },
        json!({"type": "assistant_text", "content": "Hello"}),
    );
    let called = ToolCall { input: input(json!({"path": "a.md"})), ..call("toolu_1", "read_file") };
    let body = TurnBody::ToolCall { call: called, malformed: None };
    check(
        body,
        json!({"type": "tool_call", "toolUseId": "toolu_1", "toolName": "read_file", "input": {"path": "a.md"}}),
    );
    let tool_use_id = "toolu_1".to_owned();
    let body = TurnBody::ToolResult {
        tool_use_id: tool_use_id.clone(),
        output: "# A".into(),
        is_error: false,
        refusal: None,
    };
    check(body, json!({"type": "tool_result", "toolUseId": "toolu_1", "output": "# A"}));
    let body = TurnBody::ToolResult { tool_use_id, output: "gone".into(), is_error: true, refusal: None };
    check(body, json!({"type": "tool_result", "toolUseId": "toolu_1", "output": "gone", "isError": true}));
    let body = TurnBody::ToolCall { call: call("toolu_1", "read_file"), malformed: Some("no JSON".into()) };
    check(
        body,
        json!({"type": "tool_call", "toolUseId": "toolu_1", "toolName": "read_file", "input": {}, "malformed": "no JSON"}),
    );
    check(
        TurnBody::Summary { content: "Short".into(), through: id(7) },
        json!({"type": "summary", "content": "Short", "through": "00000000-0000-0000-0000-000000000007"}),
    );
}

#[test]
fn refusals() {
    for refusal in Refusal::ALL {
        let code = serde_json::to_value(refusal).expect("it serialises");
        check(
            TurnBody::refused("toolu_1", Refused::new(*refusal, "No.")),
            json!({
                "type": "tool_result", "toolUseId": "toolu_1", "output": "No.", "isError": true, "refusal": code,
            }),
        );
    }
    let codes: Vec<Value> =
        Refusal::ALL.iter().map(|refusal| serde_json::to_value(refusal).expect("it serialises")).collect();
    let expected = "nobody_to_ask rejected_by_user not_offered plan_mode malformed_arguments \
                    invalid_arguments too_many_calls run_ended run_failed cancelled interrupted";
    assert_eq!(codes, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn a_providers_state_is_never_shown() {
    let turn = turns("p:hello").remove(0);
    assert!(turn.provider_state.is_some());
    let shown = serde_json::to_string(&turn).expect("it serialises");
    assert!(!shown.contains("signed") && !shown.to_lowercase().contains("state"), "{shown}");
}

#[test]
fn no_other_type_is_a_turn() {
    for text in [
        r#"{"id":"00000000-0000-0000-0000-000000000001","createdAt":"1970-01-01T00:00:00Z","type":"toolCall"}"#,
        r#"{"id":"00000000-0000-0000-0000-000000000001","createdAt":"1970-01-01T00:00:00Z","content":"Hi"}"#,
        r#"{"id":"1","createdAt":"1970-01-01T00:00:00Z","type":"user","content":"Hi"}"#,
    ] {
        assert!(serde_json::from_str::<Turn>(text).is_err(), "{text}");
    }
}

#[track_caller]
fn check_open(script: &str, expected: &[&str]) {
    assert_eq!(open_calls(&turns(script)), expected, "{script}");
}

#[test]
fn calls_without_a_result_are_open() {
    check_open("", &[]);
    check_open("u:go t:x", &[]);
    check_open("u:go c:a", &["a"]);
    check_open("u:go t:x c:a t:y c:b", &["a", "b"]);
    check_open("u:go c:a c:b c:c r:b", &["a", "c"]);
    check_open("u:go c:a c:b e:b r:a", &[]);
    // Calls of earlier runs and of summed-up turns count too.
    check_open("u:go c:a u:on c:b r:b", &["a"]);
    check_open("u:go c:a r:a c:b s4:short", &["b"]);
    // An older result does not answer a newer call.
    check_open("u:go c:a r:a c:a", &["a"]);
    check_open("u:go c:a c:a r:a", &["a"]);
    check_open("u:go c:a r:a c:a e:a", &[]);
    // A result without a call answers none.
    check_open("u:go r:a c:a", &["a"]);
}
