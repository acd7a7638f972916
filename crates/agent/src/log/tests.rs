//! The stored form of notes: it must stay readable as long as its session.

use serde_json::json;

use super::*;
use crate::turn::tests::id;

const ID: &str = "00000000-0000-0000-0000-000000000001";

#[track_caller]
fn check(note: &Note, expected: Value) {
    assert_eq!(serde_json::to_value(note).expect("it serialises"), expected);
    assert_eq!(serde_json::from_value::<Note>(expected).expect("it reads back"), *note);
}

fn model() -> ModelRef {
    "a/m".parse().expect("a model")
}

#[test]
fn notes_about_models() {
    check(
        &Note::ModelSelected { model: model(), reason: SelectionReason::Cooldown },
        json!({"type": "model_selected", "model": "a/m", "reason": "cooldown"}),
    );
    let to = "b/n".parse().expect("a model");
    check(
        &Note::ModelEscalated { from: model(), to, code: ErrorCode::Transport, message: "Cut.".into() },
        json!({"type": "model_escalated", "from": "a/m", "to": "b/n", "code": "transport", "message": "Cut."}),
    );
    check(&Note::TextDiscarded { turns: vec![id(1)] }, json!({"type": "text_discarded", "turns": [ID]}));
    let usage = Usage { input_tokens: 9, output_tokens: 2, ..Usage::default() };
    check(
        &Note::Usage { model: model(), usage, cost: Some(0.5), request_id: Some("req_1".into()) },
        json!({
            "type": "usage", "model": "a/m", "cost": 0.5, "requestId": "req_1",
            "usage": {"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 0, "cacheWriteTokens": 0},
        }),
    );
}

#[test]
fn notes_about_the_run() {
    check(&Note::ModeChanged { mode: Mode::Build }, json!({"type": "mode_changed", "mode": "build"}));
    let tool_use_id = "toolu_1".to_owned();
    check(
        &Note::ApprovalRequest { session: id(1), call: crate::turn::tests::call("toolu_1", "edit_file") },
        json!({"type": "approval_request", "session": ID, "toolUseId": "toolu_1", "toolName": "edit_file", "input": {}}),
    );
    check(
        &Note::ApprovalAnswered { tool_use_id: tool_use_id.clone(), approved: true },
        json!({"type": "approval_answered", "toolUseId": "toolu_1", "approved": true}),
    );
    check(
        &Note::ToolEvent { tool_use_id, event: json!([1]) },
        json!({"type": "tool_event", "toolUseId": "toolu_1", "event": [1]}),
    );
    check(&Note::PlanReady { plan: "1. Look".into() }, json!({"type": "plan_ready", "plan": "1. Look"}));
    check(
        &Note::Error { code: ErrorCode::UnknownProvider, message: "No x.".into() },
        json!({"type": "error", "code": "unknown_provider", "message": "No x."}),
    );
}

#[test]
fn every_end_is_kept_under_its_name() {
    for (end, name) in [
        (End::EndTurn, "end_turn"),
        (End::MaxTokens, "max_tokens"),
        (End::Refusal, "refusal"),
        (End::Cancelled, "cancelled"),
        (End::MaxToolRounds, "max_tool_rounds"),
        (End::LoopDetected, "loop_detected"),
        (End::Failed, "failed"),
    ] {
        assert_eq!(end.as_str(), name);
        check(&Note::Done { stop_reason: end }, json!({"type": "done", "stopReason": name}));
    }
}
