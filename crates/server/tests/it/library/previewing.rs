//! Previews of drafts, explanations of drafts, templates and usage.

use serde_json::{Value, json};

use super::{each, get, put};
use crate::client::{ask, code, open, suggests};
use crate::running::{Running, start, start_with_project};

async fn preview(running: &Running, body: &Value) -> Value {
    let (status, answer) = ask(running.port, "POST", "/api/preview", Some(body)).await;
    assert_eq!(status, 200, "{body}: {answer}");
    answer
}

fn text(preview: &Value) -> String {
    each(&preview["blocks"], "text").into_iter().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn a_stored_persona_comes_back_as_a_draft() {
    let running = start().await;
    let entity = get(&running, "/api/library/persona/code_reviewer").await;
    let previewed = preview(&running, &json!({ "entity": entity })).await;
    let compiled = get(&running, "/api/personas/code_reviewer?compiled=true").await;
    assert_eq!(text(&previewed), compiled["compiled_detail"]);
    assert_eq!(previewed["scope"], "shared", "a builtin is saved as a copy");
    let tokens: u64 = each(&previewed["blocks"], "tokens").into_iter().filter_map(Value::as_u64).sum();
    assert_eq!(previewed["tokens"], json!({ "total": tokens, "counter": "o200k_base", "exact": false }));
    let part = previewed["blocks"].as_array().expect("a list").iter().find(|it| it["kind"] == "part");
    let part = part.expect("a part");
    assert_eq!(
        part,
        &json!({
            "id": format!("part:{}", part["name"].as_str().expect("a name")),
            "hash": part["hash"],
            "heading": part["text"].as_str().and_then(|text| text.lines().next()),
            "kind": "part",
            "name": part["name"],
            "part_type": part["part_type"],
            "field": "content",
            "layer": "own",
            "scope": "builtin",
            "form": "whole",
            "first_line": part["first_line"],
            "text": part["text"],
            "tokens": part["tokens"],
        })
    );
    assert_eq!(part["hash"].as_str().map(str::len), Some(16));
    assert_eq!((&previewed["left_out"], &previewed["over_budget"]), (&json!([]), &json!(false)));
    let points = previewed["budget_points"].as_array().expect("a list");
    assert!(!points.is_empty() && points.len() <= 64, "{points:?}");
    let budget = points[0]["max_tokens"].as_u64().expect("a number");
    let within = preview(&running, &json!({ "entity": entity, "max_tokens": budget })).await;
    assert_eq!(within["tokens"]["total"], points[0]["tokens"]);
    let left_out = within["left_out"].as_array().expect("a list").iter();
    let ids: Vec<String> = left_out
        .map(|it| {
            format!("{}:{}", it["kind"].as_str().expect("a kind"), it["name"].as_str().expect("a name"))
        })
        .collect();
    assert_eq!(json!(ids), points[0]["left_out"]);
    assert!(within["left_out"].as_array().is_some_and(|all| all.iter().all(|it| it["reason"] == "budget")));
}

#[tokio::test]
async fn a_draft_changes_the_preview_and_nothing_else() {
    let running = start().await;
    let dry = json!({ "entity": { "part_type": "tone", "content": "Be dry." } });
    put(&running, "/api/library/part/dry", &dry).await;
    let revision = get(&running, "/api/library/part/dry").await["revision"].clone();
    let body = json!({
        "entity": { "name": "guide", "system_prompt": "You guide {{x.", "parts": ["dry"] },
        "pieces": [{ "kind": "part", "entity": { "name": "dry", "part_type": "tone", "content": "Be very dry." } }],
        "overrides": { "goal": "ship" },
    });
    let (status, problem) = ask(running.port, "POST", "/api/preview", Some(&body)).await;
    assert_eq!((status, code(&problem)), (400, "unknown_override"), "{problem}");
    let mut body = body;
    body.as_object_mut().expect("an object").remove("overrides");
    let previewed = preview(&running, &body).await;
    assert_eq!(text(&previewed), "You guide {{x.\n\n## Tone\n\nBe very dry.\n");
    assert!(previewed["problems"].is_array(), "{previewed}");
    let (status, _) = ask(running.port, "GET", "/api/library/persona/guide", None).await;
    assert_eq!(status, 404);
    assert_eq!(get(&running, "/api/library/part/dry").await["revision"], revision);
}

#[tokio::test]
async fn a_draft_is_refused_as_a_write_is() {
    let running = start().await;
    let refused = async |body: Value| ask(running.port, "POST", "/api/preview", Some(&body)).await;
    let (status, problem) = refused(json!({ "entity": { "name": "guide", "parts": ["clam"] } })).await;
    assert_eq!((status, code(&problem)), (404, "not_found"), "{problem}");
    assert_eq!(problem["subject"], json!({ "kind": "part", "name": "clam" }));
    let (status, problem) = refused(json!({ "entity": { "name": "guide", "extends": "mentr" } })).await;
    assert_eq!((status, suggests(&problem, "mentor")), (404, true), "{problem}");
    for (body, expected) in [
        (json!({}), "missing_field"),
        (json!({ "entity": {} }), "missing_field"),
        (json!({ "entity": { "name": "guide" } }), "says_nothing"),
        (json!({ "entity": { "name": "a b", "summary": "x" } }), "invalid_name"),
        (json!({ "entity": { "name": 3, "summary": "x" } }), "invalid_value"),
        (json!({ "entity": { "name": "guide", "summry": "x" } }), "unknown_field"),
        (json!({ "entity": { "name": "guide", "summary": "x" }, "stage": "old" }), "no_arc"),
        (json!({ "entity": { "name": "guide", "summary": "x" }, "max_tokens": -1 }), "invalid_value"),
        (
            json!({ "entity": { "name": "guide", "summary": "x" }, "pieces": [{ "kind": "prat" }] }),
            "unknown_word",
        ),
        (json!({ "entity": { "name": "guide", "summary": "x" }, "colour": "blue" }), "unknown_field"),
        (json!({ "entity": { "name": "guide", "summary": "x" }, "scope": "project" }), "scope_not_open"),
    ] {
        let (status, problem) = refused(body.clone()).await;
        assert_eq!((status / 100, code(&problem)), (4, expected), "{body}: {problem}");
    }
}

#[tokio::test]
async fn drafts_and_stored_personas_are_explained() {
    let file = "[personas.guide]\nextends = \"mentor\"\nsummary = \"Ours.\"\n";
    let running = start_with_project(file).await;
    let entity = get(&running, "/api/library/persona/guide").await;
    let (status, drafted) =
        ask(running.port, "POST", "/api/explain", Some(&json!({ "entity": entity }))).await;
    assert_eq!(status, 200, "{drafted}");
    let stored = get(&running, "/api/personas/guide/explanation").await;
    assert_eq!((&drafted["fields"], &drafted["parts"]), (&stored["fields"], &stored["parts"]));
    let previewed = preview(&running, &json!({ "entity": entity })).await;
    let layers: Vec<&Value> = each(&previewed["blocks"], "layer");
    assert!(layers.contains(&&json!("base")) && layers.contains(&&json!("stage")), "{layers:?}");
    let of_base =
        previewed["blocks"].as_array().expect("a list").iter().find(|block| block["layer"] == "base");
    assert_eq!(of_base.map(|block| &block["base"]), Some(&json!("mentor")));
}

#[tokio::test]
async fn templates_are_listed_and_used() {
    let running = start().await;
    let templates = get(&running, "/api/templates").await;
    assert_eq!(
        each(&templates["items"], "name"),
        [
            "code_reviewer",
            "code_worker",
            "critic",
            "doc_writer",
            "mentor",
            "optimist",
            "orchestrator",
            "qa_reviewer",
            "tech_lead",
            "test_writer"
        ]
    );
    assert!(each(&templates["items"], "summary").iter().all(|summary| summary.is_string()), "{templates}");
    let (status, written) =
        ask(running.port, "POST", "/api/templates/mentor", Some(&json!({ "name": "mine" }))).await;
    assert_eq!((status, &written["name"]), (201, &json!("mine")), "{written}");
}

#[tokio::test]
async fn usage_says_who_uses_a_piece() {
    let running = start_with_project("[personas.here]\nparts = [\"calm\"]\n").await;
    let mut calm = json!({ "entity": { "part_type": "tone", "summary": "Calm." } });
    calm["scope"] = "shared".into();
    put(&running, "/api/library/part/calm", &calm).await;
    put(&running, "/api/library/persona/guide", &json!({ "entity": { "parts": ["calm"] } })).await;
    let usage = get(&running, "/api/library/part/calm/usage").await;
    assert_eq!(
        usage,
        json!({
            "items": [
                { "kind": "persona", "name": "guide", "scope": "shared" },
                { "kind": "persona", "name": "here", "scope": "project" },
            ],
            "total": 2,
        })
    );
    let page = get(&running, "/api/library/part/calm/usage?limit=1").await;
    assert_eq!((page["items"].as_array().map(Vec::len), &page["next_cursor"]), (Some(1), &json!("1")));
    let page = get(&running, "/api/library/part/calm/usage?limit=1&cursor=1").await;
    assert_eq!((&page["items"][0]["name"], page.get("next_cursor")), (&json!("here"), None));
    let (status, problem) = ask(running.port, "GET", "/api/library/part/clam/usage", None).await;
    assert_eq!((status, code(&problem)), (404, "not_found"));
    // The delete that would break them names the same users.
    let (status, problem) = ask(running.port, "DELETE", "/api/library/part/calm?scope=shared", None).await;
    assert_eq!((status, code(&problem)), (409, "in_use"), "{problem}");
}

/// A large body is read, and one over the limit is refused.
#[tokio::test]
async fn a_preview_has_the_limits_of_a_write() {
    let running = start().await;
    let long = "Be exact.\n".repeat(20_000);
    let body = json!({ "entity": { "name": "guide", "system_prompt": long } });
    let previewed = preview(&running, &body).await;
    assert!(
        previewed["tokens"]["total"].as_u64().is_some_and(|tokens| tokens > 20_000),
        "{}",
        previewed["tokens"]
    );
    let huge = json!({ "entity": { "name": "guide", "system_prompt": "x".repeat(5 << 20) } }).to_string();
    let refused = open(running.port, "POST", "/api/preview", &[], Some(&huge)).await;
    assert_eq!(refused.status, 413);
}
