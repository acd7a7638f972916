//! The shapes of JSON output, on which programs rely.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::home::Home;

/// The shape of a value: its keys and types, without its content.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), shape(value))).collect())
        }
        // The largest entry represents a list.
        Value::Array(items) => {
            let largest = items.iter().map(shape).max_by_key(|shape| shape.to_string().len());
            Value::Array(largest.into_iter().collect())
        }
        Value::String(_) => json!("text"),
        Value::Number(_) => json!("number"),
        Value::Bool(_) => json!("bool"),
        Value::Null => Value::Null,
    }
}

#[test]
fn reading() {
    let home = Home::new();
    let answers = json!({
        "list": shape(&home.json(&["list", "parts", "--limit", "2"])),
        "search": shape(&home.json(&["search", "hint"])),
        "show persona": shape(&home.json(&["show", "mentor"])),
        "show persona --detail": shape(&home.json(&["show", "mentor", "--detail"])),
        "show persona --max-tokens": shape(&home.json(&["show", "mentor", "--max-tokens", "200"])),
        "show persona --compiled": shape(&home.json(&["show", "mentor", "--compiled"])),
        "show guardrail": shape(&home.json(&["show", "guardrail", "learner-owns-the-work"])),
        "show arc": shape(&home.json(&["show", "arc", "mentors-path"])),
        "show persona --explain": shape(&home.json(&["show", "mentor", "--explain"])),
        "show persona --flat": shape(&home.json(&["show", "mentor", "--flat"])),
        "show tool preset": shape(&home.json(&["show", "tool-preset", "read_only"])),
        "manifest": shape(&home.json(&["manifest", "mentor"])),
        "compile": shape(&home.json(&["compile", "mentor"])),
    });
    assert_json_snapshot!(answers);
}

#[test]
fn writing() {
    let home = Home::new();
    let persona = ["create", "persona", "p", "--part", "plain-tone"];
    let answers = json!({
        "create": home.json(&["create", "part", "a", "--type", "tone", "--content", "c"]),
        "create persona": shape(&home.json(&persona)),
        "update": home.json(&["update", "part", "a", "--summary", "s"]),
        "update, unchanged": home.json(&["update", "part", "a", "--summary", "s"]),
        "link": home.json(&["link", "p", "part", "a"]),
        "arc assign": shape(&home.json(&["arc", "assign", "p", "mentors-path"])),
        "arc unassign": shape(&home.json(&["arc", "unassign", "p"])),
        "delete --force": home.json(&["delete", "part", "a", "--force"]),
        "delete, not there": home.json(&["delete", "part", "a"]),
    });
    assert_json_snapshot!(answers);
}

#[test]
fn the_past() {
    let home = Home::new();
    home.ok(&["create", "persona", "p", "--summary", "one", "--message", "why"]);
    home.ok(&["update", "persona", "p", "--summary", "two"]);
    let answers = json!({
        "tag": home.json(&["tag", "p", "1", "first"]),
        "history": shape(&home.json(&["history", "p"])),
        "diff": home.json(&["diff", "p"]),
        "compile --revision": shape(&home.json(&["compile", "p", "--revision", "first"])),
        "rollback": home.json(&["rollback", "p", "first"]),
        "tag --delete": home.json(&["tag", "p", "--delete", "first"]),
        "db prune": home.json(&["db", "prune", "--keep", "1"]),
    });
    assert_json_snapshot!(answers);
}

#[test]
fn about_the_system() {
    let home = Home::new();
    home.ok(&["list"]);
    let answers = json!({
        "db info": shape(&home.json(&["db", "info"])),
        "db backup": shape(&home.json(&["db", "backup", "copy.db"])),
        "db copy": shape(&home.json(&["db", "copy", "--to", "other.db"])),
        "connect --print": shape(&home.json(&["connect", "cursor", "--print"])),
        "connect": shape(&home.json(&["connect", "cursor"])),
    });
    assert_json_snapshot!(answers);
}
