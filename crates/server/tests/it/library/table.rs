//! Routes that come from the table of operations.

use serde_json::{Value, json};

use super::{each, get, put, tone};
use crate::client::{ask, code, open};
use crate::running::{Running, start, start_with_project};

async fn done(running: &Running, method: &str, path: &str, body: Option<Value>) -> Value {
    let (status, answer) = ask(running.port, method, path, body.as_ref()).await;
    assert!(matches!(status, 200 | 201), "{method} {path}: {status} {answer}");
    answer
}

#[tokio::test]
async fn fields_are_changed_and_the_rest_stays() {
    let running = start().await;
    let path = "/api/library/tool_preset/careful";
    let entity = json!({ "entity": { "description": "Reads.", "categories": { "read": ["read_file"] } } });
    put(&running, path, &entity).await;
    let written =
        done(&running, "PATCH", path, Some(json!({ "entity": { "description": "Only reads." } }))).await;
    assert_eq!((&written["revision"], &written["action"]), (&json!(2), &json!("changed")));
    let read = get(&running, path).await;
    assert_eq!(read["description"], "Only reads.");
    assert!(read["categories"]["read"][0].to_string().contains("read_file"), "{read}");
    let same =
        done(&running, "PATCH", path, Some(json!({ "entity": { "description": "Only reads." } }))).await;
    assert_eq!((&same["revision"], &same["action"]), (&json!(2), &json!("unchanged")));
    done(&running, "PATCH", path, Some(json!({ "entity": { "description": "" } }))).await;
    assert!(get(&running, path).await["description"].is_null(), "an empty text clears a field");
    for (path, body, expected) in [
        (path, json!({ "entity": {} }), (400, "nothing_to_change")),
        (path, json!({ "entity": { "colour": "blue" } }), (400, "unknown_field")),
        (path, json!({ "entity": { "name": "bold" } }), (400, "conflicting_fields")),
        ("/api/library/tool_preset/nobody", json!({ "entity": { "description": "x" } }), (404, "not_found")),
    ] {
        let (status, problem) = ask(running.port, "PATCH", path, Some(&body)).await;
        assert_eq!((status, code(&problem)), expected, "{body}: {problem}");
    }
    let copied = done(
        &running,
        "PATCH",
        "/api/library/persona/mentor",
        Some(json!({ "entity": { "summary": "Ours." } })),
    )
    .await;
    assert_eq!(
        (&copied["scope"], each(&copied["copied"], "name").contains(&&json!("mentor"))),
        (&json!("shared"), true)
    );
}

#[tokio::test]
async fn links_arcs_search_and_compile() {
    let running = start().await;
    put(&running, "/api/library/part/calm", &tone("Calm.")).await;
    let made = open(
        running.port,
        "POST",
        "/api/personas",
        &[],
        Some(&json!({ "name": "guide", "summary": "You guide." }).to_string()),
    )
    .await;
    assert_eq!(
        (made.status, made.header("location")),
        (201, Some("/api/library/persona/guide?scope=shared"))
    );
    done(&running, "PUT", "/api/personas/guide/parts/calm", Some(json!({ "priority": 7 }))).await;
    let guide = get(&running, "/api/library/persona/guide").await;
    assert_eq!((&guide["parts"][0]["name"], &guide["parts"][0]["priority"]), (&json!("calm"), &json!(7)));
    let found = get(&running, "/api/search?query=guide&kinds=persona").await;
    assert_eq!(each(&found["items"], "name")[0], "guide");
    assert!(each(&found["items"], "kind").iter().all(|kind| **kind == "persona"), "{found}");
    let compiled = done(&running, "POST", "/api/personas/guide/compile", None).await;
    assert!(compiled["compiled_detail"].as_str().is_some_and(|text| text.contains("Calm.")), "{compiled}");
    done(&running, "DELETE", "/api/personas/guide/parts/calm", None).await;
    assert!(get(&running, "/api/library/persona/guide").await["parts"].as_array().is_none_or(Vec::is_empty));

    put(&running, "/api/library/arc/growth", &json!({ "entity": { "stages": [] } })).await;
    for stage in ["early", "late"] {
        done(&running, "PUT", &format!("/api/arcs/growth/stages/{stage}"), Some(json!({}))).await;
    }
    done(&running, "PUT", "/api/arcs/growth/stages/late/parts/calm", None).await;
    let assigned = done(&running, "PUT", "/api/personas/guide/arc", Some(json!({ "arc": "growth" }))).await;
    assert_eq!(assigned["stage"], "early");
    let advanced = done(&running, "POST", "/api/personas/guide/stage/advance", None).await;
    assert_eq!((&advanced["stage"], &advanced["position"]), (&json!("late"), &json!(2)));
    assert_eq!(done(&running, "POST", "/api/personas/guide/stage/reset", None).await["stage"], "early");
    done(&running, "DELETE", "/api/personas/guide/arc", None).await;
    done(&running, "DELETE", "/api/arcs/growth/stages/late", None).await;
    let tones = get(&running, "/api/library/part?part_type=tone").await;
    assert!(each(&tones["items"], "part_type").iter().all(|part_type| **part_type == "tone"), "{tones}");
}

