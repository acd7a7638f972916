//! The cost of sessions, by the prices of the user.

use agent::{Event, Mode};
use llm::{Price, Prices};

use super::stage::{on_stage, say};

const SCRIPT: &str = r#"
[[reply]]
text = "Four words of answer."
usage = { input = 1000, output = 200 }
"#;

/// The costs of the calls among some events.
fn costs(events: &[Event]) -> Vec<Option<f64>> {
    let cost = |event: &Event| match event {
        Event::Usage { cost, .. } => Some(*cost),
        _ => None,
    };
    events.iter().filter_map(cost).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_cost_what_their_model_costs() {
    on_stage(SCRIPT, async |stage| {
        // Without a price, a cost is unknown, not zero.
        let id = stage.session(Mode::Build).await;
        assert_eq!(costs(&stage.say(id, "hello").await), [None]);
        let session = stage.view(id).await.session;
        assert_eq!((session.cost, session.unpriced_calls), (0.0, 1));

        let price = Price { input: 2.0, output: 10.0, cache_read: None, cache_write: None };
        let prices = Prices::from_iter([("stage/actor".parse().unwrap(), price)]);
        let priced = stage.restarted_with(|options| options.prices = prices.clone()).await;
        for _ in 0..2 {
            assert_eq!(costs(&say(&priced, id, "again").await), [Some(0.004)]);
        }
        // The cost of earlier calls stays unknown.
        let session = stage.view(id).await.session;
        assert_eq!((session.cost, session.unpriced_calls), (0.008, 1));
        let consumed = priced.consumption();
        assert_eq!(consumed.len(), 1);
        assert_eq!(consumed[0].cost, Some(0.008));
        priced.stop().await;
    })
    .await;
}
