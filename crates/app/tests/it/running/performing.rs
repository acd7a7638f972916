//! Runs without a session: nothing is stored.

use std::sync::Arc;

use agent::{Annotations, End, Mode, Note, Refusal, Schema, SelectionReason, Tool, TurnBody};
use app::running::{ApprovalPolicy, Performance, Performed};
use futures::future::BoxFuture;
use serde_json::json;
use tools::{FixedTools, Handler, Invocation, Outcome, Registered};

use super::stage::{Stage, offered, on_stage};
use crate::world::{name, refused};

const GAME: &str = r#"
[[reply]]
when = { tool_result_of = "roll" }
text = "I rolled: {{tool_result}}"
[[reply]]
when = { last_user = "roll" }
say = [{ text = "Here goes." }, { tool = "roll", input = { sides = 6 } }]
[[reply]]
when = { last_user = "wait" }
say = [{ tool = "ponder" }]
[[reply]]
when = { last_user = "slowly" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
pace_ms = 200
[[reply]]
when = { last_user = "plan" }
say = [{ tool = "plan_exit", input = { plan = "1. Win" } }]
[[reply]]
text = "Hello."
"#;

/// A game's tools: `roll` acts, `ponder` never ends.
#[derive(Debug)]
struct Game;

impl Handler for Game {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            if invocation.call.name == "ponder" {
                std::future::pending::<()>().await;
            }
            Outcome { events: vec![json!({ "die": 4 })], ..Outcome::text("4") }
        })
    }
}

fn game() -> Arc<FixedTools> {
    let tool = |name: &str, read_only_hint| {
        let tool = Tool {
            name: name.to_owned(),
            set: "game",
            description: "A game's.".to_owned(),
            input_schema: Schema::new(json!({ "type": "object" })),
            annotations: Annotations { read_only_hint, ..Annotations::default() },
        };
        Registered::new(tool, Arc::new(Game))
    };
    Arc::new(FixedTools(vec![tool("roll", false), tool("ponder", true)]))
}

fn performance(message: &str) -> Performance {
    Performance { sources: vec![game()], ..Performance::new(name("ada"), message) }
}

fn turns(performed: &Performed) -> String {
    let types = performed.turns.iter().map(|turn| serde_json::to_value(turn).unwrap()["type"].clone());
    types.map(|kind| kind.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
}

/// Nothing of it is stored.
async fn assert_no_sessions(stage: &Stage<'_>) {
    assert!(stage.runtime.sessions(Default::default()).await.unwrap().items.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_and_then_another_with_the_history() {
    on_stage(GAME, async |stage| {
        let first = stage.runtime.perform(performance("hi")).await.unwrap();
        assert_eq!((first.end, first.text()), (End::EndTurn, Some("Hello.")));
        assert_eq!(turns(&first), "user assistant_text");
        assert!(first.usage().output_tokens > 0);
        let next = Performance { history: first.turns, ..performance("again") };
        let next = stage.runtime.perform(next).await.unwrap();
        assert_eq!(turns(&next), "user assistant_text");
        let sent = stage.sent().pop().unwrap();
        // System text, hi, Hello., again.
        assert_eq!(sent["messages"].as_array().unwrap().len(), 4);
        assert_eq!(offered(&sent), ["ponder", "roll"]);
        assert_no_sessions(stage).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_source_run_by_the_policy_and_their_events_are_noted() {
    on_stage(GAME, async |stage| {
        for policy in ApprovalPolicy::ALL {
            let performed =
                stage.runtime.perform(Performance { policy: *policy, ..performance("roll") }).await.unwrap();
            assert_eq!(performed.end, End::EndTurn, "{policy}");
            assert_eq!(turns(&performed), "user assistant_text tool_call tool_result assistant_text");
            let event = performed.notes.iter().find_map(|note| match note {
                Note::ToolEvent { event, .. } => Some(event.clone()),
                _ => None,
            });
            let refusal = performed.turns.iter().find_map(|turn| match &turn.body {
                TurnBody::ToolResult { refusal, .. } => Some(*refusal),
                _ => None,
            });
            match policy {
                ApprovalPolicy::All | ApprovalPolicy::AllUnattended => {
                    assert_eq!((event, refusal), (Some(json!({ "die": 4 })), Some(None)));
                    assert_eq!(performed.text(), Some("I rolled: 4"));
                }
                _ => assert_eq!((event, refusal), (None, Some(Some(Refusal::NobodyToAsk))), "{policy}"),
            }
        }
        assert_no_sessions(stage).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_performance_keeps_its_text() {
    on_stage(GAME, async |stage| {
        for (message, expected) in [("slowly", "user assistant_text"), ("wait", "user tool_call tool_result")]
        {
            let performance = performance(message);
            let cancel = performance.cancel.clone();
            let performing = stage.runtime.perform(performance);
            let cancelling = async {
                tokio::time::sleep(std::time::Duration::from_millis(700)).await;
                cancel.cancel();
            };
            let (performed, ()) = futures::future::join(performing, cancelling).await;
            let performed = performed.unwrap();
            assert_eq!(performed.end, End::Cancelled);
            assert_eq!(turns(&performed), expected);
        }
        assert_no_sessions(stage).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_process_cancels_a_performance() {
    on_stage(GAME, async |stage| {
        let runtime = stage.restarted().await;
        let performing = runtime.perform(performance("wait"));
        let stopping = async {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            runtime.stop().await;
        };
        let (performed, ()) = futures::future::join(performing, stopping).await;
        assert_eq!(performed.unwrap().end, End::Cancelled);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_model_is_escalated_and_its_text_taken_back() {
    let script = r#"
        [[reply]]
        when = { model = "weak" }
        text = "I begin and then"
        fault = { cut_after = 2 }
        [[reply]]
        text = "Strong."
    "#;
    on_stage(script, async |stage| {
        let models =
            json!([{ "provider": "stage", "model": "weak" }, { "provider": "stage", "model": "strong" }]);
        stage
            .world
            .persona(
                persona::Scope::Shared,
                json!({ "name": "eve", "system_prompt": "You are Eve.", "preferred_models": models }),
            )
            .await;
        let performed = stage.runtime.perform(Performance::new(name("eve"), "hi")).await.unwrap();
        assert_eq!((performed.end, performed.text()), (End::EndTurn, Some("Strong.")));
        assert_eq!(turns(&performed), "user assistant_text");
        let selected: Vec<_> = performed
            .notes
            .iter()
            .filter_map(|note| match note {
                Note::ModelSelected { model, reason } => Some((model.model.as_str(), *reason)),
                _ => None,
            })
            .collect();
        let expected = [("weak", SelectionReason::Preferred), ("strong", SelectionReason::Escalated)];
        assert_eq!(selected, expected);
        assert_no_sessions(stage).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_handed_over() {
    on_stage(GAME, async |stage| {
        let planning = Performance { mode: Mode::Plan, ..performance("plan") };
        let performed = stage.runtime.perform(planning).await.unwrap();
        assert_eq!((performed.end, performed.plan()), (End::EndTurn, Some("1. Win")));
        // Tools that act are hidden.
        assert_eq!(offered(&stage.sent()[0]), ["ponder", "plan_exit"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_performance_that_cannot_begin_is_an_error() {
    on_stage(GAME, async |stage| {
        let unknown = stage.runtime.perform(Performance::new(name("unknown"), "hi")).await;
        assert_eq!(refused(unknown).code, app::Code::NotFound);
        let silent = stage.runtime.perform(Performance::new(name("ada"), " ")).await;
        assert_eq!(refused(silent).code, app::Code::Empty);
    })
    .await;
}
