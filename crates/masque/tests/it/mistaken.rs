//! Invalid entries are in no history, so no command removes them without force.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::compose::edit;
use crate::home::{Home, contains};

const GOOD: &str = "[skills.look]\ncontent = \"Look.\"\n";
const BAD: &str = "# Ours.\n\n[skills.look]\ncontent = \"Look.\"\n\n# Half done.\n[skills.hear]\ncontent = 5\n\n[skills.feel]\ncontent = \"Feel.\" # at last\n";

#[test]
fn edit_refuses_an_invalid_entry() {
    let home = Home::new();
    home.write("shop/personas.toml", GOOD);
    home.ok(&["list", "--project", "shop"]);
    home.ok(&["create", "skill", "hear", "--content", "Hear."]);
    let opens =
        |name: &'static str| edit(&home, "touch opened", &["skill", name, "--project", "shop", "--json"]);
    for (bad, line, column) in
        [("[skills.look]\ncontent = \"Look.\"\nx\n", 3, 2), ("[skills.look]\ncontent = 5\n", 2, 11)]
    {
        home.write("shop/personas.toml", bad);
        opens("look").refused_with("file_has_errors").in_file("shop/personas.toml").at(line, column);
        assert!(!home.path("opened").exists());
        assert_eq!(home.read("shop/personas.toml"), bad);
    }
    // A valid entry of another scope is saved there.
    opens("hear").ok();
    assert!(home.path("opened").exists());
}

#[test]
fn delete_needs_force_for_an_invalid_entry() {
    let home = Home::new();
    home.write("shop/personas.toml", BAD);
    let delete =
        |arguments: &[&str]| home.run_in("shop", &[&["delete", "skill", "hear"], arguments].concat());
    // The invalid entry is meant, not a namesake in another scope.
    home.ok(&["create", "skill", "hear", "--content", "Hear."]);
    let is_refused = |arguments: &[&str]| {
        let refused = delete(&[&["--json"], arguments].concat()).refused_with("file_has_errors");
        refused.in_file("personas.toml").at(8, 11)
    };
    is_refused(&[]).about("name", "hear").offers("delete_by_force");
    // People also see the line of the file.
    contains(&delete(&[]).fails(4), &["8 | content = 5"]);
    delete(&["--json", "--force", "--if-revision", "1"]).refused_with("stale_revision");
    assert_eq!(home.read("shop/personas.toml"), BAD);
    let deleted: serde_json::Value = serde_json::from_str(&delete(&["--force", "--json"]).ok()).unwrap();
    assert_eq!((&deleted["scope"], &deleted["in_force"]), (&json!("project"), &json!("shared")), "{deleted}");
    assert_eq!(
        home.read("shop/personas.toml"),
        BAD.replace("# Half done.\n[skills.hear]\ncontent = 5\n\n", "")
    );
    contains(&delete(&["--json"]).ok(), &["\"shared\""]);

    // The history has the last valid version of an entry, not its current text.
    home.write("shop/personas.toml", &BAD.replace('5', "\"Hear.\""));
    home.run_in("shop", &["list"]).ok();
    home.write("shop/personas.toml", BAD);
    is_refused(&[]).offers("delete_by_force");
    home.refused_in("shop", "file_has_errors", &["promote", "hear", "--kind", "skill", "--to", "shared"]);
    assert_eq!(home.read("shop/personas.toml"), BAD);
    delete(&["--force"]).ok();
    assert!(!home.read("shop/personas.toml").contains("hear"));
    home.run_in("shop", &["rollback", "skill", "hear", "1", "--scope", "project"]).ok();
    contains(&home.read("shop/personas.toml"), &["[skills.hear]\ncontent = \"Hear.\""]);
}

#[test]
fn an_entry_cannot_include_a_personas_toml() {
    let home = Home::new();
    let text = "[skills.look]\ncontent_file = \"personas.toml\"\n\n[skills.feel]\ncontent = \"Feel.\"\n";
    home.write("shop/personas.toml", text);
    let update = ["update", "skill", "look", "--content", "x"];
    home.refused_in("shop", "file_has_errors", &update).in_file("personas.toml").at(2, 16);
    assert_eq!(home.read("shop/personas.toml"), text);
    // A later edit by hand does not allow it either.
    home.write("shop/look.md", "Look.");
    home.write("shop/personas.toml", &text.replace("personas.toml", "look.md"));
    home.run_in("shop", &["list"]).ok();
    std::fs::remove_file(home.path("shop/look.md")).unwrap();
    symlink("personas.toml", home.path("shop/look.md")).unwrap();
    home.refused_in("shop", "file_has_errors", &update);
    assert_eq!(home.read("shop/personas.toml"), text.replace("personas.toml", "look.md"));
}

#[test]
fn a_link_out_of_the_project_is_reported() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("shop")).unwrap();
    symlink("personas.toml", home.path("shop/personas.toml")).unwrap();
    let listed = home.run_in("shop", &["list", "--scope", "project"]);
    contains(&listed.stderr, &["shop/personas.toml: ", "does not write to it"]);
    assert!(!listed.stderr.contains("leads out of the project"), "{}", listed.stderr);
    home.refused_in("shop", "file_has_errors", &["create", "skill", "look", "--content", "x"]);

    // A link to a file inside the project works like the file.
    std::fs::remove_file(home.path("shop/personas.toml")).unwrap();
    home.write("shop/agents/ours.toml", GOOD);
    symlink("agents/ours.toml", home.path("shop/personas.toml")).unwrap();
    let shown = home.run_in("shop", &["show", "skill", "look", "--json"]).ok();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap()["scope"], json!("project"));
}

#[test]
fn no_command_uses_the_last_version_of_an_invalid_entry() {
    let home = Home::new();
    home.ok(&["create", "skill", "look", "--content", "Theirs."]);
    home.write("shop/personas.toml", GOOD);
    home.run_in("shop", &["list"]).ok();
    let bad = "[skills.look]\ncontent = 5\n";
    home.write("shop/personas.toml", bad);
    for refused in [
        &["rollback", "skill", "look", "1"][..],
        &["update", "skill", "look", "--content", "Look."],
        &["conflicts", "look", "--kind", "skill", "--use", "project", "--yes"],
        &["conflicts", "look", "--kind", "skill", "--use", "shared", "--yes"],
        &["promote", "look", "--kind", "skill", "--from", "project", "--to", "global"],
    ] {
        home.refused_in("shop", "file_has_errors", refused).in_file("shop/personas.toml").at(2, 11);
    }
    assert_eq!(home.read("shop/personas.toml"), bad);
    contains(&home.ok(&["show", "skill", "look", "--scope", "shared"]), &["Theirs."]);
}
