//! The agent reads what it replaces, and never empties it.

use serde_json::json;

use super::world::{on_each, results};

const UNREAD: &str = r#"
[[reply]]
when = { call = 8 }
text = "None of that worked."
[[reply]]
when = { call = 7 }
say = [{ tool = "update_agent_persona", id = "toolu_7", input = { summary = "Unread." } }]
[[reply]]
when = { call = 6 }
say = [{ tool = "get_persona", id = "toolu_6", input = {} }]
[[reply]]
when = { call = 5 }
say = [{ tool = "update_agent_persona", id = "toolu_5", input = { summary = "Unread." } }]
[[reply]]
when = { call = 4 }
say = [{ tool = "update_system_prompt", id = "toolu_4", input = { systemPrompt = "Unread." } }]
[[reply]]
when = { call = 3 }
say = [{ tool = "update_persona_name", id = "toolu_3", input = { name = "Ada the Second" } }]
[[reply]]
when = { call = 2 }
say = [{ tool = "update_test_input", id = "toolu_2", input = { id = "sum", content = "Unread." } }]
[[reply]]
say = [{ tool = "update_system_prompt", id = "toolu_1", input = { systemPrompt = "Unread." } }]
"#;

/// A new name needs no reading, and does not count as one. `get_persona` does not show all that
/// `update_agent_persona` replaces.
#[tokio::test(flavor = "multi_thread")]
async fn it_replaces_nothing_unread() {
    on_each(UNREAD, async |world| {
        world.put("test_input/sum", &json!({ "entity": { "content": "What is 2+2?" } })).await;
        world.amend("persona/ada", &json!({ "summary": "Counts.", "test_inputs": ["sum"] })).await;
        let events = world.tell("ada", "Do something").await;
        let results = results(&events);
        let errors: Vec<bool> = results.iter().map(|(_, is_error)| *is_error).collect();
        assert_eq!(errors, [true, true, false, true, true, false, true], "{results:?}");
        for (at, tool) in [(0, "get_persona"), (1, "get_test_input"), (3, "get_persona"), (4, "get_entity")] {
            let expected = format!("read it with {tool}, then repeat");
            assert!(
                results[at].0.contains("have not read") && results[at].0.contains(&expected),
                "{results:?}"
            );
        }
        let ada = world.entity("persona/ada").await;
        assert_eq!((&ada["display_name"], &ada["summary"]), (&json!("Ada the Second"), &json!("Counts.")));
        assert_eq!(ada["system_prompt"], "You are Ada.");
        assert_eq!(world.entity("test_input/sum").await["content"], "What is 2+2?");
    })
    .await;
}

const COPIES: &str = r#"
[[reply]]
when = { call = 3 }
text = "That did not work."
[[reply]]
when = { call = 2 }
say = [{ tool = "update_system_prompt", id = "toolu_2", input = { systemPrompt = "Unread." } }]
[[reply]]
say = [{ tool = "update_persona_name", id = "toolu_1", input = { name = "Super Optimist" } }]
"#;

/// The copy of a builtin is as unread as the builtin was.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_not_read() {
    on_each(COPIES, async |world| {
        let events = world.tell("optimist", "Rename it").await;
        let results = results(&events);
        assert!(!results[0].1 && results[1].1 && results[1].0.contains("have not read"), "{results:?}");
    })
    .await;
}

const EMPTIES: &str = r#"
[[reply]]
when = { call = 2 }
text = "I will not."
[[reply]]
say = [
  { tool = "get_persona", id = "toolu_1", input = {} },
  { tool = "list_test_inputs", id = "toolu_2", input = {} },
  { tool = "update_persona_name", id = "toolu_3", input = { name = "" } },
  { tool = "update_persona_name", id = "toolu_4", input = { name = " \n" } },
  { tool = "update_system_prompt", id = "toolu_5", input = { systemPrompt = "  " } },
  { tool = "create_test_input", id = "toolu_6", input = { content = "" } },
  { tool = "create_test_input", id = "toolu_7", input = { content = "\t" } },
  { tool = "update_test_input", id = "toolu_8", input = { id = "sum", content = " " } },
]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn it_empties_nothing() {
    on_each(EMPTIES, async |world| {
        world.put("test_input/sum", &json!({ "entity": { "content": "What is 2+2?" } })).await;
        let before = world.amend("persona/ada", &json!({ "test_inputs": ["sum"] })).await["revision"].clone();
        let events = world.tell("ada", "Empty it").await;
        let results = results(&events);
        assert_eq!(results.len(), 8);
        assert!(results[2..].iter().all(|(_, is_error)| *is_error), "{results:?}");
        assert!(results[3].0.contains("name is empty"), "{results:?}");
        assert_eq!(world.entity("persona/ada").await["revision"], before);
        assert_eq!(world.entity("test_input/sum").await["revision"], 1);
    })
    .await;
}
