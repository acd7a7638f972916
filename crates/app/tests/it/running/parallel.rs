//! Tools that run at once and finish in another order than they were called in.

use std::collections::BTreeMap;

use agent::End;
use app::running::CreateSession;
use persona::Scope;
use providers::{Kind, Providers};
use serde_json::{Value, json};

use super::stage::{end, on_stage, results, settings, to_the_end};
use crate::world::input;

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

/// What tools answered, in the order in which a model was sent it.
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
        let kinds = [Kind::Anthropic, Kind::OpenaiResponses, Kind::OpenaiChat, Kind::Gemini];
        for (at, kind) in kinds.into_iter().enumerate() {
            let named = BTreeMap::from([("stage".to_owned(), settings(kind, &stage.model.url()))]);
            let providers = Providers::build(named, &|_| None).unwrap();
            let runtime = stage.restarted_with(|options| options.providers = providers).await;
            let persona = format!("boss-{at}");
            let boss = json!({
                "name": persona, "system_prompt": "You are Boss.",
                "preferred_models": [{ "provider": "stage", "model": "actor" }],
            });
            stage.world.persona(Scope::Shared, boss).await;
            let create: CreateSession = input(json!({ "persona": persona }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            for message in ["both", "and now?"] {
                let events = runtime.send(id, message.to_owned(), Default::default()).await.unwrap();
                let events = to_the_end(events).await;
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
