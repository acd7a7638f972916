//! Personas as agents load them.

use serde_json::{Value, json};

use super::{each, get, put, tone};
use crate::client::{ask, code, suggests};
use crate::running::{Running, start};

/// A library with a persona of two parts, and a part to put in the place of one.
async fn world() -> Running {
    let running = start().await;
    for (name, part_type, content) in
        [("calm", "tone", "Speak slowly."), ("dry", "tone", "Speak dryly."), ("ship", "goal", "Ship it.")]
    {
        let body = json!({ "entity": { "part_type": part_type, "summary": format!("{name}."), "content": content } });
        put(&running, &format!("/api/library/part/{name}"), &body).await;
    }
    let guide = json!({ "entity": {
        "summary": "You guide.",
        "system_prompt": "Guide them.",
        "parts": [{ "name": "calm", "order": 1, "priority": 5 }, { "name": "ship", "order": 2 }],
    } });
    put(&running, "/api/library/persona/guide", &guide).await;
    running
}

fn part_names(persona: &Value) -> Vec<&Value> {
    each(&persona["parts"], "name")
}

#[tokio::test]
async fn a_persona_is_loaded_as_the_address_asks() {
    let running = world().await;
    let guide = async |query: &str| get(&running, &format!("/api/personas/guide{query}")).await;
    let plain = guide("").await;
    assert_eq!(
        (&plain["name"], &plain["scope"], &plain["summary"]),
        (&json!("guide"), &json!("shared"), &json!("You guide."))
    );
    assert_eq!(part_names(&plain), ["calm", "ship"]);
    assert!(!plain.to_string().contains("Speak slowly."), "{plain}");
    let detailed = guide("?detail=true").await;
    assert!(detailed.to_string().contains("Speak slowly."), "{detailed}");
    assert_eq!(part_names(&guide("?types=goal").await), ["ship"]);
    assert_eq!(part_names(&guide("?types=goal&types=tone").await), ["calm", "ship"]);
    assert_eq!(part_names(&guide("?limit=1").await), ["calm"]);
    let tight = guide("?max_tokens=1").await;
    assert_eq!((part_names(&tight).len(), &tight["budget"]["over_budget"]), (0, &json!(true)));
    let compiled = guide("?compiled=true&detail=true").await;
    let text = compiled["compiled_detail"].as_str().expect("a text");
    assert!(text.contains("Guide them.") && text.contains("Ship it."), "{compiled}");
    put(
        &running,
        "/api/library/part/ship",
        &json!({ "entity": { "part_type": "goal", "content": "Wait." } }),
    )
    .await;
    let then = guide("?revision=1&detail=true").await;
    assert!(then.to_string().contains("Ship it.") && !then.to_string().contains("Wait."), "{then}");
    assert_eq!(get(&running, "/api/personas/mentor?scope=builtin").await["scope"], "builtin");
}

#[tokio::test]
async fn overrides_come_in_a_body() {
    let running = world().await;
    let load = async |body: Value| ask(running.port, "POST", "/api/personas/guide/load", Some(&body)).await;
    let (status, dry) = load(json!({ "overrides": { "tone": "dry" }, "detail": true })).await;
    assert_eq!((status, part_names(&dry)), (200, vec![&json!("dry"), &json!("ship")]));
    assert_eq!(load(json!({})).await.1, get(&running, "/api/personas/guide").await);
    // Compiled text takes them too, and a budget.
    let request = json!({ "compiled": true, "overrides": { "tone": "dry" }, "limit": 1, "max_tokens": 75 });
    let (status, cut) = load(request).await;
    let text = cut["compiled_detail"].as_str().expect("a text");
    assert!(status == 200 && text.contains("Speak dryly.") && !text.contains("Ship it."), "{cut}");
    assert_eq!(
        (&cut["budget"]["over_budget"], &cut["budget"]["left_out"]),
        (&json!(false), &json!({ "part": { "ship": 3 } }))
    );
    let short = get(&running, "/api/personas/guide?compiled=true&detail=false").await;
    assert!(short["compiled_summary"].as_str().is_some_and(|text| text.contains("You guide.")), "{short}");
    for (body, expected) in [
        (json!({ "overrides": { "tone": "drya" } }), "unknown_override"),
        (json!({ "overrides": { "tone": "ship" } }), "wrong_part_type"),
        (json!({ "overrides": { "mood": "dry" } }), "unknown_word"),
        (json!({ "override": {} }), "unknown_field"),
        (json!({ "name": "mentor" }), "conflicting_fields"),
    ] {
        let (status, problem) = load(body.clone()).await;
        assert_eq!((status, code(&problem)), (400, expected), "{body}: {problem}");
    }
    let (status, problem) = ask(running.port, "GET", "/api/personas/guide?overrides=x", None).await;
    assert_eq!((status, &problem["remedies"][0]["request"]), (400, &json!("POST /api/personas/guide/load")));
}

#[tokio::test]
async fn a_manifest_says_what_there_is_and_how_to_get_it() {
    let running = world().await;
    let manifest = get(&running, "/api/personas/guide/manifest").await;
    assert_eq!(
        (part_names(&manifest), &manifest["scope"]),
        (vec![&json!("calm"), &json!("ship")], &json!("shared"))
    );
    assert!(!manifest.to_string().contains("Speak slowly."), "{manifest}");
    let hints = manifest["on_demand_tools"].as_object().expect("hints");
    assert_eq!(hints["GET /api/library/part/{name}"], "load full content of a specific part");
    // Each is a request that there is, whether or not a piece has that name.
    for request in hints.keys() {
        let path = request.strip_prefix("GET ").expect("a read").replace("{name}", "guide");
        let (status, answer) = ask(running.port, "GET", &path, None).await;
        assert!(status == 200 || answer["subject"]["name"] == "guide", "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_missing_name_has_suggestions() {
    let running = world().await;
    put(&running, "/api/library/part/calmer", &tone("Calmer.")).await;
    for path in ["/api/personas/giude", "/api/personas/giude/manifest"] {
        let (status, problem) = ask(running.port, "GET", path, None).await;
        assert_eq!((status, code(&problem)), (404, "not_found"), "{problem}");
        assert!(suggests(&problem, "guide"), "{problem}");
    }
    let (status, problem) = ask(running.port, "GET", "/api/personas/guide?revision=9", None).await;
    assert_eq!((status, code(&problem)), (404, "unknown_revision"), "{problem}");
}
