//! How a judge is asked.

use app::RuntimeOptions;
use llm::{Price, Prices};
use serde_json::{Value, json};

use super::{SCRIPT, calls, project, shown, test, tested};
use crate::running::stage::{Stage, on_stage_with};

/// What the judge was sent.
fn judged(stage: &Stage<'_>) -> Vec<Value> {
    stage.sent().into_iter().filter(|body| body["model"] == "judge").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_is_asked_for_a_form_with_a_seed() {
    let toml =
        project("'Splits the jury.'").replace("judge = 'stage/judge'", "judge = 'stage/judge'\nvotes = 3");
    on_stage_with(&toml, SCRIPT, async |stage| {
        tested(stage, json!({})).await;
        let judged = judged(stage);
        let expected = json!({ "type": "json_schema", "json_schema": {
            "name": "judgement", "strict": true, "schema": fidelity::answer_schema(),
        } });
        assert!(judged.iter().all(|body| body["response_format"] == expected), "{judged:?}");
        let seeds: Vec<_> = judged.iter().map(|body| body["seed"].as_u64().unwrap()).collect();
        assert_eq!(seeds, [0, 2, 4], "votes are independent");
        assert!(stage.sent()[0].get("response_format").is_none(), "the persona answers as it likes");
    })
    .await;
}

/// A server that does not know a parameter, and names it.
const OLD: &str = r#"
[[reply]]
when = { model = "judge" }
times = 1
fault = { status = 400, message = "response_format: unknown field" }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_takes_no_schema_is_asked_without() {
    let script = format!("{OLD}{SCRIPT}");
    on_stage_with(&project("'Greets the user.', 'Shows nothing.'"), &script, async |stage| {
        let report = tested(stage, json!({})).await;
        assert_eq!(shown(&report), ["failed 0.5 held,not_shown"]);
        let has: Vec<_> = judged(stage).iter().map(|body| body.get("response_format").is_some()).collect();
        assert_eq!(has, [true, false, false], "the refusal is remembered");
        assert!(judged(stage).iter().all(|body| body["temperature"] == json!(0.0) && body["seed"].is_u64()));
        // The budget counts calls that were answered.
        assert_eq!((calls(stage), report.spent.calls), ((1, 3), 3));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_judges_are_in_the_figures() {
    on_stage_with(&project("'Greets the user.', 'Shows nothing.'"), SCRIPT, async |stage| {
        let price = Price { input: 1_000_000.0, output: 0.0, cache_read: None, cache_write: None };
        let priced = |options: &mut RuntimeOptions| {
            options.prices = Prices::from_iter([("stage/judge".parse().unwrap(), price)]);
        };
        let runtime = stage.restarted_with(priced).await;
        let report = runtime.test_persona(test(json!({}))).await.unwrap();
        let consumed = runtime.consumption();
        let lines: Vec<_> = consumed.iter().map(|used| (&*used.persona, &*used.model, used.calls)).collect();
        assert_eq!(lines, [("(judge)", "judge", 2), ("eve", "actor", 1)]);
        let tokens: u64 =
            consumed.iter().map(|used| used.usage.input_tokens + used.usage.output_tokens).sum();
        assert_eq!(tokens, report.cells.iter().map(|cell| cell.tokens).sum::<u64>());
        assert_eq!(consumed[0].cost, Some(consumed[0].usage.input_tokens as f64));
        runtime.stop().await;
    })
    .await;
}
