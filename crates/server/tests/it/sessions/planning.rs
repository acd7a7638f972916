//! Plan mode: what the model is sent, what it cannot do, and what becomes of a plan.

use serde_json::json;

use super::world::{World, offered, system};
use crate::client::{names, only, redacted, stop_reason};

const PLAN: &str = r##"
[[reply]]
when = { last_user = "finish" }
say = [{ tool = "plan_exit", id = "toolu_p", input = { plan = "# Plan\n\n1. Look.\n2. Leap.\n" } }]
[[reply]]
when = { tool_result_of = "write_file" }
text = "I see."
[[reply]]
when = { last_user = "write" }
say = [{ tool = "write_file", id = "toolu_w", input = { path = "new.txt", content = "fresh" } }]
[[reply]]
text = "I plan."
"##;

#[tokio::test]
async fn the_guardrail_comes_first_and_write_tools_are_absent() {
    let world = World::start(PLAN).await;
    let instruction = "Draw before you build.";
    let plan_persona = json!({ "instruction": instruction });
    world
        .persona(json!({ "name": "architect", "system_prompt": "You draw.", "plan_persona": plan_persona }))
        .await;
    for (persona, own) in [("guide", "plan_exit"), ("architect", instruction)] {
        let session = world.session_with(&json!({ "persona": persona, "mode": "plan" })).await;
        assert_eq!(world.get(&session).await.1["mode"], "plan");
        world.hear(&session, "Think.").await;
        let sent = world.sent().pop().expect("a request");
        let system = system(&sent);
        let reminder = system.last().expect("system text");
        let lines: Vec<&str> = reminder.lines().collect();
        assert_eq!(lines[0], "<system-reminder>");
        assert!(lines[1].starts_with("Plan mode is on: only read-only tools"), "{reminder}");
        assert!(reminder.contains(own), "{persona}: {reminder}");
        let offered = offered(&sent);
        for absent in ["write_file", "edit_file", "run_command"] {
            assert!(!offered.contains(&absent), "{absent} is offered: {offered:?}");
        }
        assert!(offered.contains(&"read_file") && offered.contains(&"plan_exit"), "{offered:?}");
        // The reminder is never kept.
        let (_, view) = world.get(&session).await;
        assert!(!view.to_string().contains("system-reminder"), "{view}");
    }
}

#[tokio::test]
async fn a_call_to_a_hidden_tool_is_an_error_for_the_model() {
    let world = World::start(PLAN).await;
    let session = world.session_with(&json!({ "persona": "guide", "mode": "plan" })).await;
    let events = world.hear(&session, "write it").await;
    assert_eq!(only(&events, "tool_result")["isError"], true);
    assert!(!names(&events).contains(&"approval_request"));
    assert_eq!(stop_reason(&events), "end_turn");
    assert!(!world.project_file("new.txt").exists());
}

const SLOW: &str = r#"
[[reply]]
when = { tool_result_of = "read_file" }
text = "Read."
[[reply]]
pace_ms = 20
say = [
  { text = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen." },
  { tool = "read_file", id = "toolu_1", input = { path = "notes.txt" } },
]
"#;

/// A switch in mid-run counts from the next call of the model.
#[tokio::test]
async fn a_switch_reaches_a_run_that_is_under_way() {
    let world = World::start(SLOW).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Go.").await;
    opened.until("text_delta").await;
    let (status, view) =
        world.ask("PATCH", &format!("{session}/mode"), Some(&json!({ "mode": "plan" }))).await;
    assert_eq!((status, &view["mode"], &view["status"]), (200, &json!("plan"), &json!("running")));
    let events = opened.rest().await;
    assert_eq!(only(&events, "mode_changed")["mode"], "plan");
    assert_eq!(stop_reason(&events), "end_turn");
    let sent = world.sent();
    assert_eq!(sent.len(), 2);
    assert!(offered(&sent[0]).contains(&"write_file") && !sent[0].to_string().contains("<system-reminder>"));
    assert!(!offered(&sent[1]).contains(&"write_file"));
    assert!(system(&sent[1]).last().expect("system text").starts_with("<system-reminder>\nPlan mode is on"));
    assert_eq!(world.get(&session).await.1["mode"], "plan");
}

#[tokio::test]
async fn a_plan_is_kept_shown_and_approved() {
    let world = World::start(PLAN).await;
    let session = world.session_with(&json!({ "persona": "guide", "mode": "plan" })).await;
    let path = format!("{session}/plan");
    let (status, problem) = world.get(&path).await;
    assert_eq!((status, &problem["code"]), (404, &json!("no_plan")), "{problem}");
    assert_eq!(problem["remedies"], json!([{ "action": "ask_for_plan" }]));
    let (status, _) = world.post(&path, &json!({ "decision": "approve" })).await;
    assert_eq!(status, 404);
    let events = world.hear(&session, "finish the plan").await;
    insta::assert_snapshot!("plan_exit", redacted(&events));
    let opened = world.open("GET", &path, None).await;
    assert_eq!(opened.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(opened.text().await, "# Plan\n\n1. Look.\n2. Leap.\n");
    let (_, view) = world.get(&session).await;
    assert_eq!((&view["mode"], &view["plan"]["status"]), (&json!("plan"), &json!("proposed")));
    let hash = view["plan"]["hash"].clone();
    let (status, problem) = world.post(&path, &json!({ "decision": "approve" })).await;
    assert!(status == 400 && problem.to_string().contains("hash"), "an approval names the plan: {problem}");
    let approve = json!({ "decision": "approve", "hash": hash });
    let (status, view) = world.post(&path, &json!({ "decision": "send_back" })).await;
    assert_eq!((status, &view["mode"], &view["plan"]["status"]), (200, &json!("plan"), &json!("sent_back")));
    let (status, problem) = world.post(&path, &json!({ "decision": "burn" })).await;
    assert_eq!((status, &problem["code"]), (400, &json!("unknown_word")), "{problem}");
    assert!(problem["candidates"].to_string().contains("send_back"), "{problem}");
    assert_eq!(world.post(&path, &approve).await.0, 409, "it was sent back");
    world.hear(&session, "finish the plan").await;
    let wrong = json!({ "decision": "approve", "hash": "sha256:00000000" });
    assert_eq!(world.post(&path, &wrong).await.0, 409, "it is another plan");
    let (status, view) = world.post(&path, &approve).await;
    assert_eq!((status, &view["mode"], &view["plan"]["status"]), (200, &json!("build"), &json!("approved")));
    world.hear(&session, "Go on.").await;
    assert!(offered(&world.sent().pop().expect("a request")).contains(&"write_file"));
}
