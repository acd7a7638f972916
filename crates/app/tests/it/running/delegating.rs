//! Personas that give tasks to other personas.

use agent::{End, Event, Mode, Refusal, Session, SessionStatus};
use app::running::{ApprovalPolicy, Decision, SendOptions};
use persona::{Kind, Scope};
use serde_json::{Value, json};
use sessions::{Parent, SessionFilter};
use uuid::Uuid;

use super::stage::{
    PATIENCE, Stage, approved, assert_whole, end, hear, names, offered, on_stage, refusals, rejected,
    requests, results, system, to_the_end, turns,
};

/// Each persona's system prompt says who it is; the script plays all of them.
const SCRIPT: &str = r#"
[[reply]]
when = { system = "You are Boss", tool_result_of = "delegate" }
text = "They said: {{tool_result}}"
[[reply]]
when = { system = "You are Boss", last_user = "nobody" }
say = [{ tool = "delegate", input = { persona = "nobody", task = "anything" } }]
[[reply]]
when = { system = "You are Boss", last_user = "deep" }
say = [{ tool = "delegate", input = { persona = "middle", task = "hand it on" } }]
[[reply]]
when = { system = "You are Boss", last_user = "two" }
say = [
    { tool = "delegate", input = { persona = "worker", task = "write a.txt" } },
    { tool = "delegate", input = { persona = "worker", task = "write b.txt" } },
]
[[reply]]
when = { system = "You are Boss" }
say = [{ tool = "delegate", input = { persona = "worker", task = "{{last_user}}" } }]

[[reply]]
when = { system = "You are Middle", tool_result_of = "delegate" }
text = "Passed on: {{tool_result}}"
[[reply]]
when = { system = "You are Middle" }
say = [{ tool = "delegate", input = { persona = "worker", task = "write a.txt" } }]

[[reply]]
when = { system = "You are Echo", tool_result_of = "delegate" }
text = "below: {{tool_result}}"
[[reply]]
when = { system = "You are Echo" }
say = [{ tool = "delegate", input = { persona = "echo", task = "again" } }]

