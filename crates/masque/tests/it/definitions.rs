//! Definitions from files and standard input, in TOML and JSON.

use serde_json::{Value, json};

use crate::home::{Home, contains};

const PERSONA: &str = r#"
name = "chef"
display_name = "The Chef"
system_prompt = """
You cook."""
tags = ["food"]
skills = ["hint-ladder"]

[[parts]]
name = "chef-voice"
part_type = "voice"
content = "Short sentences."
priority = 5

[[traits]]
name = "bold"
trait_type = "behavioral"
instruction = "Season more."
"#;

#[test]
fn a_toml_file_defines_a_persona_and_its_pieces() {
    let home = Home::new();
    home.write("chef.toml", PERSONA);
    let created = home.ok(&["create", "persona", "--file", "chef.toml"]);
    contains(&created, &["created persona chef", "also created: part chef-voice, trait bold"]);
    let view = home.json(&["show", "chef"]);
    assert_eq!((&view["display_name"], &view["parts"][0]["priority"]), (&json!("The Chef"), &json!(5)));
    assert_eq!(home.json(&["show", "trait", "bold"])["instruction"], "Season more.");
}

#[test]
fn flags_win_over_the_file() {
    let home = Home::new();
    home.write("part.json", r#"{"name": "a", "part_type": "tone", "summary": "file", "tags": ["file"]}"#);
    home.ok(&["create", "part", "b", "--file", "part.json", "--summary", "flag"]);
    let part = home.json(&["show", "part", "b"]);
    assert_eq!((&part["summary"], &part["tags"]), (&json!("flag"), &json!(["file"])));
}

#[test]
fn standard_input_is_read_without_flags() {
    let home = Home::new();
    let toml = home.run_with_input(
        &["create", "part", "--file", "-"],
        "name = 'a'\npart_type = 'soul'\nsummary = 's'\n",
    );
    contains(&toml.ok(), &["created part a"]);
    let json = home.run_with_input(&["create", "guardrail"], "{\"name\": \"g\", \"deny_tools\": [\"rm*\"]}");
    contains(&json.ok(), &["created guardrail g"]);
    let update = home.run_with_input(&["update", "part", "a"], "summary = 'piped'");
    contains(&update.ok(), &["revision 2"]);
    // With flags, standard input is not read.
    home.run_with_input(
        &["create", "part", "b", "--type", "goal", "--content", "c"],
        "summary = 'not for us'",
    )
    .ok();
    assert_eq!(home.json(&["show", "part", "b"]).get("summary"), None);
}

#[test]
fn shown_json_can_be_edited_and_sent_back() {
    let home = Home::new();
    home.ok(&["create", "part", "p", "--type", "goal", "--summary", "one"]);
    let mut shown = home.json(&["show", "part", "p"]);
    shown["summary"] = json!("two");
    home.write("p.json", &shown.to_string());
    contains(&home.ok(&["update", "part", "p", "--file", "p.json"]), &["revision 2"]);
    // The file still has revision 1, so a second change would undo the first.
    home.refused("stale_revision", &["update", "part", "p", "--file", "p.json", "--tag", "x"])
        .offers("read_again");
}

#[test]
fn errors_have_a_place() {
    let home = Home::new();
    home.write("broken.toml", "name = \"a\"\npart_type = tone\n");
    home.refused("invalid_config", &["create", "part", "--file", "broken.toml"])
        .in_file("broken.toml")
        .at(2, 13);
    home.write("broken.json", "{\n  \"name\": \"a\",\n}");
    home.refused("invalid_config", &["create", "part", "--file", "broken.json"])
        .in_file("broken.json")
        .at(3, 1);
    home.write("unknown.toml", "name = \"a\"\npart_type = \"tone\"\nsumary = \"x\"\n");
    let unknown = home.refused("unknown_field", &["create", "part", "--file", "unknown.toml"]);
    let unknown = unknown.about("field", "sumary").suggests("summary");
    contains(unknown.0["message"].as_str().unwrap(), &["unknown.toml"]);
    home.refused("missing_field", &["create", "part", "a"]).about("field", "part_type");
    home.refused("missing_field", &["create", "skill"]).about("field", "name");
    home.refused("nothing_to_change", &["update", "part", "a"]).offers("write_as");
    home.refused("file_not_found", &["create", "part", "--file", "nowhere.toml"]).in_file("nowhere.toml");
    home.write("latin.toml", "");
    std::fs::write(home.path("latin.toml"), b"name = \"\xe9\"").unwrap();
    home.refused("invalid_encoding", &["create", "part", "--file", "latin.toml"]).offers("save_as_utf8");
    home.refused("not_a_file", &["create", "part", "--file", "."]);
    assert_eq!(home.json(&["list", "parts", "--query", "sumary"]), json!({ "items": [] }));
}

#[test]
fn limits_are_enforced() {
    let home = Home::new();
    let long = "x".repeat(300_000);
    home.write("long.json", &json!({ "name": "a", "content": long }).to_string());
    home.refused("invalid_field", &["create", "skill", "--file", "long.json"]).about("field", "content");
    home.write("huge.toml", &format!("# {}\n", "x".repeat(65 << 20)));
    home.refused("file_too_large", &["create", "skill", "--file", "huge.toml"]);
    let nul = "{\"name\": \"a\", \"content\": \"\\u0000\"}";
    let nul = home.run_with_input(&["create", "skill", "--json"], nul).refused_with("invalid_field");
    contains(nul.about("field", "content").0["message"].as_str().unwrap(), &["NUL"]);
}

#[test]
fn a_message_is_stored_unchanged() {
    let home = Home::new();
    let created: Value = home.json(&["create", "skill", "s", "--content", "x", "--message", "first try"]);
    assert_eq!((&created["revision"], &created["changed"]), (&json!(1), &json!(true)));
}