#[tokio::test]
async fn tags_names_scopes_and_bundles() {
    let running = start_with_project("").await;
    put(&running, "/api/library/part/calm", &tone("Calm.")).await;
    let tagged = done(&running, "PUT", "/api/library/part/calm/tags/good", None).await;
    assert_eq!((&tagged["tag"], &tagged["revision"]), (&json!("good"), &json!(1)));
    put(&running, "/api/library/part/calm", &tone("Slow.")).await;
    assert_eq!(get(&running, "/api/library/part/calm?revision=good").await["summary"], "Calm.");
    let history = get(&running, "/api/library/part/calm/history?limit=1").await;
    let cursor = history["next_cursor"].as_str().expect("an older revision");
    let older = get(&running, &format!("/api/library/part/calm/history?limit=1&cursor={cursor}")).await;
    assert_eq!((each(&older["items"], "revision"), older["next_cursor"].is_null()), (vec![&json!(1)], true));
    let (status, taken) = ask(running.port, "PUT", "/api/library/part/calm/tags/good", None).await;
    assert_eq!((status, &taken["code"]), (409, &json!("tag_taken")), "{taken}");
    assert_eq!(taken["remedies"][0]["action"], "move_tag");
    let moves = Some(json!({ "move": true }));
    let moved = done(&running, "PUT", "/api/library/part/calm/tags/good", moves).await;
    assert_eq!((&moved["revision"], &moved["moved_from"]), (&json!(2), &json!("1")));
    assert_eq!(done(&running, "PUT", "/api/library/part/calm/tags/good", None).await["changed"], false);
    assert_eq!(done(&running, "DELETE", "/api/library/part/calm/tags/good", None).await["deleted"], true);

    let copy = json!({ "new_name": "slow" });
    assert_eq!(
        done(&running, "POST", "/api/library/part/calm/duplicate", Some(copy)).await["action"],
        "created"
    );
    let renamed =
        done(&running, "POST", "/api/library/part/slow/rename", Some(json!({ "new_name": "still" }))).await;
    assert_eq!(renamed["name"], "still");
    let promoted =
        done(&running, "POST", "/api/library/part/still/promote", Some(json!({ "to": "project" }))).await;
    assert_eq!((&promoted["from"], &promoted["to"]), (&json!("shared"), &json!("project")));
    assert_eq!(
        (each(&promoted["carried"], "name"), &promoted["removed"]),
        (vec![&json!("still")], &json!([]))
    );
    assert_eq!(get(&running, "/api/library/part/still?scope=shared").await["scope"], "shared", "a copy");
    let moves = json!({ "to": "project", "scope": "shared", "move": true });
    let moved = done(&running, "POST", "/api/library/part/still/promote", Some(moves)).await;
    assert_eq!(each(&moved["removed"], "name"), ["still"]);
    assert_eq!(get(&running, "/api/library/part/still").await["scope"], "project");
    let all = get(&running, "/api/export").await;
    let all = all["toml"].as_str().expect("a text");
    assert!(all.contains("[parts.calm]") && all.contains("[parts.still]"), "{all}");
    let shared = get(&running, "/api/export?scope=shared").await;
    assert!(!shared["toml"].as_str().expect("a text").contains("[parts.still]"), "{shared}");

    let exported = get(&running, "/api/export/part?names=calm&names=still").await;
    let toml = exported["toml"].as_str().expect("a text").replace("Slow.", "Slower.");
    let import = |dry_run: bool| json!({ "toml": toml, "dry_run": dry_run, "scope": "shared" });
    let planned = done(&running, "POST", "/api/import", Some(import(true))).await;
    assert_eq!(each(&planned["items"], "change"), ["update", "create"]);
    assert_eq!(get(&running, "/api/library/part/calm?scope=shared").await["summary"], "Slow.");
    done(&running, "POST", "/api/import", Some(import(false))).await;
    assert_eq!(get(&running, "/api/library/part/calm?scope=shared").await["summary"], "Slower.");
    let new = done(&running, "POST", "/api/templates/mentor", Some(json!({ "name": "tutor" }))).await;
    assert_eq!((&new["name"], &new["action"]), (&json!("tutor"), &json!("created")));
}
