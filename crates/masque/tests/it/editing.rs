//! `masque edit --chat`: an agent edits a persona.

use serde_json::Value;

use crate::home::contains;
use crate::rehearsed::{Rehearsed, tools};

const SCRIPT: &str = r##"
[[reply]]
when = { mode = "plan", tool_result_of = "update_persona_name" }
text = "I would call it Dry Worker."

[[reply]]
when = { mode = "plan", last_user = "name" }
say = [{ tool = "update_persona_name", input = { name = "Dry Worker" } }]

[[reply]]
when = { mode = "plan" }
text = "I would change nothing."

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
    assert_eq!(answer, "I would change nothing.\n");
    assert_eq!(rehearsed.home.read(FILE), before);
    rehearsed.refused("no_proposal", &["edit", "worker", "--apply"]);
    assert_eq!(rehearsed.run(&["edit", "worker", "--chat", "too much"]).code, 7);
    rehearsed.refused("not_found", &["edit", "nothing", "--chat", "hello"]);
    rehearsed.refused("not_for_kind", &["edit", "part", "calm", "--chat", "hello"]);
    let events = rehearsed.ok(&["edit", "worker", "--chat", "hello", "--json"]);
    let first: Value = serde_json::from_str(events.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["type"], &first["persona"]), (&"session".into(), &"persona_editor".into()));
}

#[test]
fn a_proposal_is_shown_and_applied() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let before = rehearsed.home.read(FILE);
    let propose = &["edit", "worker", "--chat", "a better name", "--plan"];
    let answer = rehearsed.run(propose);
    contains(&answer.stdout, &["I would call it Dry Worker.\n", "--- persona worker (global) revision "]);
    contains(&answer.stdout, &["+++ persona worker (global) proposed\n", "+display_name = \"Dry Worker\"\n"]);
    contains(&answer.stderr, &["masque edit worker --apply"]);
    assert_eq!((answer.code, rehearsed.home.read(FILE)), (0, before.clone()));
    // Applied in another process, and taken back as one step.
    let applied = rehearsed.ok(&["edit", "worker", "--apply"]);
    contains(&applied, &["+display_name = \"Dry Worker\"\n", "applied persona worker (global), revision "]);
    contains(&rehearsed.home.read(FILE), &["Dry Worker"]);
    rehearsed.refused("no_proposal", &["edit", "worker", "--apply"]);
    rehearsed.ok(&["edit", "worker", "--undo"]);
    assert_eq!(rehearsed.home.read(FILE), before);

    // An edit in between keeps it out.
    let lines = rehearsed.ok(&["edit", "worker", "--chat", "a better name", "--plan", "--json"]);
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        (&last["type"], &last["proposal"]["changes"][0]["name"]),
        (&"proposal".into(), &"worker".into())
    );
    rehearsed.ok(&["update", "persona", "worker", "--summary", "By hand."]);
    rehearsed.refused("stale_revision", &["edit", "worker", "--apply"]);
    assert!(!rehearsed.home.read(FILE).contains("Dry Worker"));
}
