//! Promote, export and import.

use serde_json::{Value, json};

use crate::home::{Home, contains};
use crate::terminal::{ENTER, Terminal};

const PROJECT: &str = "\
[personas.reviewer]
summary = \"You review.\"
parts = [\"calm\", \"plain-tone\"]
skills = [\"look\"]

# Slow speech.
[parts.calm]
part_type = \"tone\"
summary = \"Calm.\"

[skills.look]
content = \"Look twice.\"

[personas.other]
parts = [\"calm\"]
";

fn library() -> Home {
    let home = Home::new();
    home.write("shop/personas.toml", PROJECT);
    home
}

fn in_shop<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["--project", "shop"], arguments].concat()
}

#[test]
fn a_persona_moves_with_what_it_needs() {
    let home = library();
    let moved = home.ok(&in_shop(&["promote", "reviewer", "--from", "project", "--to", "shared"]));
    contains(
        &moved,
        &["moved persona reviewer from project to shared", "carried into shared: ", "skill look"],
    );
    contains(&moved, &["removed from project: ", "persona reviewer", "part calm"]);
    assert_eq!(home.json(&["show", "reviewer"])["scope"], "shared");
    let file = home.read("shop/personas.toml");
    contains(&file, &["[personas.other]\nparts = [\"calm\"]\n"]);
    assert!(!file.contains("reviewer") && !file.contains("look"), "{file}");
    let other = home.json(&in_shop(&["show", "other"]));
    assert_eq!(other["parts"][0]["name"], "calm", "a project sees what is shared");
    let back = ["promote", "reviewer", "--from", "shared", "--to", "project", "--copy", "--json"];
    let back: Value = serde_json::from_str(&home.ok(&in_shop(&back))).unwrap();
    assert_eq!(
        (&back["from"], &back["to"], &back["removed"]),
        (&json!("shared"), &json!("project"), &json!([]))
    );
    contains(&home.read("shop/personas.toml"), &["[personas.reviewer]"]);
    assert_eq!(home.json(&["show", "reviewer"])["scope"], "shared", "it was copied");
}

#[test]
fn what_is_there_already_is_not_overwritten_by_accident() {
    let home = library();
    home.ok(&["create", "skill", "look", "--content", "Look once."]);
    let promote = in_shop(&["promote", "reviewer", "--to", "shared"]);
    contains(&home.fails(4, &promote), &["shared has another skill \"look\"", "replace"]);
    contains(&home.fails(3, &["show", "reviewer"]), &["no persona"]);
    home.ok(&[promote.as_slice(), &["--replace"]].concat());
    assert_eq!(home.json(&["show", "skill", "look"])["content"], "Look twice.");
    contains(&home.fails(2, &["promote", "reviewer", "--to", "shared"]), &["in shared already"]);
    contains(&home.fails(3, &["promote", "nobody", "--to", "global"]), &["nobody"]);
    contains(&home.fails(2, &["promote", "reviewer", "--to", "builtin"]), &["builtin"]);
    contains(&home.fails(2, &["promote", "reviewer"]), &["--to"]);
}

#[test]
fn what_others_use_stays() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--summary", "Calm."]);
    home.ok(&["create", "persona", "one", "--part", "calm"]);
    home.ok(&["create", "persona", "two", "--part", "calm"]);
    let moved = home.ok(&["promote", "one", "--to", "global"]);
    contains(&moved, &["moved persona one from shared to global", "removed from shared: persona one\n"]);
    contains(&moved, &["kept in shared, where others use it: part calm\n"]);
    assert_eq!(home.json(&["show", "two"])["parts"][0]["name"], "calm");
}

#[test]
fn pieces_are_promoted_too() {
    let home = library();
    let moved = home.ok(&in_shop(&["promote", "look", "--kind", "skill", "--to", "global"]));
    contains(&moved, &["skill look"]);
    contains(&home.read(".config/masque/personas.toml"), &["[skills.look]", "Look twice."]);
}

