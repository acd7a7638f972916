//! Lint, and names that several scopes define.

use serde_json::{Value, json};

use super::{each, get, put, tone};
use crate::client::ask;
use crate::running::{start, start_with_project};

const PROJECT: &str = "\
[personas.guide]
summary = \"You guide.\"
parts = [\"clam\"]

[parts.calm]
part_type = \"tone\"
summary = \"Calm.\"
colour = \"blue\"

[parts.odd]
part_type = \"tonn\"
";

fn finding<'a>(report: &'a Value, rule: &str) -> &'a Value {
    let findings = report["findings"].as_array().expect("a list");
    findings.iter().find(|finding| finding["rule"] == rule).unwrap_or_else(|| panic!("no {rule}: {report}"))
}

#[tokio::test]
async fn lint_reports_problems_with_their_place() {
    let running = start_with_project(PROJECT).await;
    let report = get(&running, "/api/lint").await;
    let path = running.project_file().display().to_string();
    let broken = finding(&report, "unknown-reference");
    assert_eq!(
        broken,
        &json!({
            "rule": "unknown-reference",
            "level": "error",
            "scope": "project",
            "kind": "persona",
            "name": "guide",
            "field": "parts",
            "candidates": ["calm"],
            "message": broken["message"],
            "suggestion": broken["suggestion"],
            "path": path,
            "line": 3,
            "column": 10,
        })
    );
    assert!(broken["message"].as_str().is_some_and(|said| said.contains("\"clam\"")), "{broken}");
    // Errors in the file are listed with the rest.
    let invalid = finding(&report, "invalid-entry");
    assert_eq!(
        (&invalid["kind"], &invalid["name"], &invalid["scope"], &invalid["line"]),
        (&json!("part"), &json!("odd"), &json!("project"), &json!(11))
    );
    assert_eq!(finding(&report, "unknown-key")["level"], "warning");
    let lines: Vec<u64> = each(&report["findings"], "line").into_iter().filter_map(Value::as_u64).collect();
    assert!(lines.is_sorted() && lines.len() > 3, "from top to bottom: {report}");
    let of = |level: &str| each(&report["findings"], "level").into_iter().filter(|of| *of == level).count();
    assert_eq!(
        (&report["errors"], &report["warnings"], &report["notes"]),
        (&json!(of("error")), &json!(of("warning")), &json!(of("note")))
    );
    // Another scope is looked at when it is named, and the file's problems are not its own.
    let shared = get(&running, "/api/lint?scopes=shared").await;
    let nothing =
        json!({ "findings": [], "errors": 0, "warnings": 0, "notes": 0, "scopes": ["shared"], "entries": 0 });
    assert_eq!(shared, nothing);
    assert_eq!(report["scopes"], json!(["project", "shared"]));
    let both = get(&running, "/api/lint?scopes=shared&scopes=project").await;
    assert_eq!((&both["findings"], &both["scopes"]), (&report["findings"], &json!(["project", "shared"])));
    let good = "[personas.guide]\nsummary = \"You guide.\"\nsystem_prompt = \"Guide.\"\n";
    let running = start_with_project(good).await;
    assert_eq!(get(&running, "/api/lint").await["findings"], json!([]));
}

#[tokio::test]
async fn lint_looks_at_shared_too() {
    let running = start().await;
    let guide = json!({ "entity": { "summary": "You gu\u{200b}ide." } });
    put(&running, "/api/library/persona/guide", &guide).await;
    let report = get(&running, "/api/lint").await;
    let hidden = finding(&report, "hidden-unicode");
    assert_eq!(
        (&hidden["scope"], &hidden["field"], hidden.get("path")),
        (&json!("shared"), &json!("summary"), None)
    );
    // Invalid input fails before the lookup.
    let wrong = json!({ "entity": { "summary": "You guide.", "tool_preset": "read_onyl" } });
    let (status, answer) = ask(running.port, "PUT", "/api/library/persona/guide", Some(&wrong)).await;
    assert_eq!((status, &answer["code"]), (404, &json!("not_found")));
    assert_eq!(answer["subject"], json!({ "kind": "tool_preset", "name": "read_onyl" }));
    assert_eq!(answer["candidates"], json!(["read_only"]));
}

#[tokio::test]
async fn conflicts_are_seen_and_settled() {
    let text = "[parts.calm]\npart_type = \"tone\"\nsummary = \"Ours.\"\n";
    let running = start_with_project(text).await;
    let port = running.port;
    assert_eq!(get(&running, "/api/conflicts").await, json!({ "items": [] }));
    let mut shared = tone("Theirs.");
    shared["scope"] = "shared".into();
    shared["entity"]["description"] = "For all.".into();
    put(&running, "/api/library/part/calm", &shared).await;
    let conflict = json!({
        "kind": "part",
        "name": "calm",
        "in_force": "project",
        "scopes": ["project", "shared"],
        "identical": false,
        "fields": [
            { "field": "description", "values": { "shared": "For all." } },
            { "field": "summary", "values": { "project": "Ours.", "shared": "Theirs." } },
        ],
    });
    for (query, found) in [
        ("", true),
        ("?kind=part", true),
        ("?kind=skill", false),
        ("?name=calm", true),
        ("?name=loud", false),
    ] {
        let expected = if found { json!([conflict]) } else { json!([]) };
        assert_eq!(get(&running, &format!("/api/conflicts{query}")).await["items"], expected, "{query}");
    }
    let settle = async |body: Value| ask(port, "POST", "/api/conflicts/part/calm", Some(&body)).await;
    let (status, problem) = settle(json!({ "use": "global" })).await;
    assert_eq!((status, &problem["code"]), (400, &json!("not_defined_there")), "{problem}");
    assert_eq!(problem["subject"]["scope"], "global", "{problem}");
    let (status, problem) = settle(json!({ "take": { "summary": "shared" } })).await;
    assert_eq!((status, &problem["code"]), (400, &json!("undecided_fields")), "{problem}");
    assert_eq!(problem["subject"]["field"], "description", "{problem}");
    let merge =
        json!({ "take": { "summary": "project", "description": "shared" }, "message": "both are right" });
    let (status, resolved) = settle(merge).await;
    assert_eq!(
        (status, &resolved["kept"], &resolved["deleted"], &resolved["written"]["scope"]),
        (200, &json!("project"), &json!(["shared"]), &json!("project"))
    );
    assert_eq!(get(&running, "/api/conflicts").await, json!({ "items": [] }));
    let calm = get(&running, "/api/library/part/calm").await;
    assert_eq!((&calm["summary"], &calm["description"]), (&json!("Ours."), &json!("For all.")));
    let history = get(&running, "/api/library/part/calm/history?scope=shared").await;
    let last = &history["items"][0];
    assert_eq!(
        (&last["action"], &last["message"], &last["author"], &last["front"]),
        (&json!("delete"), &json!("both are right"), &json!("tester"), &json!("http"))
    );
    // Or one of them is kept as it is.
    put(&running, "/api/library/part/calm", &shared).await;
    let (status, resolved) = settle(json!({ "use": "shared" })).await;
    assert_eq!(
        (status, &resolved["kept"], &resolved["deleted"]),
        (200, &json!("shared"), &json!(["project"]))
    );
    assert_eq!(get(&running, "/api/library/part/calm").await["summary"], "Theirs.");
    let file = std::fs::read_to_string(running.project_file()).expect("a file");
    assert!(!file.contains("calm"), "{file}");
}
