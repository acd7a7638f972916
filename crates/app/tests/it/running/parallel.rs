//! Tools that run at once and finish in another order than they were called in.

use agent::{End, Mode};
use providers::Kind;
use serde_json::Value;

use super::stage::{end, on_stage, provider, results, say};

const SCRIPT: &str = r#"
[[reply]]
when = { last_user = "/and now/" }
text = "Still here."
[[reply]]
when = { tool_result_of = "delegate" }
text = "Thank you."
[[reply]]
when = { last_user = "/both$/" }
say = [
    { tool = "delegate", input = { persona = "ada", task = "the slow one" } },
    { tool = "delegate", input = { persona = "ada", task = "the fast one" } },
]
[[reply]]
when = { last_user = "slow" }
text = "slow result"
first_token_ms = 700
[[reply]]
text = "fast result"
"#;

/// The tool results in the order in which a model got them.
fn answers(kind: Kind, sent: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let found: Vec<Value> = match kind {
        Kind::Gemini => list(&sent["contents"])
            .iter()
            .flat_map(|content| list(&content["parts"]))
            .map(|part| part["functionResponse"]["response"]["output"].clone())
            .collect(),
        Kind::OpenaiChat => list(&sent["messages"])
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| message["content"].clone())
            .collect(),
        Kind::OpenaiResponses => list(&sent["input"]).iter().map(|item| item["output"].clone()).collect(),
        Kind::Anthropic => list(&sent["messages"])
            .iter()
            .flat_map(|message| list(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| match &block["content"] {
                Value::Array(parts) => parts[0]["text"].clone(),
                text => text.clone(),
            })
            .collect(),
    };
    found.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_reach_the_model_in_the_order_of_their_calls() {
    on_stage(SCRIPT, async |stage| {
        for kind in Kind::ALL {
            let providers = provider("stage", kind, &stage.model.url());
            let runtime = stage.restarted_with(|options| options.providers = providers).await;
            let id = stage.session(Mode::Build).await;
            for message in ["both", "and now?"] {
                let events = say(&runtime, id, message).await;
                assert_eq!(end(&events), Some(End::EndTurn), "{kind:?}: {events:?}");
                let sent = stage.sent().pop().unwrap();
                assert_eq!(answers(kind, &sent), ["slow result", "fast result"], "{kind:?}: {sent}");
            }
            let kept = results(&runtime.session(id).await.unwrap());
            assert_eq!(kept[0].0, "fast result", "it was the first to finish");
            runtime.stop().await;
        }
    })
    .await;
}
