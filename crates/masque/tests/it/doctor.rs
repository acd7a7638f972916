//! `doctor`.

use serde_json::json;

use crate::home::{Home, contains};

#[test]
fn a_new_home_is_well() {
    let home = Home::new();
    let report = home.run(&["doctor"]);
    contains(&report.stdout, &["masque 0.", "not there yet", "server", "claude-code", "not found"]);
    assert!(!home.path(".local/share/masque/masque.db").exists(), "a check makes nothing");
    home.ok(&["list"]);
    let report = home.json(&["doctor"]);
    assert_eq!(report["database"]["state"], "answers");
    assert_eq!((&report["database"]["writable"], &report["problems"]), (&json!(true), &json!([])));
    assert_eq!(report["database"]["info"]["journal_mode"], "wal");
    contains(&home.ok(&["doctor"]), &["sqlite", "Nothing is wrong."]);
}

#[test]
fn clients_are_found() {
    let home = Home::new();
    home.write(".codex/config.toml", "model = 'x'\n");
    home.ok(&["connect", "cursor"]);
    let report = home.ok(&["doctor"]);
    contains(&report, &["connected: starts", "there, not connected; `masque connect codex`"]);
}

#[test]
fn faults_are_named_with_what_to_do() {
    let home = Home::new();
    home.write(".cursor/mcp.json", r#"{"mcpServers": {"masque": {"command": "/nowhere/masque"}}}"#);
    home.write("text.db", "this is no database, but a text that is longer than a header");
    let report = home.run(&["--db", "text.db", "doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    contains(
        &report.stdout,
        &["problem:", "/nowhere/masque, which is not there", "masque connect cursor", "text.db"],
    );
    let report = home.run(&["--db", "text.db", "doctor", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!((report.code, value["problems"].as_array().unwrap().len()), (1, 2), "{value:#}");
    assert_eq!(value["database"]["state"], "does not open");
}
