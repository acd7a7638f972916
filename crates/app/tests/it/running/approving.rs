//! Calls that need approval: rows that wait, and the effect of answers.

use agent::{
    Approval, End, Entry, Event, Mode, Refusal, RunOptions, SessionStatus, ToolCall, Turn, TurnBody,
};
use app::running::{ApprovalPolicy, Decision, EventId, SendOptions};
use app::{Code, ErrorKind, Remedy};
use chrono::Utc;
use sessions::{AfterRun, RunChange};
use testkit::sessions::claim;
use uuid::Uuid;

use super::stage::{
    PATIENCE, Stage, approved, assert_whole, end, hear, names, on_stage, refusals, rejected, requests,
    results, to_the_end, turns,
};
use crate::world::{code, refused};

const WRITE: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Result: {{tool_result}}"
[[reply]]
when = { last_user = "both" }
say = [
    { tool = "write_file", input = { path = "a.txt", content = "A" } },
    { tool = "read_file", input = { path = "notes.txt" } },
    { tool = "write_file", input = { path = "b.txt", content = "B" } },
]
[[reply]]
when = { last_user = "write" }
say = [{ text = "I write." }, { tool = "write_file", input = { path = "a.txt", content = "A" } }]
[[reply]]
text = "Nothing to do."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_as_a_row_and_runs_when_it_is_approved() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let heard = hear(&mut events, "approval_request", 1).await;
        assert!(names(&heard).ends_with("tool_call usage approval_request"), "{}", names(&heard));
        let view = stage.view(id).await;
        assert_eq!(view.session.status, SessionStatus::Waiting);
        assert_eq!(view.approvals.len(), 1);
        assert_eq!(view.approvals[0].call.name, "write_file");
        assert_eq!(view.approvals[0].call.input["path"], "a.txt");
        assert_eq!(requests(&heard), [(id, view.approvals[0].call.id.clone())]);
        assert!(!stage.file("a.txt").exists());
        // Nothing runs: stopping has nothing to wait for, and leaves the session as it is.
        stage.runtime.stop().await;
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Waiting);

        let view = stage.runtime.decide(id, &view.approvals[0].call.id, approved()).await.unwrap();
        assert!(view.approvals.is_empty());
        let rest = to_the_end(events).await;
        assert!(names(&rest).starts_with("approval_answered tool_result"), "{}", names(&rest));
        assert_eq!(end(&rest), Some(End::EndTurn));
        assert_eq!(std::fs::read_to_string(stage.file("a.txt")).unwrap(), "A");
        let view = stage.view(id).await;
        assert_eq!(turns(&view), "user assistant_text tool_call tool_result assistant_text");
        assert_eq!(view.session.status, SessionStatus::Idle);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_reaches_the_model_with_its_reason() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        stage.runtime.decide(id, &asked[0].1, rejected("not on a Sunday")).await.unwrap();
        assert_eq!(end(&to_the_end(events).await), Some(End::EndTurn));
        let view = stage.view(id).await;
        assert_eq!(results(&view), [("The user did not allow this: not on a Sunday".to_owned(), true)]);
        assert!(stage.sent()[1].to_string().contains("not on a Sunday"));
        assert!(!stage.file("a.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remembered_answers_hold_for_one_session() {
    on_stage(WRITE, async |stage| {
        for remembered in [true, false] {
            let _ = std::fs::remove_file(stage.file("a.txt"));
            let id = stage.session(Mode::Build).await;
            let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
            let asked = requests(&hear(&mut events, "approval_request", 1).await);
            let decision = Decision { approved: remembered, reason: None, remember: true };
            stage.runtime.decide(id, &asked[0].1, decision).await.unwrap();
            to_the_end(events).await;
            // The user is not asked again, not even after a restart.
            let later = stage.restarted().await;
            let events = later.send(id, "write it".to_owned(), Default::default()).await.unwrap();
            assert_eq!(requests(&to_the_end(events).await), []);
            assert_eq!(results(&stage.view(id).await).len(), 2);
            assert!(results(&stage.view(id).await).iter().all(|(_, is_error)| *is_error != remembered));
            assert_eq!(stage.file("a.txt").exists(), remembered);
        }
        let other = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(other, "write it".to_owned(), Default::default()).await.unwrap();
        hear(&mut events, "approval_request", 1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_another_process_resumes_the_run_for_all_viewers() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        let later = stage.restarted().await;
        let mut theirs = later.events(id, None).await.unwrap();
        later.decide(id, &asked[0].1, approved()).await.unwrap();
        let there = hear(&mut theirs, "done", 1).await;
        let here = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
        assert_eq!(end(&here), Some(End::EndTurn));
        // Passing text is not in the log; everything else is the same.
        let kept = |events: &[Event]| {
            let kept: Vec<Event> =
                events.iter().filter(|event| event.name() != "text_delta").cloned().collect();
            kept
        };
        assert_eq!(kept(&here), kept(&there));
        assert_eq!(std::fs::read_to_string(stage.file("a.txt")).unwrap(), "A");
        later.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_requests_wait_and_allowed_calls_run_first() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "both".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 2).await);
        let view = stage.view(id).await;
        let read = results(&view);
        assert_eq!(read.len(), 1, "{}", turns(&view));
        assert!(read[0].0.contains("the answer is 42"));
        assert_eq!(view.approvals.len(), 2);
        let view = stage.runtime.decide(id, &asked[1].1, approved()).await.unwrap();
        assert_eq!(view.session.status, SessionStatus::Waiting);
        assert_eq!(view.approvals.len(), 1);
        assert!(!stage.file("b.txt").exists(), "it waits for the other one");
        stage.runtime.decide(id, &asked[0].1, rejected("no A")).await.unwrap();
        assert_eq!(end(&to_the_end(events).await), Some(End::EndTurn));
        assert!(stage.file("b.txt").exists() && !stage.file("a.txt").exists());
        let view = stage.view(id).await;
        assert_whole(&view);
        assert_eq!(stage.sent().len(), 2, "the model is called once all have results");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_user_a_request_is_refused() {
    on_stage(WRITE, async |stage| {
        for policy in [ApprovalPolicy::Refuse, ApprovalPolicy::Read] {
            let id = stage.session(Mode::Build).await;
            let events = stage.say_with(id, "write it", policy).await;
            assert_eq!(end(&events), Some(End::EndTurn));
            let told = events.iter().find_map(|event| match event {
                Event::ToolResult { refusal, .. } => Some(*refusal),
                _ => None,
            });
            assert_eq!(told, Some(Some(Refusal::NobodyToAsk)));
            assert_eq!(refusals(&stage.view(id).await), [Some(Refusal::NobodyToAsk)]);
            assert!(!stage.file("a.txt").exists());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_may_allow_what_reads_or_everything() {
    let script = r#"
        [[reply]]
        when = { call = 1 }
        say = [
            { tool = "read_file", input = { path = "notes.txt" } },
            { tool = "write_file", input = { path = "a.txt", content = "A" } },
        ]
        [[reply]]
        text = "Done."
    "#;
    on_stage(script, async |stage| {
        let tools = serde_json::json!([
            { "name": "read_file", "approval": "ask" }, { "name": "write_file", "approval": "ask" },
        ]);
        super::presets::equip(stage, tools).await;
        for (policy, read, written) in [
            (ApprovalPolicy::Refuse, false, false),
            (ApprovalPolicy::Read, true, false),
            (ApprovalPolicy::All, true, true),
        ] {
            let id = stage.session_of("worker", Mode::Build).await;
            stage.say_with(id, "go", policy).await;
            let results = results(&stage.view(id).await);
            let was_read = results.iter().any(|(output, _)| output.contains("the answer is 42"));
            assert_eq!(was_read, read, "{policy:?} {results:?}");
            assert_eq!(stage.file("a.txt").exists(), written, "{policy:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_do_not_fit_are_refused() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "both".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 2).await);
        let unknown = refused(stage.runtime.decide(id, "call_unknown", approved()).await);
        assert_eq!((unknown.code, unknown.remedies), (Code::UnknownApproval, vec![Remedy::SeeApprovals]));
        let elsewhere = stage.runtime.decide(Uuid::now_v7(), &asked[0].1, approved()).await;
        assert_eq!(refused(elsewhere).kind, ErrorKind::Missing);
        stage.runtime.decide(id, &asked[0].1, rejected("no")).await.unwrap();
        let twice = stage.runtime.decide(id, &asked[0].1, approved()).await;
        assert_eq!(code(twice), Code::AlreadyDecided);
        stage.runtime.decide(id, &asked[1].1, rejected("no")).await.unwrap();
        to_the_end(events).await;
        assert!(!stage.file("a.txt").exists(), "the first answer counts");
        let late = refused(stage.runtime.decide(id, &asked[0].1, approved()).await);
        assert_eq!(late.kind, ErrorKind::Conflict);
        let long = Decision { reason: Some("x".repeat(10_000_000)), ..Decision::default() };
        assert_eq!(code(stage.runtime.decide(id, &asked[0].1, long).await), Code::TooLong);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_waits_takes_no_message_and_can_be_cancelled() {
    on_stage(WRITE, async |stage| {
        for elsewhere in [false, true] {
            let id = stage.session(Mode::Build).await;
            let mut events = stage.runtime.send(id, "both".to_owned(), Default::default()).await.unwrap();
            hear(&mut events, "approval_request", 2).await;
            let message = stage.runtime.send(id, "hello?".to_owned(), Default::default()).await;
            let waits = refused(message);
            assert_eq!((waits.code, waits.remedies), (Code::ApprovalPending, vec![Remedy::DecideFirst]));
            let canceller = if elsewhere { stage.restarted().await } else { stage.runtime.clone() };
            assert!(canceller.cancel(id).await.unwrap());
            let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
            assert_eq!(end(&rest), Some(End::Cancelled));
            let view = stage.view(id).await;
            assert_eq!(view.session.status, SessionStatus::Idle);
            assert!(view.approvals.is_empty());
            assert_whole(&view);
            assert!(!stage.file("a.txt").exists() && !stage.file("b.txt").exists());
            let events = stage.say(id, "hello?").await;
            assert_eq!(end(&events), Some(End::EndTurn));
            assert!(!stage.runtime.cancel(id).await.unwrap(), "there is nothing to cancel any more");
        }
    })
    .await;
}

/// Cancelling the very moment in which a run begins to wait is not lost.
#[tokio::test(flavor = "multi_thread")]
async fn cancelling_and_waiting_at_once() {
    on_stage(WRITE, async |stage| {
        for _ in 0..10 {
            let id = stage.session(Mode::Build).await;
            let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
            hear(&mut events, "usage", 1).await;
            assert!(stage.runtime.cancel(id).await.unwrap());
            let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
            assert_eq!(end(&rest), Some(End::Cancelled));
            assert_whole(&stage.view(id).await);
        }
    })
    .await;
}

/// The process that took the answer was killed before it went on.
#[tokio::test(flavor = "multi_thread")]
async fn repeating_an_answer_resumes_a_session_that_was_left() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        super::crashing::answer_only(stage, id, &asked[0].1).await;
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Waiting);
        assert_eq!(
            refused(stage.runtime.decide(id, &asked[0].1, approved()).await).kind,
            ErrorKind::Conflict
        );
        assert_eq!(end(&to_the_end(events).await), Some(End::EndTurn));
        assert!(stage.file("a.txt").exists());
    })
    .await;
}

/// A persona that is deleted while its session waits ends the run, and does not lock the session.
#[tokio::test(flavor = "multi_thread")]
async fn a_persona_that_is_gone_ends_what_waited() {
    on_stage(WRITE, async |stage| {
        for cancels in [false, true] {
            let name = if cancels { "leaver" } else { "goner" };
            let persona = serde_json::json!({
                "name": name, "preferred_models": [{ "provider": "stage", "model": "actor" }],
            });
            stage.world.persona(persona::Scope::Shared, persona).await;
            let id = stage.session_of(name, Mode::Build).await;
            let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
            let asked = requests(&hear(&mut events, "approval_request", 1).await);
            let delete = crate::world::input(serde_json::json!({ "kind": "persona", "name": name }));
            stage.world.library.delete_entity(&stage.world.author, delete).await.unwrap();
            let expected = if cancels {
                assert!(stage.runtime.cancel(id).await.unwrap());
                End::Cancelled
            } else {
                stage.runtime.decide(id, &asked[0].1, approved()).await.unwrap();
                End::Failed
            };
            let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
            assert_eq!(end(&rest), Some(expected), "{}", names(&rest));
            let view = stage.view(id).await;
            assert_eq!(view.session.status, SessionStatus::Idle);
            assert_whole(&view);
            assert!(!stage.file("a.txt").exists());
        }
    })
    .await;
}

/// The mode is looked at when an approved call is about to run, not when it was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_does_not_run_in_a_session_that_plans_by_then() {
    on_stage(WRITE, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        stage.runtime.set_mode(id, Mode::Plan).await.unwrap();
        stage.runtime.decide(id, &asked[0].1, approved()).await.unwrap();
        to_the_end(events).await;
        assert_eq!(refusals(&stage.view(id).await), [Some(Refusal::PlanMode)]);
        assert!(!stage.file("a.txt").exists());
        let from_the_start = stage.runtime.events(id, Some(EventId::default())).await;
        let heard = hear(&mut from_the_start.unwrap(), "done", 1).await;
        assert!(
            names(&heard).contains("approval_request mode_changed approval_answered"),
            "{}",
            names(&heard)
        );
    })
    .await;
}

/// A run's options hold until it ends, also at another process, and not for the next run.
#[tokio::test(flavor = "multi_thread")]
async fn a_calls_own_limit_of_rounds_holds_after_a_wait() {
    let script = r#"
        [[reply]]
        say = [{ tool = "write_file", input = { path = "{{call}}.txt", content = "A" } }]
    "#;
    on_stage(script, async |stage| {
        for elsewhere in [false, true] {
            let id = stage.session(Mode::Build).await;
            let options = SendOptions { max_tool_rounds: Some(1), ..SendOptions::default() };
            let mut events = stage.runtime.send(id, "write".to_owned(), options).await.unwrap();
            let asked = requests(&hear(&mut events, "approval_request", 1).await);
            let answerer = if elsewhere { stage.restarted().await } else { stage.runtime.clone() };
            answerer.decide(id, &asked[0].1, approved()).await.unwrap();
            let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
            assert_eq!(requests(&rest), []);
            assert_eq!(end(&rest), Some(End::MaxToolRounds), "{}", names(&rest));
            let view = stage.view(id).await;
            assert_eq!(
                results(&view).iter().map(|(_, is_error)| *is_error).collect::<Vec<_>>(),
                [false, true]
            );

            let options = SendOptions::default();
            let mut events = stage.runtime.send(id, "write".to_owned(), options).await.unwrap();
            let asked = requests(&hear(&mut events, "approval_request", 1).await);
            stage.runtime.decide(id, &asked[0].1, approved()).await.unwrap();
            hear(&mut events, "approval_request", 1).await;
            assert!(stage.runtime.cancel(id).await.unwrap());
            to_the_end(events).await;
        }
    })
    .await;
}

const TWICE: &str = r#"
[[reply]]
when = { tool_result_of = "write_file", tool_result = "a.txt" }
say = [{ tool = "write_file", input = { path = "b.txt", content = "B" } }]
[[reply]]
text = "Done."
"#;

/// Leaves a session as a process does that began a run with a policy, asked for a call, and is gone.
async fn leave_waiting(stage: &Stage<'_>, id: Uuid, policy: ApprovalPolicy) {
    let turn =
        |body| Entry::Turn(Turn { id: Uuid::now_v7(), created_at: Utc::now(), body, provider_state: None });
    let store = stage.store().await;
    let options = RunOptions { policy, max_tool_rounds: None };
    let message = turn(TurnBody::User { content: "write both".to_owned() });
    store.begin_run(id, &claim("gone"), 0, &[message], None, options).await.unwrap();
    let input = serde_json::json!({ "path": "a.txt", "content": "A" });
    let input = input.as_object().unwrap().clone();
    let call = ToolCall { id: "call_1".to_owned(), name: "write_file".to_owned(), input };
    let request = Approval { session: id, call: call.clone(), asked_at: Utc::now(), answer: None };
    let change = RunChange { ask: vec![request], then: Some(AfterRun::Waiting), ..RunChange::default() };
    let called = turn(TurnBody::ToolCall { call, malformed: None });
    store.append(id, "gone", &[called], &change).await.unwrap();
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_resumes_elsewhere_keeps_its_policy() {
    on_stage(TWICE, async |stage| {
        for policy in ApprovalPolicy::ALL {
            let id = stage.session(Mode::Build).await;
            leave_waiting(stage, id, *policy).await;
            let elsewhere = stage.restarted().await;
            // There are no viewers.
            elsewhere.decide(id, "call_1", approved()).await.unwrap();
            let settles = async {
                loop {
                    let view = elsewhere.session(id).await.unwrap();
                    if view.session.status == SessionStatus::Idle || !view.approvals.is_empty() {
                        return view.session.status;
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
            };
            let status = tokio::time::timeout(PATIENCE, settles).await.expect("it settles");
            let (expected, refusals_expected) = match policy {
                // A user answered, so a user can be asked again.
                ApprovalPolicy::Ask | ApprovalPolicy::AskViewer => (SessionStatus::Waiting, vec![None]),
                ApprovalPolicy::Refuse | ApprovalPolicy::Read => {
                    (SessionStatus::Idle, vec![None, Some(Refusal::NobodyToAsk)])
                }
                ApprovalPolicy::Edit | ApprovalPolicy::All | ApprovalPolicy::AllUnattended => {
                    (SessionStatus::Idle, vec![None, None])
                }
            };
            assert_eq!(status, expected, "{policy}");
            assert_eq!(refusals(&stage.view(id).await), refusals_expected, "{policy}");
            let runs =
                matches!(policy, ApprovalPolicy::Edit | ApprovalPolicy::All | ApprovalPolicy::AllUnattended);
            assert_eq!(stage.file("b.txt").exists(), runs, "{policy}");
            elsewhere.cancel(id).await.unwrap();
            elsewhere.stop().await;
        }
    })
    .await;
}
