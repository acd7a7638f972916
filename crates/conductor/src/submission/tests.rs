use serde_json::{Value, json};

use super::*;

#[track_caller]
fn check(fields: &Value, expected: &str) {
    let mut whole = json!({ "outcome": "done", "summary": "s" });
    let fields = fields.as_object().expect("an object").clone();
    whole.as_object_mut().expect("an object").extend(fields);
    let submission: Submission = serde_json::from_value(whole).expect("a submission");
    assert_eq!(submission.problem().unwrap_or_default(), expected);
}

#[test]
fn submissions() {
    check(&json!({}), "");
    check(&json!({ "summary": " " }), "A text in summary is empty.");
    check(&json!({ "commands": [""] }), "A text in commands is empty.");
    check(&json!({ "commands": vec!["x"; 129] }), "commands has 129 entries, at most 128 are allowed.");
    check(
        &json!({ "summary": "x".repeat(16_385) }),
        "A text in summary has 16385 bytes, at most 16384 are allowed.",
    );
    check(&json!({ "test_changes": [{ "test": "a", "why": "" }] }), "A text in test_changes is empty.");
    check(
        &json!({ "out_of_scope": [{ "title": "a\nb" }] }),
        "A title in out_of_scope is one line of at most 200 characters.",
    );
    check(
        &json!({ "outcome": "no_change", "test_changes": [{ "test": "a", "why": "b" }] }),
        "The outcome is \"no_change\", but tests are said to be changed: hand in \"done\", or no test_changes.",
    );
}

#[test]
fn criteria() {
    let of = |outcome: &str, status: &str, evidence: Value| {
        let mut criterion = json!({ "criterion": "c", "status": status });
        if !evidence.is_null() {
            criterion["evidence"] = evidence;
        }
        json!({ "outcome": outcome, "criteria": [criterion] })
    };
    let not_met = "The criterion \"c\" is not met, so the outcome is \"partial\", not \"done\".";
    check(&of("done", "not_met", Value::Null), not_met);
    check(&of("done", "unknown", Value::Null), not_met);
    check(&of("partial", "not_met", Value::Null), "");
    check(
        &of("done", "met", Value::Null),
        "The criterion \"c\" is said to be met: add `evidence` with a command, a test or a place.",
    );
    check(&of("done", "met", json!({ "kind": "check", "command": "make" })), "");
    check(&of("done", "met", json!({ "kind": "test", "name": "" })), "A text in evidence.name is empty.");
    check(&of("done", "met", json!({ "kind": "place", "place": "src/a.rs:3" })), "");
    check(
        &of("done", "met", json!({ "kind": "place", "place": "src/a.rs" })),
        "\"src/a.rs\" is not a place: write path:line, with the path relative to the project's root.",
    );
}

#[test]
fn places() {
    let place = |text| parse_place(text);
    assert_eq!(place("a/b.rs:3"), Some(("a/b.rs", 3)));
    assert_eq!(place("a/b.rs:3:7"), Some(("a/b.rs", 3)));
    assert_eq!(place("ab:c.rs:3"), Some(("ab:c.rs", 3)));
    for bad in ["a", "a:", "a:0", ":3", "/a:3", "../a:3", "C:a:3", "a:x", "a:-1"] {
        assert_eq!(place(bad), None, "{bad}");
    }
}
