//! Personas as they were: by number, and by a tag that stays when everything else changes.

use app::{Author, Library, RevisionRef};
use persona::{Kind, Name};
use serde_json::json;

use crate::wire::{Fixture, suggests};

async fn tag(library: &Library, name: &str, revision: &str, tag: &str) {
    let author = Author::new("somebody", "test");
    let name = Name::parse(name).expect("a name");
    let revision = RevisionRef::parse(revision);
    library.tag(&author, Kind::Persona, &name, None, Some(&revision), tag).await.expect("tagged");
}

#[tokio::test]
async fn a_tag_freezes_the_whole_prompt() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_part", json!({ "name": "calm", "part_type": "tone", "content": "Be calm." }))
        .await;
    let created = json!({ "name": "guide", "system_prompt": "You guide.", "parts": ["calm"] });
    let created = wire.call("create_agent_persona", created).await;
    tag(&fixture.library, "guide", &created["revision"].to_string(), "production").await;
    wire.call("update_agent_part", json!({ "name": "calm", "content": "Be loud." })).await;
    wire.call("update_agent_persona", json!({ "name": "guide", "system_prompt": "You lead." })).await;
    for revision in [created["revision"].clone(), json!(created["revision"].to_string()), json!("production")]
    {
        let arguments = json!({ "name": "guide", "detail": true, "revision": revision });
        let then = wire.call("get_agent_persona", arguments).await;
        assert_eq!(
            (&then["system_prompt"], &then["parts"][0]["content"], &then["revision"]),
            (&json!("You guide."), &json!("Be calm."), &created["revision"]),
            "{revision}"
        );
        let arguments = json!({ "name": "guide", "detail": true, "compiled": true, "revision": revision });
        let text = wire.call("get_agent_persona", arguments).await["compiled_detail"].to_string();
        assert!(text.contains("You guide.") && text.contains("Be calm."), "{text}");
    }
    let now = wire.call("get_agent_persona", json!({ "name": "guide", "detail": true })).await;
    assert_eq!(
        (&now["system_prompt"], &now["parts"][0]["content"]),
        (&json!("You lead."), &json!("Be loud."))
    );
}

#[tokio::test]
async fn a_revision_that_is_not_there_is_named() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_persona", json!({ "name": "guide", "summary": "Guides." })).await;
    tag(&fixture.library, "guide", "1", "production").await;
    let refusal = wire.refusal("get_agent_persona", json!({ "name": "guide", "revision": 9 })).await;
    assert_eq!(refusal["code"], "unknown_revision", "{refusal}");
    let refusal =
        wire.refusal("get_agent_persona", json!({ "name": "guide", "revision": "prodcution" })).await;
    assert!(suggests(&refusal, "production"), "{refusal}");
    let refusal = wire.refusal("get_agent_persona", json!({ "name": "guide", "revision": true })).await;
    assert_eq!(refusal["code"], "invalid_value", "{refusal}");
}

#[tokio::test]
async fn an_edit_by_hand_is_a_revision() {
    let fixture = Fixture::with_project("[personas.guide]\nsystem_prompt = \"You guide.\"\n").await;
    let mut wire = fixture.modern().await;
    let before = wire.call("get_agent_persona", json!({ "name": "guide", "detail": true })).await;
    wire.call("update_agent_persona", json!({ "name": "guide", "system_prompt": "You lead." })).await;
    let arguments = json!({ "name": "guide", "detail": true, "revision": before["revision"] });
    let then = wire.call("get_agent_persona", arguments).await;
    assert_eq!((&then["system_prompt"], &then["scope"]), (&json!("You guide."), &json!("project")));
}

#[tokio::test]
async fn a_change_names_the_user_and_the_client() {
    let fixture = Fixture::new().await;
    for (name, mut wire) in [("old", fixture.legacy().await), ("new", fixture.modern().await)] {
        let part = json!({ "name": name, "part_type": "tone", "content": "Be calm.", "message": "a try" });
        wire.call("create_agent_part", part).await;
        let name = Name::parse(name).expect("a name");
        let history = fixture.library.history(Kind::Part, &name, None, None).await.expect("a history");
        let made = &history.items[0];
        assert_eq!(
            (made.author.as_str(), made.front.as_str(), made.message.as_deref()),
            ("ada with wire 1.0", "mcp", Some("a try"))
        );
    }
}
