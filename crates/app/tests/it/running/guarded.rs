//! Files that the user is asked about whatever else was granted.

use agent::{Mode, Refusal};
use app::running::{ApprovalPolicy, Decision, SendOptions};
use serde_json::json;

use super::presets::equip;
use super::stage::{hear, on_stage, refusals, requests, results, to_the_end};

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."
[[reply]]
when = { tool_result_of = "read_file" }
text = "Read."
[[reply]]
when = { last_user = "read" }
say = [{ tool = "read_file", input = { path = ".env" } }]
[[reply]]
when = { last_user = "note" }
say = [{ tool = "write_file", input = { path = "note.txt", content = "x" } }]
[[reply]]
say = [{ tool = "write_file", input = { path = "personas.toml", content = "[mcp_servers.evil]" } }]
"#;

/// The attack: a persona whose preset approves everything rewrites the file that defines it.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_to_personas_toml_asks_whatever_was_granted() {
    on_stage(SCRIPT, async |stage| {
        equip(stage, json!([{ "name": "*", "approval": "auto" }])).await;
        let id = stage.session_of("worker", Mode::Build).await;
        stage.say_with(id, "note", ApprovalPolicy::Refuse).await;
        assert!(stage.file("note.txt").exists(), "the preset approves other files");
        // There is no user: it is refused.
        stage.say_with(id, "go", ApprovalPolicy::Refuse).await;
        assert_eq!(refusals(&stage.view(id).await), [None, Some(Refusal::NobodyToAsk)]);
        assert!(!stage.file("personas.toml").exists());
        // An earlier answer for the tool does not cover it, nor does a policy.
        let options = SendOptions { policy: ApprovalPolicy::All, ..SendOptions::default() };
        let mut events = stage.runtime.send(id, "go".to_owned(), options).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        let preview = stage.runtime.preview(id, &stage.view(id).await.approvals[0].call).await.unwrap();
        assert_eq!(preview.concerns.len(), 1);
        assert!(!stage.file("personas.toml").exists());
        let always = Decision { approved: true, reason: None, remember: true };
        stage.runtime.decide(id, &asked[0].1, always).await.unwrap();
        to_the_end(events).await;
        assert!(stage.file("personas.toml").exists(), "the user said yes to this very call");
        std::fs::remove_file(stage.file("personas.toml")).unwrap();
        let mut events = stage.runtime.send(id, "go".to_owned(), options).await.unwrap();
        hear(&mut events, "approval_request", 1).await;
        stage.runtime.cancel(id).await.unwrap();
        to_the_end(events).await;
        assert!(!stage.file("personas.toml").exists(), "always means other files");
    })
    .await;
}

/// The attack: a file with keys is read unasked, in plan mode too.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_asks_in_every_mode() {
    on_stage(SCRIPT, async |stage| {
        std::fs::write(stage.file(".env"), "TOKEN=hunter2\n").unwrap();
        for mode in [Mode::Plan, Mode::Build] {
            let id = stage.session(mode).await;
            stage.say_with(id, "read", ApprovalPolicy::Read).await;
            let view = stage.view(id).await;
            assert_eq!(refusals(&view), [Some(Refusal::NobodyToAsk)], "{mode}");
            assert!(!results(&view)[0].0.contains("hunter2"));
            let mut events = stage.runtime.send(id, "read".to_owned(), Default::default()).await.unwrap();
            let asked = requests(&hear(&mut events, "approval_request", 1).await);
            stage.runtime.decide(id, &asked[0].1, super::stage::approved()).await.unwrap();
            to_the_end(events).await;
            assert!(results(&stage.view(id).await)[1].0.contains("hunter2"), "{mode}");
        }
    })
    .await;
}