[[reply]]
when = { system = "You are Worker", tool_result_of = "write_file" }
text = "Report: {{tool_result}}"
[[reply]]
when = { system = "You are Worker", last_user = "break" }
fault = { status = 401 }
[[reply]]
when = { system = "You are Worker", last_user = "b.txt" }
say = [{ tool = "write_file", input = { path = "b.txt", content = "B" } }]
[[reply]]
when = { system = "You are Worker", last_user = "write" }
say = [{ text = "On it." }, { tool = "write_file", input = { path = "a.txt", content = "A" } }]
[[reply]]
when = { system = "You are Worker", last_user = "plan" }
say = [{ tool = "plan_exit", input = { plan = "1. Think" } }]
[[reply]]
when = { system = "You are Worker", last_user = "slowly" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
pace_ms = 200
[[reply]]
text = "Nothing to report."
"#;

async fn cast(stage: &Stage<'_>, boss: Value) {
    for (name, prompt, more) in [
        ("boss", "You are Boss.", boss),
        ("middle", "You are Middle.", json!({})),
        ("worker", "You are Worker.", json!({})),
        ("echo", "You are Echo.", json!({})),
    ] {
        let mut persona = json!({
            "name": name, "system_prompt": prompt,
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        persona.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.world.persona(Scope::Shared, persona).await;
    }
}

/// The sessions right below one, oldest first.
async fn below(stage: &Stage<'_>, id: Uuid) -> Vec<Session> {
    let store = stage.store().await;
    let filter = SessionFilter { parent: Parent::Of(id), ..SessionFilter::default() };
    let mut found = store.sessions(&filter).await.unwrap().items;
    store.close().await;
    found.sort_by_key(|session| session.id);
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegate_works_in_a_session_of_its_own_and_reports() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        for mode in [Mode::Build, Mode::Plan] {
            let id = stage.session_of("boss", mode).await;
            let events = stage.say_with(id, "what is new?", ApprovalPolicy::Refuse).await;
            assert_eq!(end(&events), Some(End::EndTurn));
            let view = stage.view(id).await;
            assert_eq!(turns(&view), "user tool_call tool_result assistant_text");
            assert_eq!(results(&view), [("Nothing to report.".to_owned(), false)]);
            let below = below(stage, id).await;
            assert_eq!(below.len(), 1);
            assert_eq!((below[0].mode, below[0].depth, &below[0].root), (mode, 1, &view.session.root));
            assert_eq!(turns(&stage.view(below[0].id).await), "user assistant_text");
            // It sees nothing of the conversation above, and plans while that plans.
            let sent = stage.sent();
            let theirs = sent.iter().rev().find(|sent| system(sent).contains("You are Worker")).unwrap();
            assert_eq!(theirs["messages"].as_array().unwrap().len(), 2);
            assert_eq!(system(theirs).contains("<system-reminder>"), mode == Mode::Plan);
        }
        assert_eq!(stage.runtime.sessions(Default::default()).await.unwrap().items.len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_a_delegate_hands_over_is_its_report() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Plan).await;
        stage.say(id, "make a plan").await;
        let view = stage.view(id).await;
        assert_eq!(results(&view), [("1. Think".to_owned(), false)]);
        assert!(view.session.plan.is_none(), "only the persona itself hands its plan to the user");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegate_has_no_more_permissions_than_its_parent() {
    on_stage(SCRIPT, async |stage| {
        let tools = json!([{ "name": "delegate" }, { "name": "read_file" }]);
        let preset = json!({ "name": "kit", "categories": { "work": tools } });
        stage.world.create(Kind::ToolPreset, Scope::Shared, preset).await;
        let guardrail = json!({ "name": "careful", "content": "Read no file.", "deny_tools": ["read_file"] });
        stage.world.create(Kind::Guardrail, Scope::Shared, guardrail).await;
        cast(stage, json!({ "tool_preset": "kit", "guardrails": ["careful"] })).await;
        let id = stage.session_of("boss", Mode::Build).await;
        stage.say_with(id, "write it", ApprovalPolicy::All).await;
        let sent = stage.sent();
        assert_eq!(offered(&sent[0]), ["delegate"]);
        assert_eq!(offered(&sent[1]), ["delegate"], "neither the preset's nor the guardrail's");
        let child = below(stage, id).await.remove(0);
        assert!(results(&stage.view(child.id).await)[0].1);
        assert!(!stage.file("a.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn delegation_ends_somewhere() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("echo", Mode::Build).await;
        assert_eq!(end(&stage.say(id, "go").await), Some(End::EndTurn));
        let mut depth = 0;
        let mut lowest = id;
        while let Some(child) = below(stage, lowest).await.pop() {
            depth += 1;
            assert_eq!(child.depth, depth);
            lowest = child.id;
        }
        assert_eq!(depth, agent::limits::DELEGATION_DEPTH);
        assert_eq!(refusals(&stage.view(lowest).await), [Some(Refusal::NotOffered)]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_that_is_not_there_is_a_result_and_leaves_no_session() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        assert_eq!(end(&stage.say(id, "ask nobody").await), Some(End::EndTurn));
        let (told, is_error) = results(&stage.view(id).await).remove(0);
        assert!(is_error && told.contains("no persona is named \"nobody\""), "{told}");
        assert!(below(stage, id).await.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegates_request_is_shown_above_and_its_answer_resumes_both() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        for elsewhere in [false, true] {
            let _ = std::fs::remove_file(stage.file("a.txt"));
            let id = stage.session_of("boss", Mode::Build).await;
            let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
            let asked = requests(&hear(&mut events, "approval_request", 1).await);
            let child = below(stage, id).await.remove(0);
            assert_eq!((asked.len(), asked[0].0), (1, child.id));
            assert_eq!(child.status, SessionStatus::Waiting);
            assert_eq!(stage.view(id).await.session.status, SessionStatus::Waiting);
            assert_eq!(stage.view(child.id).await.approvals.len(), 1);
            let runtime = if elsewhere { stage.restarted().await } else { stage.runtime.clone() };
            runtime.decide(child.id, &asked[0].1, approved()).await.unwrap();
            let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
            assert_eq!(end(&rest), Some(End::EndTurn), "{}", names(&rest));
            assert!(stage.file("a.txt").exists());
            let view = stage.view(id).await;
            assert_whole(&view);
            assert!(results(&view)[0].0.starts_with("Report: created a.txt"), "{:?}", results(&view));
            assert_eq!(stage.view(child.id).await.session.status, SessionStatus::Idle);
            runtime.stop().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_from_two_below_comes_all_the_way_up() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "deep".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        let middle = below(stage, id).await.remove(0);
        let worker = below(stage, middle.id).await.remove(0);
        assert_eq!(asked[0].0, worker.id);
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Waiting);
        assert_eq!(middle.status, SessionStatus::Waiting);
        let sent = stage.sent().len();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!(stage.sent().len(), sent, "nothing goes on by itself");
        stage.runtime.decide(worker.id, &asked[0].1, approved()).await.unwrap();
        let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
        assert_eq!(end(&rest), Some(End::EndTurn));
        let told = results(&stage.view(id).await).remove(0).0;
        assert!(told.starts_with("Passed on: Report: created a.txt"), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_waits_for_two_delegates_that_ask() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "two".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 2).await);
        assert_eq!(below(stage, id).await.len(), 2);
        stage.runtime.decide(asked[0].0, &asked[0].1, approved()).await.unwrap();
        let mut first = stage.runtime.events(asked[0].0, Some(Default::default())).await.unwrap();
        hear(&mut first, "done", 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Waiting);
        stage.runtime.decide(asked[1].0, &asked[1].1, rejected("one is enough")).await.unwrap();
        let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
        assert_eq!(end(&rest), Some(End::EndTurn));
        assert!(requests(&rest).is_empty(), "nothing is asked twice");
        let view = stage.view(id).await;
        assert_whole(&view);
        assert_eq!(results(&view).len(), 2);
        assert_eq!(stage.file("a.txt").exists(), !stage.file("b.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remembered_answers_hold_for_delegates() {
    let script = r#"
        [[reply]]
        when = { system = "You are Boss", last_user = "write" }
        say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
        [[reply]]
        when = { system = "You are Worker", last_user = "write" }
        say = [{ tool = "write_file", input = { path = "b.txt", content = "B" } }]
        [[reply]]
        when = { system = "You are Boss", last_user = "give" }
        say = [{ tool = "delegate", input = { persona = "worker", task = "write it" } }]
        [[reply]]
        text = "Done."
    "#;
    on_stage(script, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        let always = Decision { approved: true, reason: None, remember: true };
        stage.runtime.decide(id, &asked[0].1, always).await.unwrap();
        to_the_end(events).await;
        let events = stage.say(id, "give it away").await;
        assert_eq!((end(&events), requests(&events)), (Some(End::EndTurn), vec![]));
        assert!(stage.file("b.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_session_cancels_what_works_for_it() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        for (said, waits) in [("slowly", false), ("write it", true), ("deep", true)] {
            let id = stage.session_of("boss", Mode::Build).await;
            let mut events = stage.runtime.send(id, said.to_owned(), Default::default()).await.unwrap();
            if waits {
                hear(&mut events, "approval_request", 1).await;
            } else {
                hear(&mut events, "tool_call", 1).await;
                while stage.model.open_streams() == 0 {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            }
            assert!(stage.runtime.cancel(id).await.unwrap());
            let rest = to_the_end(events).await;
            assert_eq!(end(&rest), Some(End::Cancelled));
            let mut lowest = id;
            while let Some(child) = below(stage, lowest).await.pop() {
                let view = stage.view(child.id).await;
                assert_eq!(view.session.status, SessionStatus::Idle, "{said}");
                assert_whole(&view);
                assert!(stage.runtime.session(child.id).await.unwrap().approvals.is_empty());
                lowest = child.id;
            }
            assert_ne!(lowest, id);
            assert_whole(&stage.view(id).await);
            assert!(!stage.file("a.txt").exists());
        }
    })
    .await;
}

/// A waiting session lists its open requests, those of delegates included.
#[tokio::test(flavor = "multi_thread")]
async fn a_delegates_request_is_among_the_approvals_above() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "deep".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        let view = stage.view(id).await;
        assert_eq!(view.session.status, SessionStatus::Waiting);
        let found: Vec<_> =
            view.approvals.iter().map(|found| (found.session, found.call.id.clone())).collect();
        assert_eq!(found, asked);
        assert_eq!(view.approvals[0].call.name, "write_file");
        assert_ne!(found[0].0, id);
        stage.runtime.decide(found[0].0, &found[0].1, approved()).await.unwrap();
        assert_eq!(end(&to_the_end(events).await), Some(End::EndTurn));
        assert_eq!(stage.view(id).await.approvals, []);
        assert!(stage.file("a.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegates_failure_is_reported() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        assert_eq!(end(&stage.say(id, "break").await), Some(End::EndTurn));
        let (said, is_error) = results(&stage.view(id).await).remove(0);
        assert!(is_error && said.contains("was not finished (failed: ") && said.contains("401"), "{said}");
    })
    .await;
}

/// A parent resumes when its delegate is cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_delegate_has_the_one_above_go_on() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        assert!(stage.runtime.cancel(asked[0].0).await.unwrap());
        let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.expect("it goes on");
        assert_eq!(end(&rest), Some(End::EndTurn));
        let (said, is_error) = results(&stage.view(id).await).remove(0);
        assert!(is_error && said.contains("was not finished (cancelled)"), "{said}");
    })
    .await;
}

/// A delegate that was approved and works while what is above it only waits is cancelled as well.
#[tokio::test(flavor = "multi_thread")]
async fn cancelling_reaches_a_delegate_that_went_on_by_itself() {
    let script = r#"
        [[reply]]
        when = { system = "You are Worker", tool_result_of = "write_file" }
        text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        pace_ms = 300
        [[reply]]
        when = { system = "You are Worker" }
        say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
        [[reply]]
        when = { system = "You are Boss", last_user = "go" }
        say = [{ tool = "delegate", input = { persona = "worker", task = "write it" } }]
    "#;
    on_stage(script, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "go".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        let mut theirs = stage.runtime.events(asked[0].0, None).await.unwrap();
        stage.runtime.decide(asked[0].0, &asked[0].1, approved()).await.unwrap();
        hear(&mut theirs, "text_delta", 1).await;
        assert!(stage.runtime.cancel(id).await.unwrap());
        assert_eq!(end(&to_the_end(events).await), Some(End::Cancelled));
        let heard = hear(&mut theirs, "done", 1).await;
        assert_eq!(heard.last(), Some(&Event::Done { stop_reason: End::Cancelled }));
        assert_whole(&stage.view(id).await);
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Idle);
    })
    .await;
}

/// Switching the session above to planning reaches a delegate that waits for permission.
#[tokio::test(flavor = "multi_thread")]
async fn a_switch_above_reaches_a_delegate() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        let mut events = stage.runtime.send(id, "write it".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        // One process switches, another goes on.
        let other = stage.restarted().await;
        other.set_mode(id, Mode::Plan).await.unwrap();
        stage.runtime.decide(asked[0].0, &asked[0].1, approved()).await.unwrap();
        to_the_end(events).await;
        let (told, is_error) = results(&stage.view(asked[0].0).await).remove(0);
        assert!(is_error && told.contains("plan mode"), "{told}");
        assert!(!stage.file("a.txt").exists());
    })
    .await;
}

/// The attack: a delegate that is done gets a message of its own while the session above it plans.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_delegate_does_not_escape_the_plan_above_it() {
    on_stage(SCRIPT, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        stage.say(id, "what is new?").await;
        let child = below(stage, id).await.remove(0);
        assert_eq!(child.status, SessionStatus::Idle);
        stage.runtime.set_mode(id, Mode::Plan).await.unwrap();
        assert_eq!(stage.view(child.id).await.session.mode, Mode::Plan, "the view shows the mode that holds");
        for runtime in [stage.runtime.clone(), stage.restarted().await] {
            // A viewer that was there before must not hide the session above.
            let watching = runtime.events(child.id, None).await.unwrap();
            let options = SendOptions { policy: ApprovalPolicy::All, ..Default::default() };
            to_the_end(runtime.send(child.id, "write it".to_owned(), options).await.unwrap()).await;
            drop(watching);
            let sent = stage.sent().pop().unwrap();
            assert!(!offered(&sent).contains(&"write_file"), "{:?}", offered(&sent));
            assert_eq!(refusals(&stage.view(child.id).await).pop(), Some(Some(Refusal::PlanMode)));
            assert!(!stage.file("a.txt").exists());
            runtime.stop().await;
        }
    })
    .await;
}

/// The attack across processes: one switches the top session while another runs a delegate two below.
/// The session in between is idle, so the switch does not reach the delegate's own row.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_looks_up_the_modes_above_when_it_begins() {
    let script = r#"
        [[reply]]
        when = { system = "You are Worker", last_user = "slowly" }
        say = [{ text = "one two three" }, { tool = "write_file", input = { path = "a.txt", content = "A" } }]
        pace_ms = 300
        [[reply]]
        when = { system = "You are Worker" }
        text = "Done."
        [[reply]]
        when = { tool_result_of = "delegate" }
        text = "Passed on."
        [[reply]]
        when = { system = "You are Boss" }
        say = [{ tool = "delegate", input = { persona = "middle", task = "hand it on" } }]
        [[reply]]
        say = [{ tool = "delegate", input = { persona = "worker", task = "nothing" } }]
    "#;
    on_stage(script, async |stage| {
        cast(stage, json!({})).await;
        let id = stage.session_of("boss", Mode::Build).await;
        stage.say(id, "go").await;
        let middle = below(stage, id).await.remove(0);
        let worker = below(stage, middle.id).await.remove(0);
        let other = stage.restarted().await;
        let options = SendOptions { policy: ApprovalPolicy::All, ..Default::default() };
        let mut events = stage.runtime.send(worker.id, "slowly".to_owned(), options).await.unwrap();
        hear(&mut events, "text_delta", 1).await;
        other.set_mode(id, Mode::Plan).await.unwrap();
        to_the_end(events).await;
        assert_eq!(refusals(&stage.view(worker.id).await), [Some(Refusal::PlanMode)]);
        assert!(!stage.file("a.txt").exists());
        other.stop().await;
    })
    .await;
}
