//! The Skills extension.

use base64::Engine as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::wire::{Fixture, Wire};

async fn all(wire: &mut Wire) -> Vec<Value> {
    let mut skills = Vec::new();
    let mut params = json!({});
    loop {
        let page = wire.request("skills/list", params).await.expect("a page");
        assert_eq!((&page["cacheScope"], &page["resultType"]), (&json!("private"), &json!("complete")));
        skills.extend(page["skills"].as_array().expect("skills").iter().cloned());
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return skills,
        }
    }
}

#[tokio::test]
async fn skills_are_offered_with_true_digests() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    for number in 0..30 {
        let content = format!("Step {number}: größer.");
        wire.call("create_agent_skill", json!({ "name": format!("skill_{number}"), "content": content }))
            .await;
    }
    let discovered = wire.request("server/discover", json!({})).await.expect("discovery");
    assert_eq!(discovered["capabilities"]["extensions"]["io.modelcontextprotocol/skills"], json!({}));
    let skills = all(&mut wire).await;
    assert!(skills.len() >= 30);
    for skill in &skills {
        let uri = skill["uri"].as_str().expect("a uri");
        let name = skill["frontmatter"]["name"].as_str().expect("a name");
        assert!(uri.ends_with(&format!("/{name}/SKILL.md")) || uri == format!("skill://{name}/SKILL.md"));
        let read = wire.request("resources/read", json!({ "uri": uri })).await.expect("the file");
        let text = read["contents"][0]["text"].as_str().expect("text");
        let digest: String =
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            skill["resources"],
            json!([{ "uri": uri, "digest": format!("sha256:{digest}"), "size": text.len() }])
        );
        let got = wire.request("skills/get", json!({ "uri": uri })).await.expect("the skill");
        assert_eq!(&got["skill"], skill);
    }
}

#[tokio::test]
async fn a_name_that_another_has_by_right_is_left_out() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_skill", json!({ "name": "deep-work" })).await;
    wire.call("create_agent_skill", json!({ "name": "Deep_Work" })).await;
    let skills = all(&mut wire).await;
    let named = skills.iter().filter(|skill| skill["frontmatter"]["name"] == "deep-work");
    assert_eq!(named.count(), 1);
}

#[tokio::test]
async fn an_unknown_skill_is_refused() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    for params in [
        json!({ "uri": "skill://nothing/SKILL.md" }),
        json!({ "uri": "persona://mentor" }),
        json!({}),
        json!({ "uri": 3 }),
    ] {
        let error = wire.request("skills/get", params).await.expect_err("no skill");
        assert_eq!(error["code"], -32602, "{error}");
    }
    let cursor = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode("forged");
    let error = wire.request("skills/list", json!({ "cursor": cursor })).await.expect_err("no cursor");
    assert_eq!(error["code"], -32602, "{error}");
}