#[test]
fn a_bundle_goes_to_another_library() {
    let home = library();
    let bundle = home.ok(&in_shop(&["export", "reviewer", "other"]));
    contains(&bundle, &["[personas.reviewer]", "[personas.other]", "[parts.calm]", "[skills.look]"]);
    let told = home.ok(&in_shop(&["export", "reviewer", "other", "--output", "bundle.toml"]));
    contains(&told, &["wrote bundle.toml"]);
    assert_eq!(home.read("bundle.toml"), bundle);
    let json: Value = home.json(&in_shop(&["export", "look", "--kind", "skill"]));
    contains(json["bundle"].as_str().unwrap(), &["[skills.look]"]);

    let other = Home::new();
    other.write("bundle.toml", &bundle);
    let preview = other.ok(&["import", "bundle.toml"]);
    contains(&preview, &["reviewer", "persona", "create", "nothing was imported; add --yes to import"]);
    contains(&other.ok(&["import", "bundle.toml", "--dry-run"]), &["create", "nothing was imported"]);
    contains(&other.fails(3, &["show", "reviewer"]), &["no persona"]);
    contains(&other.ok(&["import", "bundle.toml", "--yes"]), &["imported 4 entities into shared"]);
    assert_eq!(
        other.json(&["show", "reviewer"])["parts"],
        home.json(&in_shop(&["show", "reviewer"]))["parts"]
    );
    contains(&other.ok(&["import", "bundle.toml", "--yes"]), &["unchanged", "there is nothing to import"]);
    let history = other.json(&["history", "reviewer"]);
    assert_eq!(history["revisions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_preview_names_the_fields_that_change() {
    let home = Home::new();
    home.ok(&["create", "skill", "look", "--content", "Look once.", "--tag", "eyes"]);
    let bundle = "[skills.look]\ncontent = \"Look twice.\"\n";
    let import = |flags: &[&str]| {
        let answer = home.run_with_input(&[&["import", "-", "--json"], flags].concat(), bundle);
        serde_json::from_str::<Value>(&answer.ok()).unwrap()
    };
    let plan = import(&[]);
    assert_eq!((&plan["imported"], &plan["scope"]), (&json!(false), &json!("shared")));
    let item = json!({ "kind": "skill", "name": "look", "change": "update", "fields": ["content", "tags"] });
    assert_eq!(plan["items"], json!([item]));
    assert_eq!(home.json(&["show", "skill", "look"])["content"], "Look once.");
    assert_eq!(import(&["--yes", "--message", "from a friend"])["imported"], true);
    assert_eq!(home.json(&["show", "skill", "look"])["content"], "Look twice.");
    let history = home.json(&["history", "skill", "look"]);
    assert_eq!(history["revisions"][0]["message"], "from a friend");
    let text = home.run_with_input(&["import", "-", "--scope", "global"], bundle).ok();
    contains(&text, &["look", "skill", "create"]);
}

#[test]
fn a_bundle_with_a_mistake_is_refused_whole() {
    let home = Home::new();
    home.write(
        "broken.toml",
        "[skills.look]\ncontent = \"x\"\n\n[parts.calm]\npart_type = \"tone\"\nsummary = 3\n",
    );
    let refused = home.fails(2, &["import", "broken.toml", "--yes"]);
    contains(&refused, &["broken.toml:6:11: part calm: summary: expected a text", "  6 | summary = 3\n"]);
    contains(&home.fails(3, &["show", "skill", "look"]), &["no skill"]);
    contains(&home.fails(3, &["import", "nowhere.toml"]), &["cannot read nowhere.toml"]);
    contains(&home.fails(2, &["import", "broken.toml", "--yes", "--dry-run"]), &["--yes"]);
    contains(&home.fails(3, &["export", "nobody"]), &["nobody"]);
    let unwritable = home.fails(3, &["export", "mentor", "--output", "nowhere/x.toml"]);
    contains(&unwritable, &["cannot write nowhere/x.toml"]);
}

#[test]
fn an_import_asks() {
    let home = Home::new();
    home.write("bundle.toml", "[skills.look]\ncontent = \"Look.\"\n");
    let ask = |answer: &str| {
        let mut command = home.command();
        command.args(["import", "bundle.toml"]);
        let mut terminal = Terminal::start(command);
        terminal.sees("create").sees("Import 1 entity into shared?").presses(answer).presses(ENTER);
        terminal.ends()
    };
    let (code, screen) = ask("n");
    assert_eq!(code, 0);
    contains(&screen, &["nothing was imported"]);
    contains(&home.fails(3, &["show", "skill", "look"]), &["no skill"]);
    let (code, screen) = ask("y");
    assert_eq!(code, 0);
    contains(&screen, &["imported 1 entity into shared"]);
    home.ok(&["show", "skill", "look"]);
}
