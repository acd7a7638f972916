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
fn standard_input_is_read_where_nothing_else_is_given() {
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
    // With flags, the input of a surrounding loop is left alone.
    home.run_with_input(
        &["create", "part", "b", "--type", "goal", "--content", "c"],
        "summary = 'not for us'",
    )
    .ok();
    assert_eq!(home.json(&["show", "part", "b"]).get("summary"), None);
}

#[test]
fn an_answer_can_be_edited_and_handed_back() {
    let home = Home::new();
    home.ok(&["create", "part", "p", "--type", "goal", "--summary", "one"]);
    let mut shown = home.json(&["show", "part", "p"]);
    shown["summary"] = json!("two");
    home.write("p.json", &shown.to_string());
    contains(&home.ok(&["update", "part", "p", "--file", "p.json"]), &["revision 2"]);
    // The file still says revision 1, so a second change would undo somebody's.
    home.refused("stale_revision", &["update", "part", "p", "--file", "p.json", "--tag", "x"])
        .offers("read_again");
}

#[test]
fn mistakes_have_a_place() {
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
    let unknown = home.fails(2, &["create", "part", "--file", "unknown.toml"]);
    contains(&unknown, &["unknown.toml: unknown field \"sumary\"; did you mean \"summary\"?"]);
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
fn limits_are_kept() {
    let home = Home::new();
    let long = "x".repeat(300_000);
    home.write("long.json", &json!({ "name": "a", "content": long }).to_string());
    home.refused("invalid_field", &["create", "skill", "--file", "long.json"]).about("field", "content");
    home.write("huge.toml", &format!("# {}\n", "x".repeat(17 << 20)));
    home.refused("file_too_large", &["create", "skill", "--file", "huge.toml"]);
    let nul = home.run_with_input(&["create", "skill"], "{\"name\": \"a\", \"content\": \"\\u0000\"}");
    contains(&nul.fails(2), &["NUL"]);
}

#[test]
fn a_message_reaches_the_history_without_fault() {
    let home = Home::new();
    let created: Value = home.json(&["create", "skill", "s", "--content", "x", "--message", "first try"]);
    assert_eq!((&created["revision"], &created["changed"]), (&json!(1), &json!(true)));
}
