//! Personas and pieces by their addresses.

use serde_json::{Value, json};

use crate::wire::Fixture;

#[tokio::test]
async fn every_listed_resource_can_be_read() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    let mut uris = Vec::new();
    let mut params = json!({});
    loop {
        let page = wire.request("resources/list", params).await.expect("a page");
        assert_eq!(page["cacheScope"], "private");
        for resource in page["resources"].as_array().expect("resources") {
            assert!(
                resource["annotations"]["audience"].is_array()
                    && resource["annotations"]["priority"].is_number()
            );
            uris.push((resource["uri"].as_str().expect("a uri").to_owned(), resource["mimeType"].clone()));
        }
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    for expected in ["persona://mentor", "persona://mentor/manifest", "persona://mentor/compiled"] {
        assert!(uris.iter().any(|(uri, _)| uri == expected), "{expected}");
    }
    assert!(uris.iter().any(|(uri, _)| uri.starts_with("skill://") && uri.ends_with("/SKILL.md")));
    for (uri, mime_type) in uris {
        let read = wire.request("resources/read", json!({ "uri": uri })).await.expect("contents");
        let contents = &read["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &mime_type));
        let text = contents["text"].as_str().expect("text");
        if mime_type == "application/json" {
            serde_json::from_str::<Value>(text).expect("JSON");
        }
        assert!(read["ttlMs"].is_u64() && read["cacheScope"] == "private");
    }
}

#[tokio::test]
async fn pieces_are_read_through_templates() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_part", json!({ "name": "p1", "part_type": "tone", "content": "Calm." })).await;
    wire.call("create_agent_trait", json!({ "name": "t1", "trait_type": "social" })).await;
    wire.call("create_agent_guardrail", json!({ "name": "g1" })).await;
    wire.call("create_agent_skill", json!({ "name": "Skill_1", "content": "Do it." })).await;
    let templates = wire.request("resources/templates/list", json!({})).await.expect("templates");
    assert_eq!(templates["resourceTemplates"].as_array().map(Vec::len), Some(7));
    for (uri, part) in [
        ("part://p1", "Calm."),
        ("trait://t1", "\"social\""),
        ("guardrail://g1", "\"medium\""),
        ("skill://Skill_1/skill-1/SKILL.md", "name: \"skill-1\""),
        ("skill://Skill_1/SKILL.md", "Do it."),
    ] {
        let read = wire.request("resources/read", json!({ "uri": uri })).await.expect("contents");
        let text = read["contents"][0]["text"].as_str().expect("text");
        assert!(text.contains(part), "{uri}: {text}");
    }
}

#[tokio::test]
async fn a_missing_resource_is_an_error_of_its_era() {
    let fixture = Fixture::new().await;
    for (mut wire, code) in [(fixture.legacy().await, -32002), (fixture.modern().await, -32602)] {
        for uri in ["persona://nobody", "part://nothing", "file:///etc/passwd", "nonsense"] {
            let error = wire.request("resources/read", json!({ "uri": uri })).await.expect_err("missing");
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)));
        }
        let error =
            wire.request("resources/read", json!({ "uri": "persona://mentro" })).await.expect_err("missing");
        assert!(error["message"].as_str().expect("text").contains("mentor"), "{error}");
        let error =
            wire.request("resources/list", json!({ "cursor": "forged" })).await.expect_err("no cursor");
        assert_eq!(error["code"], -32602);
    }
}
