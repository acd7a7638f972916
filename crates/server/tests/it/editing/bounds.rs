//! What the agent may touch: one persona and its pieces, and nothing while it plans.

use serde_json::{Value, json};

use super::world::{calls, on_each, results, texts, types};
use crate::client::code;

fn offered(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().expect("tools");
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

const PLANS_AND_WRITES: &str = r#"
[[reply]]
when = { mode = "plan", tool_result_of = "update_persona_name" }
text = "I propose the name Grace."
[[reply]]
when = { mode = "plan" }
say = [{ tool = "update_persona_name", id = "toolu_1", input = { name = "Grace" } }]
[[reply]]
when = { tool_result_of = "update_persona_name" }
text = "Done."
[[reply]]
when = { last_user = "do it" }
say = [{ tool = "update_persona_name", id = "toolu_2", input = { name = "Grace" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_changes_nothing() {
    on_each(PLANS_AND_WRITES, async |world| {
        let events = world.plan("ada", "A better name?").await;
        assert!(!results(&events)[0].1 && results(&events)[0].0.contains("Nothing is saved"), "{events:?}");
        assert_eq!(events.last().expect("events")["type"], "done");
        assert_eq!(world.entity("persona/ada").await["revision"], 1);
        let sent = world.sent();
        let tools = offered(&sent[0]);
        for offered in
            ["get_persona", "list_test_inputs", "inspect_persona", "run_tests", "create_agent_part"]
        {
            assert!(tools.contains(&offered), "{tools:?}");
        }
        for absent in ["undo", "plan_exit", "delegate"] {
            assert!(!tools.contains(&absent), "{absent}: {tools:?}");
        }
        let system = sent[0]["system"].to_string();
        assert!(
            system.contains("Plan mode is on") && system.contains("a proposal, not a change"),
            "{system}"
        );

        // The agent itself can do it in a later message.
        let events = world.tell("ada", "do it").await;
        assert_eq!(texts(&events), ["Done."]);
        assert_eq!(world.stored("ada").await["name"], "Grace");
        assert!(!world.sent()[2]["system"].to_string().contains("Plan mode is on"));
    })
    .await;
}

const HELLO: &str = "[[reply]]\ntext = \"Hello.\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_are_those_of_the_editor() {
    on_each(HELLO, async |world| {
        world.tell("ada", "Hello").await;
        let sent = world.sent();
        let mut tools = offered(&sent[0]);
        tools.sort_unstable();
        insta::assert_snapshot!("the_tools_of_the_editor", tools.join("\n"));
        // What bounds a call is not the model's to say.
        for tool in sent[0]["tools"].as_array().expect("tools") {
            // A tool without fields has no properties.
            let fields = tool["input_schema"]["properties"].as_object().cloned().unwrap_or_default();
            for field in ["scope", "message", "if_revision", "force", "new_name", "persona"] {
                assert!(!fields.contains_key(field), "{} takes {field}", tool["name"]);
            }
        }
    })
    .await;
}

const REACHES_OUT: &str = r#"
[[reply]]
when = { call = 6 }
text = "None of that worked."
[[reply]]
when = { call = 5 }
say = [{ tool = "save_entity", id = "toolu_5", input = { kind = "tool_preset", name = "theirs", entity = { description = "Mine now." } } }]
[[reply]]
when = { call = 4 }
say = [{ tool = "save_entity", id = "toolu_4", input = { kind = "persona", name = "bob", entity = { summary = "Mine now." } } }]
[[reply]]
when = { call = 3 }
say = [{ tool = "update_agent_part", id = "toolu_3", input = { name = "foreign", summary = "Mine now." } }]
[[reply]]
when = { call = 2 }
say = [{ tool = "get_entity", id = "toolu_2", input = { kind = "part", name = "foreign" } }]
[[reply]]
say = [{ tool = "delete_test_input", id = "toolu_1", input = { id = "of-bob" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn other_personas_and_their_pieces_are_out_of_reach() {
    on_each(REACHES_OUT, async |world| {
        world.put("part/foreign", &json!({ "entity": { "part_type": "tone", "summary": "Theirs." } })).await;
        world.put("test_input/of-bob", &json!({ "entity": { "content": "Hi, Bob." } })).await;
        world.put("tool_preset/theirs", &json!({ "entity": { "description": "Theirs." } })).await;
        let bob = json!({ "summary": "Bob.", "parts": ["foreign"], "test_inputs": ["of-bob"] });
        world.put("persona/bob", &json!({ "entity": bob })).await;
        let events = world.tell("ada", "Take over everything").await;
        let results = results(&events);
        let errors: Vec<bool> = results.iter().map(|(_, is_error)| *is_error).collect();
        assert_eq!(errors, [true, false, true, true, true], "{results:?}");
        assert_eq!(calls(&events).len(), 5);
        for entity in ["part/foreign", "test_input/of-bob", "tool_preset/theirs", "persona/bob"] {
            assert_eq!(world.entity(entity).await["revision"], 1, "{entity}");
        }
        assert_eq!(world.entity("persona/ada").await["revision"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_request_is_refused() {
    on_each(HELLO, async |world| {
        let refused = async |method: &str, path: &str, body: Option<&Value>| {
            let (status, problem) = world.ask(method, path, body).await;
            (status, code(&problem).to_owned())
        };
        let chat = "/api/persona-agent/chat";
        let unknown = json!({ "personaId": "no-one", "message": "Hello" });
        assert_eq!(refused("POST", chat, Some(&unknown)).await, (404, "not_found".to_owned()));
        let clear = json!({ "personaId": "no-one" });
        let cleared = refused("POST", "/api/persona-agent/clear", Some(&clear)).await;
        assert_eq!(cleared, (404, "not_found".to_owned()));
        for path in ["/api/persona-agent/history?personaId=no-one", "/api/storage/personas/no-one"] {
            assert_eq!(refused("GET", path, None).await, (404, "not_found".to_owned()), "{path}");
        }
        let missing = (400, "missing_field".to_owned());
        assert_eq!(refused("POST", chat, Some(&json!({ "personaId": "ada" }))).await, missing);
        assert_eq!(refused("POST", chat, Some(&json!({ "message": "Hello" }))).await, missing);
        assert_eq!(refused("POST", "/api/persona-agent/clear", Some(&json!({}))).await, missing);
        assert_eq!(refused("GET", "/api/persona-agent/history", None).await, missing);
        let empty = json!({ "personaId": "ada", "message": "  " });
        assert_eq!(refused("POST", chat, Some(&empty)).await.0, 400);
        let undo = refused("POST", "/api/persona-agent/undo", Some(&json!({ "personaId": "ada" }))).await;
        assert_eq!(undo.1, "nothing_to_undo");
        assert!(world.stored("ada").await.get("agentChatSessionId").is_none(), "nothing was begun");
    })
    .await;
}

/// A project could define a `persona_editor` of its own. The shared one and the user's own count.
#[tokio::test(flavor = "multi_thread")]
async fn the_editor_itself_can_be_edited() {
    on_each(HELLO, async |world| {
        world.tell("ada", "Hello").await;
        world
            .amend("persona/persona_editor", &json!({ "system_prompt": "Edit {{persona_name}} gently." }))
            .await;
        let events = world.tell("ada", "Hello again").await;
        assert_eq!(types(&events), ["text_delta", "text_complete", "done"]);
        assert!(world.sent()[1]["system"].to_string().contains("Edit Ada gently."));
    })
    .await;
}
