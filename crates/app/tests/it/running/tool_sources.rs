//! Tools that are handed in, and the events that they report.

use std::sync::Arc;

use agent::{Annotations, Event, Mode, Schema, Tool};
use app::running::EventId;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tools::{FixedTools, Handler, Invocation, Outcome, Registered};

use super::stage::{on_stage, turns};

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "deal" }
text = "Dealt."
[[reply]]
say = [{ tool = "deal", input = { cards = 2 } }]
"#;

/// Reports its progress, and brings an event with its result.
#[derive(Debug)]
struct Deal;

impl Handler for Deal {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            for card in 1..=invocation.call.input["cards"].as_u64().unwrap() {
                invocation.report(json!({ "card": card }));
                tokio::task::yield_now().await;
            }
            Outcome { events: vec![json!({ "dealt": true })], ..Outcome::text("done") }
        })
    }
}

fn deal(name: &str) -> Registered {
    let tool = Tool {
        name: name.to_owned(),
        set: "game",
        description: "Deals cards.".to_owned(),
        input_schema: Schema::new(json!({ "type": "object" })),
        annotations: Annotations::READ_ONLY,
    };
    Registered::new(tool, Arc::new(Deal))
}

fn tool_events(events: &[(EventId, Event)]) -> Vec<(bool, Value)> {
    let found = events.iter().filter_map(|(id, event)| match event {
        Event::ToolEvent { event, .. } => Some((id.delta > 0, event.clone())),
        _ => None,
    });
    found.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_during_a_call_pass_and_those_of_its_result_are_stored() {
    on_stage(SCRIPT, async |stage| {
        // A source cannot replace one of the runtime's own tools.
        let source = FixedTools(vec![deal("deal"), deal("delegate")]);
        let runtime = stage.restarted_with(|options| options.sources = vec![Arc::new(source)]).await;
        let id = stage.session(Mode::Build).await;
        let mut subscription = runtime.send(id, "deal".to_owned(), Default::default()).await.unwrap();
        let mut events = Vec::new();
        while let Some(reported) = subscription.next().await.unwrap() {
            events.push((reported.id, reported.event.clone()));
        }
        let expected =
            [(true, json!({ "card": 1 })), (true, json!({ "card": 2 })), (false, json!({ "dealt": true }))];
        assert_eq!(tool_events(&events), expected);
        // Progress comes before the result.
        let place = |name: &str| events.iter().position(|(_, event)| event.name() == name);
        assert!(place("tool_event") < place("tool_result"), "{events:?}");
        assert_eq!(turns(&stage.view(id).await), "user tool_call tool_result assistant_text");
        let names = stage.sent().pop().unwrap();
        let names = super::stage::offered(&names).into_iter().filter(|name| *name == "delegate").count();
        assert_eq!(names, 1);
        // A viewer that comes later reads what is stored.
        let mut later = runtime.events(id, Some(EventId::default())).await.unwrap();
        let mut stored = Vec::new();
        while !stored.iter().any(|(_, event): &(EventId, Event)| event.is_last()) {
            let reported = later.next().await.unwrap().unwrap();
            stored.push((reported.id, reported.event.clone()));
        }
        assert!(tool_events(&stored).contains(&(false, json!({ "dealt": true }))));
        drop(later);
        runtime.stop().await;
    })
    .await;
}
