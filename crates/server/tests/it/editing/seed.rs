//! The test cases of the design document of the editing agent, by name.

use serde_json::{Value, json};

use super::world::{World, calls, on_each, redacted, results, texts, types};

/// The blocks of the messages that a model was sent: role, then text or type.
fn conversation(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().expect("messages");
    let blocks = messages.iter().flat_map(|message| {
        let role = message["role"].as_str().expect("a role");
        let blocks = message["content"].as_array().expect("blocks");
        blocks.iter().map(move |block| {
            let text = block["text"].as_str().or(block["type"].as_str()).expect("a text or a type");
            format!("{role}: {text}")
        })
    });
    blocks.collect()
}

fn system(body: &Value) -> String {
    let pieces = body["system"].as_array().expect("system text").iter();
    pieces.filter_map(|piece| piece["text"].as_str()).collect::<Vec<_>>().join("\n")
}

async fn test_input(world: &World, id: &str, content: &str) {
    world.put(&format!("test_input/{id}"), &json!({ "entity": { "content": content } })).await;
    let linked = world.entity("persona/ada").await["test_inputs"].clone();
    let mut linked = linked.as_array().cloned().unwrap_or_default();
    linked.push(id.into());
    world.amend("persona/ada", &json!({ "test_inputs": linked })).await;
}

const ASKED_FOR_NAME: &str = r#"
[[reply]]
when = { tool_result_of = "get_persona" }
text = "It is called Ada: {{tool_result}}"
[[reply]]
when = { last_user = "name", tools = ["get_persona", "update_persona_name", "undo"] }
say = [{ tool = "get_persona", id = "toolu_1", input = {} }]
"#;

// Basic agent flow

#[tokio::test(flavor = "multi_thread")]
async fn should_respond_to_a_simple_message() {
    on_each(ASKED_FOR_NAME, async |world| {
        assert_eq!(world.history("ada").await, Vec::<Value>::new(), "never used");
        assert!(world.stored("ada").await.get("agentChatSessionId").is_none());
        let events = world.tell("ada", "What is this persona's name?").await;
        insta::assert_snapshot!("should_respond_to_a_simple_message", redacted(&events));
        assert_eq!(calls(&events), [("get_persona", &json!({}))]);
        let expected = json!({ "name": "Ada", "systemPrompt": "You are Ada.", "testInputIds": [] });
        assert_eq!(serde_json::from_str::<Value>(results(&events)[0].0).expect("JSON"), expected);
        assert!(texts(&events)[0].contains("Ada"));

        // The turns are saved, in the same shapes.
        let mut turns = world.history("ada").await;
        assert_eq!(types(&turns), ["user", "tool_call", "tool_result", "assistant_text"]);
        assert!(turns.iter().all(|turn| turn["createdAt"].is_string() && turn["id"].is_string()));
        assert_eq!(turns[1]["id"], events[0]["id"], "a turn has the id of its event");
        turns.iter_mut().for_each(crate::client::redact);
        let turns = turns.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!("turns_of_a_simple_message", turns);

        // It is a session of the runtime.
        let id = world.stored("ada").await["agentChatSessionId"].as_str().expect("an id").to_owned();
        let (status, session) = world.ask("GET", &format!("/api/sessions/{id}"), None).await;
        assert_eq!(status, 200, "{session}");
        assert_eq!((&session["persona"], &session["edits"]), (&json!("persona_editor"), &json!("ada")));

        // The model was told which persona it edits.
        let sent = world.sent();
        let system = system(&sent[0]);
        assert!(system.contains("Id: ada\nName: Ada\n") && !system.contains("{{"), "{system}");
        assert!(system.contains("## What makes a good persona"), "{system}");
        let messages = ["user: What is this persona's name?", "assistant: tool_use", "user: tool_result"];
        assert_eq!(conversation(&sent[1]), messages);
    })
    .await;
}

// Tool use: read operations

