//! Greetings: the first words of a persona in a session.

use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};

use crate::home::{Home, contains};
use crate::rehearsed::Rehearsed;
use crate::terminal::{CONTROL_D, ENTER};

const SCRIPT: &str = "[[reply]]\ntext = \"You said {{last_user}}.\"\n";

fn innkeeper() -> Rehearsed {
    let rehearsed = Rehearsed::new(SCRIPT);
    let greetings = ["--greeting", "Welcome, traveller.", "--greeting", "We are full tonight."];
    let create =
        ["create", "persona", "innkeeper", "--system-prompt", "You keep an inn.", "--scope", "shared"];
    rehearsed.ok(&[&create[..], &greetings].concat());
    rehearsed
}

/// The roles and texts sent to the model, without the system text.
fn conversation(request: &Value) -> Vec<(&str, &str)> {
    let messages = request["messages"].as_array().unwrap().iter().skip(1);
    messages.map(|it| (it["role"].as_str().unwrap(), it["content"].as_str().unwrap())).collect()
}

fn turns(rehearsed: &Rehearsed, id: &str) -> Vec<(String, String)> {
    let view: Value = serde_json::from_str(&rehearsed.ok(&["sessions", "show", id, "--json"])).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    view["turns"].as_array().unwrap().iter().map(|it| (text(&it["type"]), text(&it["content"]))).collect()
}

#[test]
fn a_chosen_greeting_is_stored_sent_and_shown() {
    let rehearsed = innkeeper();
    let answer = rehearsed.run(&["run", "innkeeper", "A room?", "--greeting", "2"]);
    contains(&answer.stderr, &["We are full tonight."]);
    assert_eq!(answer.ok(), "You said A room?.\n");
    let request = rehearsed.last_request();
    let [(first, _), greeting, message] = conversation(&request)[..] else { panic!("{request:#}") };
    assert_eq!(
        (first, greeting, message),
        ("user", ("assistant", "We are full tonight."), ("user", "A room?"))
    );

    let id = rehearsed.session();
    let types: Vec<(String, String)> = turns(&rehearsed, &id);
    assert_eq!(types[0], ("assistant_text".to_owned(), "We are full tonight.".to_owned()));
    assert_eq!(types.len(), 3);
    contains(&rehearsed.ok(&["sessions", "show", &id]), &["We are full tonight."]);
    // The first message names the session. A later message sends the greeting again.
    contains(&rehearsed.ok(&["sessions"]), &["A room?"]);
    rehearsed.ok(&["run", "innkeeper", "Really?", "--session", &id]);
    assert_eq!(conversation(&rehearsed.last_request())[1], ("assistant", "We are full tonight."));
}

#[test]
fn a_program_gets_the_greeting_as_an_event() {
    let rehearsed = innkeeper();
    let lines = rehearsed.ok(&["run", "innkeeper", "A room?", "--greeting", "1", "--json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["type"], &events[1]["type"]), (&json!("session"), &json!("text_complete")));
    assert_eq!((&events[1]["content"], &events[1]["eventId"]), (&json!("Welcome, traveller."), &json!("1")));
}

#[test]
fn without_a_terminal_there_is_no_greeting_by_default() {
    let rehearsed = innkeeper();
    rehearsed.ok(&["run", "innkeeper", "A room?"]);
    assert_eq!(conversation(&rehearsed.last_request()), [("user", "A room?")]);
    rehearsed.run_with_input(&["chat", "innkeeper"], "A bed?\n").ok();
    assert_eq!(conversation(&rehearsed.last_request()), [("user", "A bed?")]);
}

#[test]
fn an_unknown_number_is_refused_with_the_range() {
    let rehearsed = innkeeper();
    let refused = |persona: &str, number: &str| -> Value {
        let answer = rehearsed.run(&["run", persona, "Hello?", "--greeting", number, "--json"]);
        serde_json::from_str(&answer.fails(3)).unwrap()
    };
    let error = refused("innkeeper", "3");
    assert_eq!(error["error"]["code"], "unknown_greeting");
    assert_eq!(error["error"]["candidates"], json!(["1", "2"]));
    assert_eq!(error["error"]["subject"]["name"], "innkeeper");
    assert_eq!(refused("worker", "1")["error"].get("candidates"), None);
    assert!(rehearsed.requests().is_empty());
    assert_eq!(rehearsed.ok(&["sessions"]), "", "a refused run leaves no session");
}

#[test]
fn a_chat_on_a_terminal_opens_with_the_first_greeting() {
    let rehearsed = innkeeper();
    let mut chat = rehearsed.terminal(&["chat", "innkeeper"]);
    chat.sees("Welcome, traveller.").sees("innkeeper build ›").presses("A room?").presses(ENTER);
    chat.sees("You said A room?.").sees("innkeeper build ›").presses(CONTROL_D);
    assert_eq!(chat.ends().0, 0);
    assert_eq!(turns(&rehearsed, &rehearsed.session())[0].1, "Welcome, traveller.");

    // A session without a message is not stored.
    let mut left = rehearsed.terminal(&["chat", "innkeeper", "--greeting", "2"]);
    left.sees("We are full tonight.").sees("innkeeper build ›").presses(CONTROL_D);
    assert_eq!(left.ends().0, 0);
    rehearsed.session();
    let mut quiet = rehearsed.terminal(&["chat", "innkeeper", "--greeting", "0"]);
    quiet.sees("innkeeper build ›").presses(CONTROL_D);
    let (code, seen) = quiet.ends();
    assert_eq!(code, 0);
    assert!(!seen.contains("Welcome"), "{seen}");
}

/// Every protocol requires a first message from the user.
#[tokio::test(flavor = "multi_thread")]
async fn every_protocol_takes_a_greeting() {
    let model = Rehearsal::start_local(Script::parse(SCRIPT).unwrap()).await.unwrap();
    for (kind, path, messages, role) in [
        ("anthropic", "", "messages", "assistant"),
        ("openai-chat", "/v1", "messages", "assistant"),
        ("openai-responses", "/v1", "input", "assistant"),
        ("gemini", "", "contents", "model"),
    ] {
        let home = Home::new();
        let url = model.url();
        home.write(
            ".config/masque/config.toml",
            &format!("[providers.test]\nkind = \"{kind}\"\nbase_url = \"{url}{path}\"\nmodels = [\"m\"]\n"),
        );
        home.ok(&["create", "persona", "guide", "--summary", "You guide.", "--greeting", "Welcome."]);
        model.clear();
        assert_eq!(home.ok(&["run", "guide", "Hello", "--greeting", "1"]), "You said Hello.\n", "{kind}");
        let body = model.requests().pop().unwrap().body;
        let said: Vec<&Value> =
            body[messages].as_array().unwrap().iter().filter(|it| it["role"] != "system").collect();
        let roles: Vec<&str> = said.iter().map(|it| it["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", role, "user"], "{kind}: {body:#}");
        assert!(said[1].to_string().contains("Welcome."), "{kind}: {body:#}");
    }
}
