//! `masque edit --chat`: an agent edits a persona.

use serde_json::Value;

use crate::home::contains;
use crate::rehearsed::{Rehearsed, tools};

const SCRIPT: &str = r##"
[[reply]]
when = { mode = "plan" }
text = "I would call it Dry Worker."

[[reply]]
when = { tool_result_of = "update_system_prompt" }
text = "It is drier now."

[[reply]]
when = { tool_result_of = "get_persona" }
say = [{ tool = "update_system_prompt", input = { systemPrompt = "You are the dry worker." } }]

[[reply]]
when = { last_user = "drier" }
say = [{ text = "Let me look." }, { tool = "get_persona", input = {} }]

[[reply]]
when = { last_user = "too much" }
text = "An answer that is"
stop = "max_tokens"

[[reply]]
text = "You said: {{last_user}}"
"##;

const FILE: &str = ".config/masque/personas.toml";

#[test]
fn an_agent_edits_a_persona() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let before = rehearsed.home.read(FILE);
    let answer = rehearsed.run(&["edit", "worker", "--chat", "make the tone drier"]);
    assert_eq!(answer.stdout, "Let me look.\n\nIt is drier now.\n");
    contains(&answer.stderr, &["✓ get_persona", "✓ update_system_prompt", "The system prompt was replaced."]);
    assert_eq!(answer.code, 0);
    contains(&rehearsed.home.read(FILE), &["You are the dry worker.", "You are the other one."]);
    let history: Value = serde_json::from_str(&rehearsed.ok(&["history", "worker", "--json"])).expect("JSON");
    assert_eq!(history["items"][0]["message"], "make the tone drier");
    assert_eq!(history["items"][0]["front"], "editor");

    // The conversation goes on until it is cleared.
    rehearsed.ok(&["edit", "worker", "--chat", "hello"]);
    let messages = |request: &Value| request["messages"].as_array().expect("messages").len();
    let request = rehearsed.last_request();
    assert!(messages(&request) > 3, "{request}");
    assert!(tools(&request).iter().all(|tool| *tool != "write_file"), "{request}");
    rehearsed.ok(&["edit", "worker", "--chat", "hello", "--clear"]);
    assert_eq!(messages(&rehearsed.last_request()), 2, "the system text and the message");
    rehearsed.refused("nothing_to_undo", &["edit", "worker", "--undo"]);
    assert_ne!(rehearsed.home.read(FILE), before);
}

#[test]
fn its_last_turn_is_taken_back() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let before = rehearsed.home.read(FILE);
    rehearsed.ok(&["edit", "worker", "--chat", "make the tone drier"]);
    assert_eq!(rehearsed.ok(&["edit", "worker", "--undo"]), "restored persona worker (global)\n");
    assert_eq!(rehearsed.home.read(FILE), before);
    rehearsed.refused("nothing_to_undo", &["edit", "worker", "--undo"]);
    // Edits by hand stay.
    rehearsed.ok(&["edit", "worker", "--chat", "make the tone drier"]);
    rehearsed.ok(&["update", "persona", "worker", "--summary", "By hand."]);
    let undone: Value =
        serde_json::from_str(&rehearsed.ok(&["edit", "worker", "--undo", "--json"])).expect("JSON");
    assert_eq!(
        (&undone["undone"], &undone["kept"][0]["reason"]),
        (&Value::Array(Vec::new()), &"changed_since".into())
    );
    contains(&rehearsed.home.read(FILE), &["You are the dry worker.", "By hand."]);
}

#[test]
fn a_plan_and_an_early_end() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let before = rehearsed.home.read(FILE);
    let answer = rehearsed.ok(&["edit", "worker", "--chat", "make the tone drier", "--plan"]);
    assert_eq!(answer, "I would call it Dry Worker.\n");
    assert_eq!(rehearsed.home.read(FILE), before);
    assert_eq!(rehearsed.run(&["edit", "worker", "--chat", "too much"]).code, 7);
    rehearsed.refused("not_found", &["edit", "nothing", "--chat", "hello"]);
    rehearsed.refused("not_for_kind", &["edit", "part", "calm", "--chat", "hello"]);
    let events = rehearsed.ok(&["edit", "worker", "--chat", "hello", "--json"]);
    let first: Value = serde_json::from_str(events.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["type"], &first["persona"]), (&"session".into(), &"persona_editor".into()));
}
