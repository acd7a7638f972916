//! Servers with files: changes take effect without a restart, and writes go to the right scope.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, contains};
use crate::wire::{Client, PATIENCE, Server, start_mcp_with};

fn shop() -> Home {
    let home = Home::new();
    home.write("shop/personas.toml", "[personas.coder]\nsummary = \"One.\"\n");
    home
}

fn summary(client: &mut impl Client) -> Value {
    client.ask("get_agent_persona", json!({ "name": "coder" }))["summary"].clone()
}

/// Repeats a request until it returns the expected answer.
#[track_caller]
fn until(mut answer: impl FnMut() -> Value, expected: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = answer();
        if answer == expected {
            return;
        }
        assert!(Instant::now() < deadline, "it is {answer}, not {expected}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_edit_by_hand_reaches_a_client_over_pipes() {
    let home = shop();
    let (_process, mut mcp) = start_mcp_with(&home, &["--project", "shop"]);
    assert_eq!(summary(&mut mcp), "One.");
    home.write("shop/personas.toml", "[personas.coder]\nsummary = \"Two.\"\n");
    until(|| summary(&mut mcp), "Two.");
    // Programs create in shared, even if a project is open.
    let created = mcp.ask("create_agent_skill", json!({ "name": "look", "content": "Look." }));
    assert_eq!(created["scope"], "shared");
    let created =
        mcp.ask("create_agent_skill", json!({ "name": "see", "content": "See.", "scope": "project" }));
    assert_eq!(created["scope"], "project");
    contains(&home.read("shop/personas.toml"), &["[skills.see]", "Two."]);
}

#[test]
fn an_edit_by_hand_reaches_a_client_over_http() {
    let home = shop();
    let server = Server::start_with(&home, &["--project", "shop"]);
    let mut client = server.connect();
    assert_eq!(summary(&mut client), "One.");
    home.write("shop/personas.toml", "[personas.coder]\nsummary = \"Two.\"\n");
    until(|| summary(&mut client), "Two.");
    // An invalid edit keeps the old version until it is fixed.
    home.write("shop/personas.toml", "[personas.coder]\nsummary = \"Thr\n");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(summary(&mut client), "Two.");
    home.write("shop/personas.toml", "[personas.coder]\nsummary = \"Three.\"\n");
    until(|| summary(&mut client), "Three.");
}

#[test]
fn a_server_reports_broken_files_at_start() {
    let home = shop();
    home.write("shop/personas.toml", "[personas.coder]\nsummary = \"One\n");
    let server = Server::start_with(&home, &["--project", "shop"]);
    server.connect().ask("get_agent_persona", json!({ "name": "mentor" }));
    let (code, errors) = server.running.stop();
    assert_eq!(code, Some(0));
    contains(&errors, &["warnings", "shop/personas.toml", "\"line\":2"]);
}

#[test]
fn a_server_keeps_the_configured_history() {
    let home = Home::new();
    home.ok(&["create", "skill", "look", "--content", "One."]);
    home.ok(&["update", "skill", "look", "--content", "Two."]);
    home.write(".config/masque/config.toml", "[history]\nkeep = 1\n");
    let _server = Server::start_with(&home, &[]);
    let kept =
        || home.json(&["history", "skill", "look"])["items"].as_array().unwrap().len().to_string().into();
    until(kept, "1");
}
