//! Lists, search and views.

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn every_kind_is_listed() {
    let home = Home::new();
    for kind in ["persona", "personas", "part", "parts", "trait", "skills", "guardrails", "arcs"] {
        assert!(!names(&home.json(&["list", kind])).is_empty(), "{kind}");
    }
    contains(&home.ok(&["list", "guardrails"]), &["SEVERITY", "medium"]);
    contains(&home.ok(&["list", "parts"]), &["TYPE", "protocol"]);
}

#[test]
fn lists_are_narrowed() {
    let home = Home::new();
    assert_eq!(names(&home.json(&["list", "--tag", "teaching", "--tag", "learning"])), ["mentor"]);
    let tones = home.json(&["list", "parts", "--type", "tone"]);
    assert!(tones["items"].as_array().unwrap().iter().all(|item| item["part_type"] == "tone"));
    home.refused("unknown_word", &["list", "parts", "--type", "tonn"]).suggests("tone");
    home.refused("not_for_kind", &["list", "skills", "--type", "tone"]).offers("leave_out");
    let nothing = home.run(&["list", "--tag", "nowhere"]);
    contains(&nothing.stderr, &["No persona matches"]);
    assert_eq!(nothing.ok(), "");
    assert_eq!(home.json(&["list", "--tag", "nowhere"]), json!({ "items": [] }));
}

#[test]
fn a_cursor_continues_a_list() {
    let home = Home::new();
    let all = home.json(&["list", "parts", "--all"]);
    assert!(names(&all).len() > 20 && all.get("next_cursor").is_none());
    let first = home.json(&["list", "parts", "--limit", "3"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = home.json(&["list", "parts", "--limit", "3", "--cursor", cursor]);
    assert_eq!([names(&first), names(&second)].concat(), names(&all)[..6]);
    let more = home.run(&["list", "parts", "--limit", "3"]);
    contains(&more.stderr, &["More items exist", "--all"]);
    assert_eq!(more.ok().lines().count(), 4);
    home.refused("invalid_cursor", &["list", "--cursor", "nonsense"]);
    home.refused("invalid_value", &["list", "--limit", "0"]);
}

#[test]
fn all_fetches_every_page() {
    let home = Home::new();
    let traits: Vec<Value> = (0..230)
        .map(|number| json!({ "name": format!("trait-{number:03}"), "trait_type": "social" }))
        .collect();
    let persona = json!({ "name": "crowd", "traits": traits });
    home.run_with_input(&["create", "persona"], &persona.to_string()).ok();
    let many = home.json(&["list", "traits", "--query", "trait", "--limit", "210"]);
    assert_eq!(names(&many).len(), 210);
    let all = home.json(&["list", "traits", "--all"]);
    assert!(names(&all).len() >= 230);
}

#[test]
fn tables_fit_the_width() {
    let home = Home::new();
    for width in [40, 60, 80, 120] {
        for kind in ["personas", "parts", "guardrails"] {
            let mut command = home.command();
            command.args(["list", kind]).env("COLUMNS", width.to_string());
            let list = CommandOutput::of(command.output().unwrap()).ok();
            for line in list.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            contains(&list, &["NAME", "…"]);
        }
    }
    let unlimited = home.ok(&["list"]);
    assert!(!unlimited.contains('…'), "{unlimited}");
}

#[test]
fn search_covers_every_kind() {
    let home = Home::new();
    let found = home.json(&["search", "hint"]);
    assert!(names(&found).contains(&"hint-ladder"), "{found}");
    contains(&home.ok(&["search", "hint", "--kind", "skill"]), &["KIND", "hint-ladder", "skill"]);
    let nothing = home.run(&["search", "zzzzqqqq"]);
    contains(&nothing.stderr, &["No matches for \"zzzzqqqq\""]);
    assert_eq!(nothing.ok(), "");
}

#[test]
fn views_are_changed_for_one_call() {
    let home = Home::new();
    let calm = home.ok(&["show", "mentor", "--override", "tone=plain-tone"]);
    contains(&calm, &["plain-tone", "from override"]);
    assert!(!calm.contains("guide-tone"), "{calm}");
    let few = home.ok(&["show", "code_reviewer", "--types", "identity,tone", "--limit", "1"]);
    contains(&few, &["review-identity", "left out", "part plain-tone ("]);
    assert!(!few.contains("evidence-soul"), "the caller chose the types: {few}");
    let budget = home.ok(&["show", "code_reviewer", "--max-tokens", "300"]);
    contains(&budget, &["tokens", "o200k_base", "left out"]);
    home.refused("unknown_override", &["show", "mentor", "--override", "tone=nowhere"])
        .about("name", "nowhere")
        .about("field", "overrides.tone");
    home.refused("invalid_value", &["show", "mentor", "--override", "tone"]);
    home.refused("invalid_value", &["show", "mentor", "--types", "tonn"]).suggests("tone");
    let twice = ["show", "mentor", "--override", "tone=plain-tone", "--override", "tone=guide-tone"];
    home.refused("named_twice", &twice);
    home.refused("not_for_kind", &["show", "part", "plain-tone", "--limit", "1"]).about("field", "--limit");
}

#[test]
fn pieces_are_shown_whole() {
    let home = Home::new();
    contains(&home.ok(&["show", "part", "mentor-tone"]), &["type", "tone", "warm, unhurried"]);
    contains(&home.ok(&["show", "trait", "patient"]), &["emotional"]);
    contains(&home.ok(&["show", "skills", "teach-back"]), &["Use after a learner"]);
    contains(&home.ok(&["show", "guardrail", "learner-owns-the-work"]), &["medium", "write_*"]);
    contains(&home.ok(&["show", "plain-tone"]), &["type", "tone"]);
    home.refused("unknown_word", &["show", "prat", "plain-tone"]).suggests("part");
}
