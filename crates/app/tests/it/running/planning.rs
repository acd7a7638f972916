//! Plan mode: its reminder, its tools, and its end.

mod sequences;

use std::sync::Arc;

use agent::{End, Event, GUARDRAIL, Mode, PlanStatus, Refusal, SelectionReason, plan_reminder};
use app::Code;
use app::running::ApprovalPolicy;
use persona::Scope;
use serde_json::json;

use super::stage::{
    PATIENCE, approved, assert_whole, end, hear, names, offered, on_stage, on_stage_with, refusals, requests,
    results, system, to_the_end, turns,
};
use crate::world::{input, refused};

const SILENT: &str = "[[reply]]\ntext = \"Yes.\"";

#[tokio::test(flavor = "multi_thread")]
async fn the_guardrail_comes_first_and_a_blank_instruction_falls_back() {
    on_stage(SILENT, async |stage| {
        let own = "You plan. You do not execute.";
        for (name, plan, expected) in [
            ("none", json!(null), None),
            ("blank", json!({ "instruction": "  \n " }), None),
            ("empty", json!({}), None),
            ("own", json!({ "instruction": format!("  {own}\n") }), Some(own)),
        ] {
            let persona = json!({
                "name": name, "system_prompt": "You are somebody.", "plan_persona": plan,
                "preferred_models": [{ "provider": "stage", "model": "actor" }],
            });
            stage.world.persona(Scope::Shared, persona).await;
            let id = stage.session_of(name, Mode::Plan).await;
            stage.say(id, "hello").await;
            let sent = stage.sent().pop().unwrap();
            let reminder = plan_reminder(expected);
            assert!(reminder.starts_with(&format!("<system-reminder>\n{GUARDRAIL}\n")));
            // Last of all system text.
            assert_eq!(system(&sent), format!("You are somebody.\n\n\n{reminder}"), "{name}");
            // And nowhere else, neither now nor later.
            let view = serde_json::to_string(&stage.view(id).await).unwrap();
            assert!(!view.contains("system-reminder"), "{view}");
            stage.runtime.set_mode(id, Mode::Build).await.unwrap();
            stage.say(id, "hello").await;
            let later = stage.sent().pop().unwrap().to_string();
            assert!(!later.contains("system-reminder"), "{later}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_persona_of_a_file_from_end_to_end() {
    let project = r#"
        [personas.architect]
        system_prompt = "You build."
        preferred_models = [{ provider = "stage", model = "actor" }]
        [personas.architect.plan_persona]
        instruction = "Plan for the team ${env.TEAM}."
        model = "stage/thinker"
        tool_preset = "scout"
        [tool_presets.scout]
        categories.look = ["list_files"]
    "#
    .replace("[\"list_files\"]", "[{ name = \"list_files\" }]");
    on_stage_with(&project, SILENT, async |stage| {
        let runtime = stage
            .restarted_with(|options| {
                options.env_allow = ["TEAM".to_owned()].into();
                options.environment = Arc::new(|name| (name == "TEAM").then(|| "blue".to_owned()));
            })
            .await;
        let create = input(json!({ "persona": "architect", "mode": "plan" }));
        let id = runtime.create_session(create).await.unwrap().session.id;
        let events =
            to_the_end(runtime.send(id, "hello".to_owned(), Default::default()).await.unwrap()).await;
        let sent = stage.sent().pop().unwrap();
        let reminder = plan_reminder(Some("Plan for the team blue."));
        assert_eq!(system(&sent), format!("You build.\n\n\n{reminder}"));
        assert_eq!(sent["model"], "thinker");
        assert_eq!(offered(&sent), ["list_files", "plan_exit"]);
        let chosen = events.iter().find_map(|event| match event {
            Event::ModelSelected { model, reason, .. } => Some((model.clone(), *reason)),
            _ => None,
        });
        assert_eq!(chosen, Some(("thinker".to_owned(), SelectionReason::Plan)));
        runtime.set_mode(id, Mode::Build).await.unwrap();
        to_the_end(runtime.send(id, "hello".to_owned(), Default::default()).await.unwrap()).await;
        let sent = stage.sent().pop().unwrap();
        assert_eq!((system(&sent), &sent["model"]), ("You build.\n", &json!("actor")));
    })
    .await;
}

const WRITES: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Result: {{tool_result}}"
[[reply]]
when = { last_user = "both" }
say = [
    { tool = "run_command", input = { command = "touch began && sleep 1" } },
    { tool = "write_file", input = { path = "a.txt", content = "A" } },
]
[[reply]]
when = { last_user = "slowly" }
say = [
    { text = "one two three four five six seven eight" },
    { tool = "write_file", input = { path = "a.txt", content = "A" } },
]
pace_ms = 100
[[reply]]
say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn only_tools_that_read_are_there_and_a_hidden_one_is_an_error() {
    on_stage(WRITES, async |stage| {
        let id = stage.session(Mode::Plan).await;
        let events = stage.say_with(id, "write", ApprovalPolicy::All).await;
        assert_eq!(end(&events), Some(End::EndTurn));
        let sent = stage.sent();
        let names = offered(&sent[0]);
        assert_eq!(names, ["list_files", "read_file", "search_files", "delegate", "plan_exit"]);
        assert_eq!(refusals(&stage.view(id).await), [Some(Refusal::PlanMode)]);
        assert!(!stage.file("a.txt").exists());
        // In build mode the plan's way out is what is hidden.
        let id = stage.session(Mode::Build).await;
        stage.say_with(id, "write", ApprovalPolicy::All).await;
        let sent = stage.sent().pop().unwrap();
        assert!(offered(&sent).contains(&"write_file") && !offered(&sent).contains(&"plan_exit"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_in_the_middle_of_a_reply_holds_for_what_has_not_begun() {
    on_stage(WRITES, async |stage| {
        for elsewhere in [false, true] {
            let id = stage.session(Mode::Build).await;
            let options = app::running::SendOptions { policy: ApprovalPolicy::All, ..Default::default() };
            let mut events = stage.runtime.send(id, "slowly".to_owned(), options).await.unwrap();
            hear(&mut events, "text_delta", 1).await;
            let switcher = if elsewhere { stage.restarted().await } else { stage.runtime.clone() };
            let view = switcher.set_mode(id, Mode::Plan).await.unwrap();
            assert_eq!(view.session.mode, Mode::Plan);
            let rest = to_the_end(events).await;
            // The viewer hears of the switch, wherever it was made, and in its place.
            assert!(names(&rest).contains("mode_changed"), "{}", names(&rest));
            assert_eq!(end(&rest), Some(End::EndTurn));
            assert_eq!(refusals(&stage.view(id).await), [Some(Refusal::PlanMode)]);
            assert!(!stage.file("a.txt").exists());
            let sent = stage.sent();
            let [first, next] = &sent[sent.len() - 2..] else { panic!("two calls") };
            assert!(offered(first).contains(&"write_file") && !system(first).contains("system-reminder"));
            assert!(!offered(next).contains(&"write_file") && system(next).contains("system-reminder"));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_between_two_tools_of_a_reply_holds_for_the_second() {
    on_stage(WRITES, async |stage| {
        let id = stage.session(Mode::Build).await;
        let options = app::running::SendOptions { policy: ApprovalPolicy::All, ..Default::default() };
        let events = stage.runtime.send(id, "both".to_owned(), options).await.unwrap();
        while !stage.file("began").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        stage.runtime.set_mode(id, Mode::Plan).await.unwrap();
        assert_eq!(end(&to_the_end(events).await), Some(End::EndTurn));
        // The tool that had begun runs to its end.
        assert_eq!(refusals(&stage.view(id).await), [None, Some(Refusal::PlanMode)]);
        assert!(!stage.file("a.txt").exists());
    })
    .await;
}

const PLANS: &str = r##"
[[reply]]
when = { mode = "plan" }
say = [{ text = "Here it is." }, { tool = "plan_exit", input = { plan = "# Plan\n1. Write a.txt" } }]
[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."
[[reply]]
when = { mode = "build" }
say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
"##;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_handed_over_and_only_the_user_goes_on_to_build() {
    on_stage(PLANS, async |stage| {
        let id = stage.session(Mode::Plan).await;
        assert_eq!(refused(stage.runtime.approve_plan(id, "12345678").await).code, Code::NoPlan);
        let events = stage.say_with(id, "plan it", ApprovalPolicy::All).await;
        assert!(
            names(&events).ends_with("tool_call usage tool_result plan_ready done"),
            "{}",
            names(&events)
        );
        assert_eq!(end(&events), Some(End::EndTurn));
        assert_eq!(stage.sent().len(), 1, "the run ends with the plan");
        let view = stage.view(id).await;
        assert_eq!(turns(&view), "user assistant_text tool_call tool_result");
        let plan = view.session.plan.unwrap();
        assert_eq!((plan.content.as_str(), plan.status), ("# Plan\n1. Write a.txt", PlanStatus::Proposed));
        assert_eq!(view.session.mode, Mode::Plan, "a plan is not permission");

        let hash = plan.hash();
        let view = stage.runtime.send_plan_back(id).await.unwrap();
        assert_eq!(view.session.plan.unwrap().status, PlanStatus::SentBack);
        assert_eq!(view.session.mode, Mode::Plan);
        stage.say_with(id, "once more", ApprovalPolicy::All).await;
        assert!(!stage.file("a.txt").exists());
        assert_eq!(stage.view(id).await.session.plan.unwrap().status, PlanStatus::Proposed);

        let view = stage.runtime.approve_plan(id, &hash).await.unwrap();
        assert_eq!(view.session.plan.unwrap().status, PlanStatus::Approved);
        assert_eq!(view.session.mode, Mode::Build);
        stage.say_with(id, "go", ApprovalPolicy::All).await;
        assert!(stage.file("a.txt").exists());

        // An approved plan that is sent back is none: the session plans again, on every front.
        let back = json!({ "id": id, "decision": "send_back" });
        let view = stage.runtime.decide_plan(input(back)).await.unwrap();
        assert_eq!(view.session.plan.unwrap().status, PlanStatus::SentBack);
        assert_eq!(view.session.mode, Mode::Plan);
        assert_eq!(stage.view(id).await.session.mode, Mode::Plan);
        let report =
            refused(stage.runtime.decide_plan(input(json!({ "id": id, "decision": "approve" }))).await);
        assert_eq!((report.code, report.subject.field.as_deref()), (Code::MissingField, Some("hash")));
        assert_eq!(report.remedies, [app::Remedy::ReadPlan { session: id.to_string() }]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_plan_is_reported_to_the_model() {
    let script = r#"
        [[reply]]
        when = { tool_result_of = "plan_exit" }
        text = "I see."
        [[reply]]
        when = { last_user = "empty" }
        say = [{ tool = "plan_exit", input = { plan = " " } }]
        [[reply]]
        say = [{ tool = "plan_exit", input = {} }]
    "#;
    on_stage(script, async |stage| {
        for said in ["empty", "missing"] {
            let id = stage.session(Mode::Plan).await;
            stage.say(id, said).await;
            let view = stage.view(id).await;
            assert!(results(&view)[0].1 && view.session.plan.is_none(), "{:?}", results(&view));
            assert_eq!(stage.sent().pop().unwrap()["messages"].as_array().unwrap().len(), 4);
        }
    })
    .await;
}

/// A plan ends its run even where the same reply asked for something that had to be allowed first.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_ends_its_run_after_a_wait_as_well() {
    let script = r##"
        [[reply]]
        when = { call = 1 }
        say = [
            { tool = "plan_exit", input = { plan = "# Plan" } },
            { tool = "read_file", input = { path = "notes.txt" } },
        ]
        [[reply]]
        text = "What else?"
    "##;
    on_stage(script, async |stage| {
        super::presets::equip(stage, json!([{ "name": "read_file", "approval": "ask" }])).await;
        let id = stage.session_of("worker", Mode::Plan).await;
        let mut events = stage.runtime.send(id, "plan".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        assert_eq!(stage.view(id).await.session.plan.unwrap().content, "# Plan");
        stage.runtime.decide(id, &asked[0].1, approved()).await.unwrap();
        let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
        assert_eq!(names(&rest), "approval_answered tool_result done");
        assert_eq!(end(&rest), Some(End::EndTurn));
        assert_eq!(stage.sent().len(), 1, "the model has nothing more to say");
        let view = stage.view(id).await;
        assert_whole(&view);
        assert_eq!(turns(&view), "user tool_call tool_call tool_result tool_result");
    })
    .await;
}

/// The attacks: an approval that was given to another plan, twice, or to a plan that was sent back.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_counts_once_and_for_the_plan_that_was_seen() {
    let script = r##"
        [[reply]]
        when = { last_user = "other" }
        say = [{ tool = "plan_exit", input = { plan = "# Delete everything" } }]
        [[reply]]
        say = [{ tool = "plan_exit", input = { plan = "# Look around" } }]
    "##;
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Plan).await;
        let plan = async || stage.view(id).await.session.plan.unwrap();
        let mode = async || stage.view(id).await.session.mode;
        stage.say(id, "plan").await;
        let seen = plan().await.hash();
        stage.say(id, "other").await;
        let report = refused(stage.runtime.approve_plan(id, &seen).await);
        assert_eq!(report.code, Code::PlanChanged);
        assert_eq!(report.remedies, [app::Remedy::ReadPlan { session: id.to_string() }]);
        assert_eq!((mode().await, plan().await.status), (Mode::Plan, PlanStatus::Proposed));
        stage.runtime.send_plan_back(id).await.unwrap();
        let seen = plan().await.hash();
        assert_eq!(refused(stage.runtime.approve_plan(id, &seen).await).code, Code::AlreadyDecided);
        assert_eq!(mode().await, Mode::Plan, "a plan that was sent back is not approved");
        stage.say(id, "plan").await;
        let seen = plan().await.hash();
        stage.runtime.approve_plan(id, &seen).await.unwrap();
        stage.runtime.set_mode(id, Mode::Plan).await.unwrap();
        assert_eq!(refused(stage.runtime.approve_plan(id, &seen).await).code, Code::AlreadyDecided);
        assert_eq!(mode().await, Mode::Plan, "an old approval does not leave plan mode again");
    })
    .await;
}
