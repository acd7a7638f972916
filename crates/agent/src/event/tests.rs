//! The JSON of events, and which of them an entry of the log becomes.

use chrono::DateTime;
use serde_json::{Map, json};

use super::*;
use crate::Turn;
use crate::turn::tests::{call, id};

const ID: &str = "00000000-0000-0000-0000-000000000001";

#[track_caller]
fn check(event: &Event, expected: Value) {
    assert_eq!(event.name(), expected["type"], "the name of the stream's event is the type");
    assert_eq!(serde_json::to_value(event).expect("it serialises"), expected);
    assert_eq!(serde_json::from_value::<Event>(expected).expect("it reads back"), *event);
}

#[track_caller]
fn check_turn(body: TurnBody, expected: Value) {
    let turn = Turn { id: id(1), created_at: DateTime::UNIX_EPOCH, body, provider_state: None };
    check(&Event::from(&Entry::Turn(turn)), expected);
}

#[track_caller]
fn check_note(note: Note, expected: Value) {
    check(&Event::from(&Entry::Note { at: DateTime::UNIX_EPOCH, note }), expected);
}

fn input() -> Map<String, Value> {
    Map::from_iter([("path".to_owned(), json!("a.md"))])
}

fn model(text: &str) -> ModelRef {
    text.parse().expect("a model")
}

#[test]
fn passing_text() {
    check(&Event::TextDelta { content: "I'll".into() }, json!({"type": "text_delta", "content": "I'll"}));
    check(
        &Event::ReasoningDelta { content: "Hm".into() },
        json!({"type": "reasoning_delta", "content": "Hm"}),
    );
}

#[test]
fn a_wait_in_passing() {
    let waiting = Event::Waiting {
        provider: "a".into(),
        model: "m".into(),
        seconds: 20.0,
        code: ErrorCode::RateLimited,
        message: "slow down".into(),
    };
    check(
        &waiting,
        json!({"type": "waiting", "provider": "a", "model": "m", "seconds": 20.0, "code": "rate_limited",
               "message": "slow down"}),
    );
}

#[test]
fn a_run_goes_on_after_a_warning() {
    for (code, is_warning) in [
        (ErrorCode::Persona, true),
        (ErrorCode::UnknownPersona, false),
        (ErrorCode::Tools, true),
        (ErrorCode::Storage, false),
        (ErrorCode::Interrupted, false),
        (ErrorCode::Transport, false),
    ] {
        assert_eq!(code.is_warning(), is_warning, "{code:?}");
    }
}

#[test]
fn turns() {
    check_turn(TurnBody::User { content: "Hi".into() }, json!({"type": "user", "id": ID, "content": "Hi"}));
    check_turn(
        TurnBody::AssistantText { content: "Hello".into() },
        json!({"type": "text_complete", "id": ID, "content": "Hello"}),
    );
    let called = ToolCall { input: input(), ..call("toolu_1", "read_file") };
    let body = TurnBody::ToolCall { call: called, malformed: None };
    check_turn(
        body,
        json!({"type": "tool_call", "id": ID, "toolUseId": "toolu_1", "toolName": "read_file", "input": {"path": "a.md"}}),
    );
    let result = |is_error| TurnBody::ToolResult {
        tool_use_id: "toolu_1".into(),
        output: "x".into(),
        is_error,
        refusal: None,
    };
    check_turn(
        result(false),
        json!({"type": "tool_result", "id": ID, "toolUseId": "toolu_1", "output": "x"}),
    );
    check_turn(
        result(true),
        json!({"type": "tool_result", "id": ID, "toolUseId": "toolu_1", "output": "x", "isError": true}),
    );
    check_turn(
        TurnBody::refused("toolu_1", crate::Refused::new(Refusal::NobodyToAsk, "x")),
        json!({
            "type": "tool_result", "id": ID, "toolUseId": "toolu_1", "output": "x", "isError": true,
            "refusal": "nobody_to_ask",
        }),
    );
    check_turn(
        TurnBody::Summary { content: "Short".into(), through: id(1) },
        json!({"type": "summary", "id": ID, "content": "Short", "through": ID}),
    );
}

#[test]
fn notes_about_models() {
    check_note(
        Note::ModelSelected { model: model("local/org/m"), reason: SelectionReason::Preferred },
        json!({"type": "model_selected", "provider": "local", "model": "org/m", "reason": "preferred"}),
    );
    let (from, to) = (model("a/m"), model("b/n"));
    check_note(
        Note::ModelEscalated { from, to, code: ErrorCode::RateLimited, message: "Later.".into() },
        json!({"type": "model_escalated", "from": "a/m", "to": "b/n", "code": "rate_limited", "message": "Later."}),
    );
    check_note(
        Note::TextDiscarded { turns: vec![id(1)] },
        json!({"type": "text_discarded", "turnIds": [ID]}),
    );
    let usage = Usage { input_tokens: 9, output_tokens: 2, cache_read_tokens: 4, cache_write_tokens: 1 };
    let expected = json!({
        "type": "usage", "provider": "a", "model": "m",
        "inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 4, "cacheWriteTokens": 1,
    });
    check_note(Note::Usage { model: model("a/m"), usage, cost: None, request_id: None }, expected.clone());
    let mut with_id = expected;
    with_id["requestId"] = json!("req_1");
    let with_id_alone =
        Note::Usage { model: model("a/m"), usage, cost: None, request_id: Some("req_1".into()) };
    check_note(with_id_alone, with_id);
}

#[test]
fn notes_about_the_run() {
    check_note(Note::ModeChanged { mode: Mode::Plan }, json!({"type": "mode_changed", "mode": "plan"}));
    check_note(
        Note::ApprovalRequest {
            session: id(1),
            call: ToolCall { input: input(), ..call("toolu_1", "edit_file") },
        },
        json!({"type": "approval_request", "sessionId": ID, "toolUseId": "toolu_1", "toolName": "edit_file", "input": {"path": "a.md"}}),
    );
    check_note(
        Note::ApprovalAnswered { tool_use_id: "toolu_1".into(), approved: false },
        json!({"type": "approval_answered", "toolUseId": "toolu_1", "approved": false}),
    );
    check_note(Note::PlanReady { plan: "1. Look".into() }, json!({"type": "plan_ready", "plan": "1. Look"}));
    check_note(
        Note::ToolEvent { tool_use_id: "toolu_1".into(), event: json!({"card": 7}) },
        json!({"type": "tool_event", "toolUseId": "toolu_1", "event": {"card": 7}}),
    );
    check_note(
        Note::Error { code: ErrorCode::ContextExceeded, message: "Too long.".into() },
        json!({"type": "error", "code": "context_exceeded", "message": "Too long."}),
    );
    check_note(
        Note::Done { stop_reason: End::MaxToolRounds },
        json!({"type": "done", "stopReason": "max_tool_rounds"}),
    );
}

#[test]
fn only_done_is_last() {
    assert!(Event::Done { stop_reason: End::Failed }.is_last());
    assert!(!Event::Error { code: ErrorCode::Storage, message: String::new() }.is_last());
    assert!(!Event::TextComplete { id: id(1), content: String::new() }.is_last());
}

#[test]
fn every_failure_has_the_code_of_its_own_name() {
    for kind in [
        FailureKind::Transport,
        FailureKind::RateLimited,
        FailureKind::ContextExceeded,
        FailureKind::Unauthorized,
        FailureKind::UnknownModel,
        FailureKind::Rejected,
    ] {
        let code = serde_json::to_value(ErrorCode::from(kind)).expect("it serialises");
        assert_eq!(code, serde_json::to_value(kind).expect("it serialises"));
    }
}
