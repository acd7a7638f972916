//! Caps are caps: no call is made that could exceed one.

use app::testing::RunOutcome;
use serde_json::{Value, json};

use super::{SCRIPT, calls, project, shown, tested};
use crate::running::stage::{Stage, on_stage_with};

const READER: &str = "[personas.eve]\nsystem_prompt = 'You are Eve.'\ntest_inputs = ['reads']\n\
                      preferred_models = [{ provider = 'stage', model = 'actor' }]\n\
                      [test_inputs.reads]\ncontent = 'read'\nexpectations = [{ calls = ['read_file'] }]\n";

/// The number of requests, the calls that the report counts, and its outcome.
async fn spent(stage: &Stage<'_>, fields: Value) -> (usize, u64, RunOutcome) {
    let before = stage.sent().len();
    let report = tested(stage, fields).await;
    (stage.sent().len() - before, report.spent.calls, report.outcome())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_tool_round_counts() {
    on_stage_with(READER, SCRIPT, async |stage| {
        let capped = spent(stage, json!({ "max_calls": 1 })).await;
        assert_eq!(capped, (1, 1, RunOutcome::Unfinished));
        assert_eq!(spent(stage, json!({ "max_calls": 2 })).await, (2, 2, RunOutcome::Passed));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_fail_and_calls_that_are_tried_again_count() {
    let faults = r#"
        [[reply]]
        when = { last_user = "refused" }
        fault = { status = 400 }
        [[reply]]
        when = { last_user = "down" }
        fault = { status = 503 }
    "#;
    let toml = |content: &str| project("{ words = { min = 1 } }").replace("'hi'", &format!("'{content}'"));
    on_stage_with(&toml("refused"), faults, async |stage| {
        assert_eq!(spent(stage, json!({})).await, (1, 1, RunOutcome::Failed));
        // Errors are not kept: the next test asks again.
        let report = tested(stage, json!({})).await;
        assert_eq!((report.spent.calls, report.spent.tokens()), (1, 0));
    })
    .await;
    on_stage_with(&toml("down"), faults, async |stage| {
        assert_eq!(spent(stage, json!({})).await, (3, 3, RunOutcome::Failed));
        assert_eq!(spent(stage, json!({ "max_calls": 2 })).await, (2, 2, RunOutcome::Unfinished));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_is_asked_again_counts() {
    on_stage_with(&project("'Scores well.'"), SCRIPT, async |stage| {
        assert_eq!(spent(stage, json!({ "max_calls": 2 })).await, (2, 2, RunOutcome::Unfinished));
        // The reply is there already; the judge is asked twice.
        assert_eq!(spent(stage, json!({ "max_calls": 2 })).await, (2, 2, RunOutcome::Failed));
        assert_eq!(calls(stage), (1, 3));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_reserved_before_a_call() {
    on_stage_with(&project("{ words = { min = 1 } }"), SCRIPT, async |stage| {
        let none = tested(stage, json!({ "fresh": true, "samples": 8, "max_tokens": 1 })).await;
        assert_eq!((stage.sent().len(), none.spent.calls, none.outcome()), (0, 0, RunOutcome::Unfinished));
        assert_eq!(serde_json::to_value(none.reached).unwrap(), "max_tokens");
        assert!(none.cells.iter().all(|cell| cell.error.as_deref() == Some("max_tokens is reached")));
        // Room for three expected replies at a time, and for all eight as they are: calls wait for others.
        let most = 1_100;
        let all = tested(stage, json!({ "fresh": true, "samples": 8, "max_tokens": most })).await;
        assert_eq!(shown(&all), vec!["passed 1.0 held"; 8]);
        assert!(all.spent.tokens() <= most, "{:?}", all.spent);
    })
    .await;
}
