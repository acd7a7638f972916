//! Tests of personas over HTTP: begun with 202, followed by events, read again, cancelled.

use serde_json::{Value, json};

use crate::client::Event;
use crate::sessions::world::World;

const SCRIPT: &str = r#"
[[reply]]
when = { last_user = "slow" }
text = "one two three four five six seven eight nine ten"
pace_ms = 400
[[reply]]
when = { last_user = "soon" }
text = "one two three"
pace_ms = 300
[[reply]]
text = "Hello there."
"#;

async fn world() -> World {
    let world = World::start(SCRIPT).await;
    for (name, content) in [("hello", "hi"), ("slow", "slow"), ("soon", "soon")] {
        let entity = json!({
            "name": name, "content": content,
            "expectations": [{ "words": { "max": 5 } }],
        });
        let (status, body) = world
            .ask("PUT", &format!("/api/library/test_input/{name}"), Some(&json!({ "entity": entity })))
            .await;
        assert_eq!(status, 201, "{body}");
    }
    let entity = json!({ "name": "guide", "system_prompt": "You guide.", "test_inputs": ["hello"] });
    let (status, body) =
        world.ask("PUT", "/api/library/persona/guide", Some(&json!({ "entity": entity }))).await;
    assert_eq!(status, 200, "{body}");
    world
}

/// All events of a run.
async fn follow(world: &World, path: &str) -> Vec<Event> {
    let mut opened = world.open("GET", &format!("{path}/events"), None).await;
    assert_eq!(opened.header("content-type"), Some("text/event-stream"));
    opened.rest().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_is_begun_followed_and_read() {
    let world = world().await;
    let (status, begun) = world.post("/api/tests", &json!({ "persona": "guide", "samples": 2 })).await;
    assert_eq!(status, 202, "{begun}");
    let path = format!("/api/tests/{}", begun["id"].as_str().expect("valid"));
    let events = follow(&world, &path).await;
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "cell_finished").count(), 2);
    assert_eq!(names.last(), Some(&"run_finished"));
    let (status, run) = world.get(&path).await;
    assert_eq!((status, &run["state"]), (200, &json!("finished")));
    let cell = &run["cells"][0];
    assert_eq!(
        (&cell["input"], &cell["column"], &cell["state"]),
        (&json!("hello"), &json!("now"), &json!("passed"))
    );
    assert_eq!(cell["expectations"][0]["verdict"], "held");
    let (_, list) = world.get("/api/tests?persona=guide").await;
    assert_eq!(list["items"][0]["id"], begun["id"]);
    // Another process has it, too.
    let world = world.restart().await;
    let (status, kept) = world.get(&path).await;
    assert_eq!((status, &kept["cells"]), (200, &run["cells"]));
    world.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_is_cancelled_and_mistakes_are_problems() {
    let world = world().await;
    let body = json!({ "persona": "guide", "inputs": ["slow"] });
    let (_, begun) = world.post("/api/tests", &body).await;
    let path = format!("/api/tests/{}", begun["id"].as_str().expect("valid"));
    let (status, run) = world.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(
        (status, &run["state"], &run["cells"][0]["state"]),
        (200, &json!("cancelled"), &json!("unfinished"))
    );
    let problem = async |path: &str, body: Value, status: u16, code: &str| {
        let answered = world.post(path, &body).await;
        assert_eq!((answered.0, &answered.1["code"]), (status, &json!(code)), "{}", answered.1);
    };
    problem("/api/tests", json!({ "persona": "nobody" }), 404, "not_found").await;
    problem("/api/tests", json!({ "persona": "persona_editor" }), 400, "no_test_inputs").await;
    problem("/api/tests", json!({ "persona": "guide", "sample": 2 }), 400, "unknown_field").await;
    problem("/api/tests", json!({ "persona": "guide", "max_cost": 1 }), 400, "unpriced").await;
    problem("/api/compare", json!({ "persona": "guide" }), 404, "unknown_revision").await;
    let (status, unknown) = world.get("/api/tests/00000000-0000-0000-0000-000000000000").await;
    assert_eq!((status, &unknown["code"]), (404, &json!("unknown_test")));
    world.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_versions_are_two_columns() {
    let world = world().await;
    let (status, begun) = world.post("/api/compare", &json!({ "persona": "guide", "a": 1 })).await;
    assert_eq!(status, 202, "{begun}");
    let path = format!("/api/tests/{}", begun["id"].as_str().expect("valid"));
    follow(&world, &path).await;
    let (_, run) = world.get(&path).await;
    let columns: Vec<&Value> =
        run["columns"].as_array().expect("valid").iter().map(|column| &column["column"]).collect();
    assert_eq!(columns, ["1", "now"]);
    assert_eq!(run["comparison"]["verdict"], "cannot_tell");
    world.served.stop().await;
}

/// A viewer of a test learns how it ended, and a test that ends soon is not cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_streams_of_tests() {
    for (input, state) in [("slow", "cancelled"), ("soon", "finished")] {
        let world = world().await;
        let body = json!({ "persona": "guide", "inputs": [input] });
        let (_, begun) = world.post("/api/tests", &body).await;
        let path = format!("/api/tests/{}", begun["id"].as_str().expect("valid"));
        let mut opened = world.open("GET", &format!("{path}/events"), None).await;
        opened.until("cell_started").await;
        let metrics = world.open("GET", "/metrics", None).await.text().await;
        for line in [r#"masque_open_streams{of="tests"} 1"#, r#"masque_open_streams{of="sessions"} 0"#] {
            assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
        }
        let (world, rest) = tokio::join!(world.restart(), opened.rest());
        let last = rest.last().expect("an event");
        assert_eq!((&*last.name, &last.data["report"]["state"]), ("run_finished", &json!(state)));
        let (status, kept) = world.get(&path).await;
        assert_eq!((status, &kept["state"]), (200, &json!(state)));
        world.served.stop().await;
    }
}
