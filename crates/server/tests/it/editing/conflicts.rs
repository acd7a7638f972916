//! The agent writes with the revision that it read. Where someone edited meanwhile, it reads again.

use serde_json::json;

use super::world::{calls, on_each, results, texts};

const WRITES_TWICE: &str = r#"
[[reply]]
when = { last_user = "now shorter", tool_result_of = "update_system_prompt", tool_result = "was replaced" }
text = "Done, on top of your edit."
[[reply]]
when = { last_user = "now shorter", tool_result_of = "get_persona" }
say = [{ tool = "update_system_prompt", id = "toolu_5", input = { systemPrompt = "By hand, shorter." } }]
[[reply]]
when = { last_user = "now shorter", tool_result_of = "update_system_prompt", tool_result = "read it again" }
say = [{ text = "It changed. I look again." }, { tool = "get_persona", id = "toolu_4", input = {} }]
[[reply]]
when = { last_user = "now shorter" }
say = [{ tool = "update_system_prompt", id = "toolu_3", input = { systemPrompt = "Ada, shorter." } }]
[[reply]]
when = { tool_result_of = "get_persona" }
text = "I have read it."
[[reply]]
say = [{ tool = "get_persona", id = "toolu_1", input = {} }]
"#;

/// The conversation remembers what was read, also in another process: a later message cannot overwrite
/// what it never saw.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_by_hand_is_not_overwritten() {
    on_each(WRITES_TWICE, async |world| {
        world.tell("ada", "Read the prompt").await;
        world.amend("persona/ada", &json!({ "system_prompt": "By hand." })).await;
        let events = world.tell("ada", "now shorter").await;
        let names: Vec<&str> = calls(&events).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["update_system_prompt", "get_persona", "update_system_prompt"]);
        let results = results(&events);
        assert!(results[0].1 && results[0].0.contains("revision 2, not 1"), "{results:?}");
        assert!(!results[2].1, "{results:?}");
        assert_eq!(texts(&events).last(), Some(&"Done, on top of your edit."));
        let ada = world.entity("persona/ada").await;
        assert_eq!((&ada["system_prompt"], &ada["revision"]), (&json!("By hand, shorter."), &json!(3)));
    })
    .await;
}

const WRITES_AGAIN: &str = r#"
[[reply]]
when = { tool_result_of = "update_persona_name" }
text = "Done."
[[reply]]
when = { last_user = "first" }
say = [{ tool = "update_persona_name", id = "toolu_1", input = { name = "One" } }]
[[reply]]
when = { last_user = "second" }
say = [{ tool = "update_persona_name", id = "toolu_2", input = { name = "Two" } }]
"#;

/// Its own changes are no conflict.
#[tokio::test(flavor = "multi_thread")]
async fn it_knows_its_own_changes() {
    on_each(WRITES_AGAIN, async |world| {
        for (message, name) in [("first", "One"), ("second", "Two")] {
            let events = world.tell("ada", message).await;
            assert!(!results(&events)[0].1, "{events:?}");
            assert_eq!(world.stored("ada").await["name"], name);
        }
        // A new conversation has read nothing, so it begins with what is there.
        world.amend("persona/ada", &json!({ "display_name": "Three" })).await;
        world.clear("ada").await;
        let events = world.tell("ada", "first").await;
        assert!(!results(&events)[0].1, "{events:?}");
        assert_eq!(world.stored("ada").await["name"], "One");
    })
    .await;
}
