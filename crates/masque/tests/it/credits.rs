//! Author, license and greetings: fields that work in every command by their description alone.

use serde_json::json;

use crate::home::{Home, contains};

#[test]
fn an_author_and_a_license_are_written_read_and_compared() {
    let home = Home::new();
    home.ok(&["create", "persona", "guide", "--summary", "Guides.", "--author", "Ann <ann@example.org>"]);
    home.ok(&["update", "persona", "guide", "--license", "MIT"]);
    let shown = home.json(&["show", "guide"]);
    assert_eq!((&shown["author"], &shown["license"]), (&json!("Ann <ann@example.org>"), &json!("MIT")));
    contains(&home.ok(&["show", "guide"]), &["author", "Ann <ann@example.org>", "license", "MIT"]);

    let diff = home.json(&["diff", "guide", "1", "2"]);
    assert_eq!(diff["fields"], json!([{ "field": "license", "to": "MIT" }]));
    let found = home.json(&["search", "example"]);
    assert_eq!(found["items"][0]["name"], "guide");

    home.ok(&["create", "persona", "heir", "--extends", "guide", "--author", "Ben"]);
    let explained = home.json(&["show", "heir", "--explain"]);
    let from = |field: &str| {
        let fields = explained["fields"].as_array().unwrap().iter();
        fields.clone().find(|it| it["field"] == field).map(|it| (it["value"].clone(), it["from"].clone()))
    };
    assert_eq!(from("author"), Some((json!("Ben"), json!("shared:heir"))));
    assert_eq!(from("license"), Some((json!("MIT"), json!("shared:guide"))));

    // An exported file is imported unchanged.
    let file = home.ok(&["export", "guide"]);
    contains(&file, &["author = \"Ann <ann@example.org>\"", "license = \"MIT\""]);
    home.write("elsewhere/personas.toml", &file);
    let moved = home.run_in("elsewhere", &["show", "guide", "--json", "--scope", "project"]).ok();
    let moved: serde_json::Value = serde_json::from_str(&moved).unwrap();
    assert_eq!((&moved["author"], &moved["license"]), (&shown["author"], &shown["license"]));
    home.ok(&["import", "elsewhere/personas.toml", "--yes", "--scope", "global"]);
    assert_eq!(home.json(&["show", "guide", "--scope", "global"])["license"], "MIT");

    home.ok(&["update", "persona", "guide", "--license", "", "--scope", "shared"]);
    assert_eq!(home.json(&["show", "guide", "--scope", "shared"]).get("license"), None);
    home.refused("invalid_field", &["update", "persona", "guide", "--author", "two\nlines"])
        .about("field", "author");
}

#[test]
fn examples_come_from_a_file_and_go_first() {
    let home = Home::new();
    let examples = "[[examples]]\nuser = \"Hi.\"\npersona = \"Good day.\"\n\n[[examples]]\nuser = \"Bye.\"\npersona = \"Farewell.\"\n";
    let file = home.write("guide.toml", &format!("summary = \"Guides.\"\n{examples}"));
    home.ok(&["create", "persona", "guide", "--file", file.to_str().unwrap()]);
    let shown = home.json(&["show", "guide", "--detail"]);
    assert_eq!(shown["examples"][1], json!({ "user": "Bye.", "persona": "Farewell." }));
    contains(&home.ok(&["show", "guide", "--detail"]), &["Examples", "User: Hi.", "guide: Good day."]);
    contains(&home.ok(&["compile", "guide"]), &["## Examples", "- **User**: Hi.", "- **You**: Farewell."]);
    let cut = home.json(&["show", "guide", "--detail", "--max-tokens", "1"]);
    assert_eq!(cut.get("examples"), None);
    assert_eq!((&cut["budget"]["over_budget"], &cut["budget"]["left_out_count"]), (&json!(true), &json!(2)));
    let cut = home.json(&["show", "guide", "--detail", "--max-tokens", "70"]);
    assert_eq!(cut["budget"]["left_out"], json!({ "example": { "1": 5, "2": 5 } }), "{cut}");
    let export = home.ok(&["export", "guide"]);
    home.write("elsewhere/personas.toml", &export);
    let moved = home.run_in("elsewhere", &["show", "guide", "--detail", "--json", "--scope", "project"]).ok();
    let moved: serde_json::Value = serde_json::from_str(&moved).unwrap();
    assert_eq!(moved["examples"], shown["examples"]);
}

#[test]
fn greetings_are_shown_with_their_numbers() {
    let home = Home::new();
    let create =
        ["create", "persona", "guide", "--summary", "Guides.", "--greeting", "Hello.", "--greeting", "Hi."];
    home.ok(&create);
    assert_eq!(home.json(&["show", "guide"])["greetings"], json!(["Hello.", "Hi."]));
    contains(&home.ok(&["show", "guide"]), &["greetings", "1. Hello.", "2. Hi."]);
    contains(&home.ok(&["show", "guide", "--explain"]), &["Hello., Hi."]);
    contains(&home.ok(&["export", "guide"]), &["greetings = [\"Hello.\", \"Hi.\"]"]);
    home.ok(&["update", "persona", "guide", "--greeting", ""]);
    assert_eq!(home.json(&["show", "guide"]).get("greetings"), None);
}
