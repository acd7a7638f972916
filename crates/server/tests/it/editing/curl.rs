//! The four curl examples of the design document, as written but for the port.

use std::process::{Command, Output};

use serde_json::Value;

use super::world::{World, on_each};

const OPTIMIST: &str = r#"
[[reply]]
when = { tool_result_of = "update_persona_name" }
text = "The name is Super Optimist now."
[[reply]]
when = { tool_result_of = "get_persona" }
text = "Its prompt: {{tool_result}}"
[[reply]]
when = { last_user = "Change the name to Super Optimist" }
say = [{ tool = "update_persona_name", id = "toolu_2", input = { name = "Super Optimist" } }]
[[reply]]
when = { last_user = "system prompt" }
say = [{ tool = "get_persona", id = "toolu_1", input = {} }]
[[reply]]
when = { last_user = "Hello, who are you?" }
text = "I help you edit this persona."
"#;

/// Runs a line of the document. `None` if this machine has no curl, unless it is one of CI.
fn curl(world: &World, line: &str) -> Option<String> {
    let line = line.replace("localhost:3000", &format!("localhost:{}", world.port));
    let ran = Command::new("sh").args(["-c", &format!("{line} --silent --show-error")]).output();
    let Output { status, stdout, stderr } = ran.expect("a shell");
    if status.code() == Some(127) {
        assert!(std::env::var_os("CI").is_none(), "curl is missing");
        eprintln!("curl is missing: its examples are not run");
        return None;
    }
    assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
    Some(String::from_utf8(stdout).expect("text"))
}

/// The data of the events in a stream.
fn events(stream: &str) -> Vec<Value> {
    let lines = stream.lines().filter(|line| !line.is_empty() && !line.starts_with(':'));
    let data = lines.map(|line| line.strip_prefix("data: ").unwrap_or_else(|| panic!("{line}")));
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

fn has(events: &[Value], kind: &str, field: &str, value: &str) -> bool {
    events.iter().any(|event| event["type"] == kind && event[field] == value)
}

fn is_done(events: &[Value]) -> bool {
    events.last().is_some_and(|last| last["type"] == "done")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_curl_examples_work() {
    on_each(OPTIMIST, async |world| {
        // Milestone 1: the agent responds.
        let Some(hello) = curl(
            world,
            r#"curl -X POST http://localhost:3000/api/persona-agent/chat \
  -H "Content-Type: application/json" \
  -d '{"personaId": "optimist", "message": "Hello, who are you?"}'"#,
        ) else {
            return;
        };
        let hello = events(&hello);
        assert!(hello.iter().any(|event| event["type"] == "text_delta") && is_done(&hello), "{hello:?}");
        assert!(!hello.iter().any(|event| event["type"] == "tool_call"), "{hello:?}");

        // Milestone 2: the agent reads data.
        let prompt = curl(
            world,
            r#"curl -X POST http://localhost:3000/api/persona-agent/chat \
  -H "Content-Type: application/json" \
  -d '{"personaId": "optimist", "message": "What is this personas system prompt?"}'"#,
        );
        let prompt = events(&prompt.expect("curl is there"));
        assert!(has(&prompt, "tool_call", "toolName", "get_persona") && is_done(&prompt), "{prompt:?}");
        assert!(has(&prompt, "tool_result", "toolUseId", "toolu_1"), "{prompt:?}");

        // Milestone 3: the agent modifies data, and the change persists.
        let renamed = curl(
            world,
            r#"curl -X POST http://localhost:3000/api/persona-agent/chat \
  -H "Content-Type: application/json" \
  -d '{"personaId": "optimist", "message": "Change the name to Super Optimist"}'"#,
        );
        let renamed = events(&renamed.expect("curl is there"));
        assert!(has(&renamed, "tool_call", "toolName", "update_persona_name"), "{renamed:?}");
        assert!(is_done(&renamed), "{renamed:?}");
        let stored = curl(world, "curl http://localhost:3000/api/storage/personas/optimist");
        let stored: Value = serde_json::from_str(&stored.expect("curl is there")).expect("JSON");
        assert_eq!((&stored["id"], &stored["name"]), (&"optimist".into(), &"Super Optimist".into()));
        let mut fields: Vec<&String> = stored.as_object().expect("an object").keys().collect();
        fields.sort();
        assert_eq!(
            fields,
            ["agentChatSessionId", "createdAt", "id", "name", "systemPrompt", "testInputIds", "updatedAt"]
        );

        // The builtin was copied, and the conversation goes on with the copy.
        let copy = world.entity("persona/optimist").await;
        assert_eq!((&copy["scope"], &copy["display_name"]), (&"shared".into(), &"Super Optimist".into()));
        assert_eq!(world.history("optimist").await.len(), 10);
    })
    .await;
}