const ASKED_FOR_PROMPT: &str = r#"
[[reply]]
when = { tool_result_of = "get_persona" }
text = "Here it is: {{tool_result}}"
[[reply]]
say = [{ text = "I look." }, { tool = "get_persona", id = "toolu_1", input = {} }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_use_get_persona_tool_when_asked_about_the_persona() {
    on_each(ASKED_FOR_PROMPT, async |world| {
        let events = world.tell("ada", "Show me the current system prompt").await;
        insta::assert_snapshot!(
            "should_use_get_persona_tool_when_asked_about_the_persona",
            redacted(&events)
        );
        assert_eq!(calls(&events), [("get_persona", &json!({}))]);
        assert!(texts(&events)[1].contains("You are Ada."));
    })
    .await;
}

const LISTS: &str = r#"
[[reply]]
when = { tool_result_of = "list_test_inputs" }
text = "You have: {{tool_result}}"
[[reply]]
say = [{ tool = "list_test_inputs", id = "toolu_1", input = {} }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_use_list_test_inputs_tool() {
    on_each(LISTS, async |world| {
        test_input(world, "sum", "What is 2+2?").await;
        test_input(world, "capital", "What is the capital of France?").await;
        let events = world.tell("ada", "What test inputs do I have?").await;
        insta::assert_snapshot!("should_use_list_test_inputs_tool", redacted(&events));
        let expected = json!({ "testInputs": [
            { "id": "sum", "content": "What is 2+2?" },
            { "id": "capital", "content": "What is the capital of France?" },
        ] });
        assert_eq!(serde_json::from_str::<Value>(results(&events)[0].0).expect("JSON"), expected);
        assert!(texts(&events)[0].contains("What is the capital of France?"));
    })
    .await;
}

// Tool use: write operations

const RENAMES: &str = r#"
[[reply]]
when = { tool_result_of = "update_persona_name" }
text = "Done. It is Helpful Assistant now."
[[reply]]
say = [{ tool = "update_persona_name", id = "toolu_1", input = { name = "Helpful Assistant" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_update_persona_name() {
    on_each(RENAMES, async |world| {
        let events = world.tell("ada", "Change the name to 'Helpful Assistant'").await;
        insta::assert_snapshot!("should_update_persona_name", redacted(&events));
        assert_eq!(calls(&events), [("update_persona_name", &json!({ "name": "Helpful Assistant" }))]);
        let stored = world.stored("ada").await;
        assert_eq!((&stored["id"], &stored["name"]), (&json!("ada"), &json!("Helpful Assistant")));
        assert_eq!(stored["systemPrompt"], "You are Ada.");
        // The message is the reason, and the user the author.
        let revision = world.revision("persona/ada").await;
        assert_eq!(revision["message"], "Change the name to 'Helpful Assistant'");
        assert_eq!((&revision["author"], &revision["front"]), (&json!("tester"), &json!("editor")));
    })
    .await;
}

const EXTENDS_PROMPT: &str = r#"
[[reply]]
when = { tool_result_of = "update_system_prompt" }
text = "Added."
[[reply]]
when = { tool_result_of = "get_persona" }
say = [{ tool = "update_system_prompt", id = "toolu_2", input = { systemPrompt = "You are Ada.\nBe concise." } }]
[[reply]]
say = [{ tool = "get_persona", id = "toolu_1", input = {} }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_update_system_prompt() {
    on_each(EXTENDS_PROMPT, async |world| {
        let events = world.tell("ada", "Add 'Be concise' to the system prompt").await;
        insta::assert_snapshot!("should_update_system_prompt", redacted(&events));
        let names: Vec<&str> = calls(&events).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["get_persona", "update_system_prompt"]);
        assert_eq!(world.entity("persona/ada").await["system_prompt"], "You are Ada.\nBe concise.");
    })
    .await;
}

const CREATES: &str = r#"
[[reply]]
when = { tool_result_of = "create_test_input" }
text = "Added."
[[reply]]
say = [{ tool = "create_test_input", id = "toolu_1", input = { content = "What is 2+2?" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_create_test_input() {
    on_each(CREATES, async |world| {
        let events = world.tell("ada", "Add a test input: 'What is 2+2?'").await;
        insta::assert_snapshot!("should_create_test_input", redacted(&events));
        assert_eq!(calls(&events), [("create_test_input", &json!({ "content": "What is 2+2?" }))]);
        let made: Value = serde_json::from_str(results(&events)[0].0).expect("JSON");
        assert_eq!(made, json!({ "id": "what-is-2-2", "content": "What is 2+2?" }));
        assert_eq!(world.entity("test_input/what-is-2-2").await["content"], "What is 2+2?");
        assert_eq!(world.stored("ada").await["testInputIds"], json!(["what-is-2-2"]));
        // The same content again gets an id of its own.
        world.tell("ada", "Once more").await;
        assert_eq!(world.stored("ada").await["testInputIds"], json!(["what-is-2-2", "what-is-2-2-2"]));
    })
    .await;
}

const DELETES: &str = r#"
[[reply]]
when = { tool_result_of = "delete_test_input" }
text = "Deleted."
[[reply]]
when = { tool_result_of = "list_test_inputs" }
say = [{ tool = "delete_test_input", id = "toolu_2", input = { id = "sum" } }]
[[reply]]
say = [{ tool = "list_test_inputs", id = "toolu_1", input = {} }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_delete_test_input() {
    on_each(DELETES, async |world| {
        test_input(world, "sum", "What is 2+2?").await;
        test_input(world, "capital", "What is the capital of France?").await;
        // Another persona links it too.
        world.put("persona/bob", &json!({ "entity": { "summary": "Bob.", "test_inputs": ["sum"] } })).await;
        let events = world.tell("ada", "Delete the test input about math").await;
        insta::assert_snapshot!("should_delete_test_input", redacted(&events));
        let names: Vec<&str> = calls(&events).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["list_test_inputs", "delete_test_input"]);
        assert_eq!(world.status_of("test_input/sum").await, 404);
        assert_eq!(world.stored("ada").await["testInputIds"], json!(["capital"]));
        assert_eq!(world.stored("bob").await["testInputIds"], json!([]), "unlinked everywhere");
    })
    .await;
}

// Agentic loop

const LISTS_AND_CREATES: &str = r#"
[[reply]]
when = { tool_result_of = "create_test_input" }
text = "Here they are, and I added one about coding."
[[reply]]
when = { tool_result_of = "list_test_inputs" }
say = [
  { text = "You have one. I add another." },
  { tool = "create_test_input", id = "toolu_2", input = { content = "Reverse a string in Rust." } },
]
[[reply]]
say = [{ tool = "list_test_inputs", id = "toolu_1", input = {} }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_handle_multi_step_tasks() {
    on_each(LISTS_AND_CREATES, async |world| {
        test_input(world, "sum", "What is 2+2?").await;
        let events = world.tell("ada", "Show me all test inputs and add a new one about coding").await;
        insta::assert_snapshot!("should_handle_multi_step_tasks", redacted(&events));
        let names: Vec<&str> = calls(&events).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["list_test_inputs", "create_test_input"]);
        assert_eq!(types(&events).iter().filter(|kind| **kind == "done").count(), 1, "one turn of the agent");
        let ids = json!(["sum", "reverse-a-string-in-rust"]);
        assert_eq!(world.stored("ada").await["testInputIds"], ids);
    })
    .await;
}

const LOOPS: &str = r#"
[[reply]]
when = { call = 4 }
text = "All done."
[[reply]]
when = { call = 3 }
say = [{ tool = "create_test_input", id = "toolu_4", input = { content = "Hello?" } }]
[[reply]]
when = { call = 2 }
say = [{ tool = "update_system_prompt", id = "toolu_3", input = { systemPrompt = "You are Ada Lovelace." } }]
[[reply]]
say = [
  { text = "First I look." },
  { tool = "get_persona", id = "toolu_1", input = {} },
  { tool = "list_test_inputs", id = "toolu_2", input = {} },
]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_loop_until_end_turn() {
    on_each(LOOPS, async |world| {
        let events = world.tell("ada", "Tidy up the whole persona").await;
        insta::assert_snapshot!("should_loop_until_end_turn", redacted(&events));
        // tool_use, tool_use, tool_use, end_turn: four calls of the model.
        assert_eq!(world.sent().len(), 4);
        assert_eq!(events.last().expect("events")["type"], "done");
        let turns = world.history("ada").await;
        let expected = [
            "user",
            "assistant_text",
            "tool_call",
            "tool_call",
            "tool_result",
            "tool_result",
            "tool_call",
            "tool_result",
            "tool_call",
            "tool_result",
            "assistant_text",
        ];
        assert_eq!(types(&turns), expected, "every result is in the turns");
    })
    .await;
}

// Streaming

const SPEAKS: &str = r#"
[[reply]]
tokens_per_second = 200
text = "I am the editor of this persona, one word after the other."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_stream_text_deltas() {
    on_each(SPEAKS, async |world| {
        let events = world.tell("ada", "Who are you?").await;
        insta::assert_snapshot!("should_stream_text_deltas", redacted(&events));
        let deltas: Vec<&str> = events
            .iter()
            .filter(|event| event["type"] == "text_delta")
            .filter_map(|event| event["content"].as_str())
            .collect();
        assert!(deltas.len() > 3, "it arrives in pieces: {deltas:?}");
        assert_eq!(types(&events), ["text_delta", "text_complete", "done"]);
        assert_eq!(deltas.concat(), texts(&events)[0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn should_stream_tool_calls_and_results() {
    on_each(ASKED_FOR_PROMPT, async |world| {
        let events = world.tell("ada", "Show me the current system prompt").await;
        let expected = [
            "text_delta",
            "text_complete",
            "tool_call",
            "tool_result",
            "text_delta",
            "text_complete",
            "done",
        ];
        assert_eq!(types(&events), expected);
        insta::assert_snapshot!("should_stream_tool_calls_and_results", redacted(&events));
    })
    .await;
}

// Session persistence

const REMEMBERS: &str = r#"
[[reply]]
when = { call = 2 }
text = "You said it before."
[[reply]]
text = "Noted: {{last_user}}"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_persist_conversation_across_requests() {
    on_each(REMEMBERS, async |world| {
        let first = world.tell("ada", "My favourite colour is green.").await;
        let second = world.tell("ada", "What did I say?").await;
        insta::assert_snapshot!(
            "should_persist_conversation_across_requests",
            format!("{}\n\n{}", redacted(&first), redacted(&second))
        );
        let sent = world.sent();
        let messages = [
            "user: My favourite colour is green.",
            "assistant: Noted: My favourite colour is green.",
            "user: What did I say?",
        ];
        assert_eq!(conversation(&sent[1]), messages);
        let turns = world.history("ada").await;
        assert_eq!(types(&turns), ["user", "assistant_text", "user", "assistant_text"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn should_clear_conversation_and_start_fresh() {
    on_each(REMEMBERS, async |world| {
        let before = world.tell("ada", "My favourite colour is green.").await;
        let old = world.stored("ada").await["agentChatSessionId"].clone();
        let new = world.clear("ada").await;
        assert_ne!(json!(new), old);
        assert_eq!(world.stored("ada").await["agentChatSessionId"], json!(new), "linked at once");
        assert_eq!(world.history("ada").await, Vec::<Value>::new());
        let after = world.tell("ada", "What did I say?").await;
        insta::assert_snapshot!(
            "should_clear_conversation_and_start_fresh",
            format!("{}\n\n{}", redacted(&before), redacted(&after))
        );
        assert_eq!(conversation(&world.sent()[1]), ["user: What did I say?"], "no memory");
        assert_eq!(world.stored("ada").await["agentChatSessionId"], json!(new));
        // The old conversation stays among the sessions.
        let old = old.as_str().expect("an id");
        let (status, session) = world.ask("GET", &format!("/api/sessions/{old}"), None).await;
        assert_eq!((status, session["turns"].as_array().map(Vec::len)), (200, Some(2)));
    })
    .await;
}

// Error handling

const FAILS: &str = r#"
[[reply]]
when = { tool_result_of = "get_test_input", tool_result = "not linked" }
text = "There is no such test input."
[[reply]]
say = [{ tool = "get_test_input", id = "toolu_1", input = { id = "missing" } }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn should_handle_tool_execution_errors_gracefully() {
    on_each(FAILS, async |world| {
        let events = world.tell("ada", "Show me the test input 'missing'").await;
        insta::assert_snapshot!("should_handle_tool_execution_errors_gracefully", redacted(&events));
        assert_eq!(results(&events).len(), 1);
        assert!(results(&events)[0].1, "an error result");
        assert_eq!(texts(&events), ["There is no such test input."], "the agent goes on");
        let turns = world.history("ada").await;
        let result = turns.iter().find(|turn| turn["type"] == "tool_result").expect("a result");
        assert_eq!(result["isError"], true);
    })
    .await;
}
