//! What somebody wrote with a mistake in it is in no history: nothing takes it away unasked.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::compose::edit;
use crate::home::{Home, contains};

const GOOD: &str = "[skills.look]\ncontent = \"Look.\"\n";
const BAD: &str = "# Ours.\n\n[skills.look]\ncontent = \"Look.\"\n\n# Half done.\n[skills.hear]\ncontent = 5\n\n[skills.feel]\ncontent = \"Feel.\" # at last\n";

#[test]
fn the_editor_is_not_opened_for_what_cannot_be_saved() {
    let home = Home::new();
    home.write("shop/personas.toml", GOOD);
    home.ok(&["list", "--project", "shop"]);
    home.ok(&["create", "skill", "hear", "--content", "Hear."]);
    let opens = |name: &'static str| edit(&home, "touch opened", &["skill", name, "--project", "shop"]);
    for (bad, place) in
        [("[skills.look]\ncontent = \"Look.\"\nx\n", ":3:2: "), ("[skills.look]\ncontent = 5\n", ":2:11: ")]
    {
        home.write("shop/personas.toml", bad);
        contains(&opens("look").fails(4), &["error: ", "shop/personas.toml", place]);
        assert!(!home.path("opened").exists());
        assert_eq!(home.read("shop/personas.toml"), bad);
    }
    // What stands in another scope is saved there.
    opens("hear").ok();
    assert!(home.path("opened").exists());
}

#[test]
fn an_entry_with_a_mistake_is_deleted_by_force_only() {
    let home = Home::new();
    home.write("shop/personas.toml", BAD);
    let delete =
        |arguments: &[&str]| home.run_in("shop", &[&["delete", "skill", "hear"], arguments].concat());
    // It is what is meant, not what another scope has by that name.
    home.ok(&["create", "skill", "hear", "--content", "Hear."]);
    let refused = delete(&[]).fails(4);
    contains(
        &refused,
        &[
            "personas.toml:8:11: skill hear: ",
            "8 | content = 5",
            "put it in quotes",
            "repeat with --force",
            "no history",
        ],
    );
    delete(&["--force", "--if-revision", "1"]).fails(4);
    assert_eq!(home.read("shop/personas.toml"), BAD);
    let deleted = delete(&["--force"]).ok();
    assert_eq!(deleted, "deleted skill hear from project\nthe shared skill hear is now used\n");
    assert_eq!(
        home.read("shop/personas.toml"),
        BAD.replace("# Half done.\n[skills.hear]\ncontent = 5\n\n", "")
    );
    assert_eq!(delete(&[]).ok(), "deleted skill hear from shared\n");

    // One that was good once is in the history as it was then, and not as it is.
    home.write("shop/personas.toml", &BAD.replace('5', "\"Hear.\""));
    home.run_in("shop", &["list"]).ok();
    home.write("shop/personas.toml", BAD);
    contains(&delete(&[]).fails(4), &["personas.toml:8:11: ", "repeat with --force"]);
    home.run_in("shop", &["promote", "hear", "--kind", "skill", "--to", "shared"]).fails(4);
    assert_eq!(home.read("shop/personas.toml"), BAD);
    delete(&["--force"]).ok();
    assert!(!home.read("shop/personas.toml").contains("hear"));
    home.run_in("shop", &["rollback", "skill", "hear", "1", "--scope", "project"]).ok();
    contains(&home.read("shop/personas.toml"), &["[skills.hear]\ncontent = \"Hear.\""]);
}

#[test]
fn a_personas_toml_is_never_the_text_of_its_own_entry() {
    let home = Home::new();
    let text = "[skills.look]\ncontent_file = \"personas.toml\"\n\n[skills.feel]\ncontent = \"Feel.\"\n";
    home.write("shop/personas.toml", text);
    let refused = home.run_in("shop", &["update", "skill", "look", "--content", "x"]);
    contains(&refused.fails(4), &["personas.toml:2:16: skill look: ", "is a personas.toml"]);
    assert_eq!(home.read("shop/personas.toml"), text);
    // A mistake that is made later is no way to it either.
    home.write("shop/look.md", "Look.");
    home.write("shop/personas.toml", &text.replace("personas.toml", "look.md"));
    home.run_in("shop", &["list"]).ok();
    std::fs::remove_file(home.path("shop/look.md")).unwrap();
    symlink("personas.toml", home.path("shop/look.md")).unwrap();
    home.run_in("shop", &["update", "skill", "look", "--content", "x"]).fails(4);
    assert_eq!(home.read("shop/personas.toml"), text.replace("personas.toml", "look.md"));
}

#[test]
fn a_link_says_where_it_leads() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("shop")).unwrap();
    symlink("personas.toml", home.path("shop/personas.toml")).unwrap();
    let listed = home.run_in("shop", &["list", "--scope", "project"]);
    contains(&listed.stderr, &["shop/personas.toml: ", "does not write to it"]);
    assert!(!listed.stderr.contains("leads out of the project"), "{}", listed.stderr);
    home.run_in("shop", &["create", "skill", "look", "--content", "x"]).fails(4);

    // One that leads to a file inside the project is as good as the file.
    std::fs::remove_file(home.path("shop/personas.toml")).unwrap();
    home.write("shop/agents/ours.toml", GOOD);
    symlink("agents/ours.toml", home.path("shop/personas.toml")).unwrap();
    let shown = home.run_in("shop", &["show", "skill", "look", "--json"]).ok();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap()["scope"], json!("project"));
}

#[test]
fn no_command_takes_the_last_good_state_for_what_is_written() {
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
