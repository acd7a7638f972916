//! The first commands after an installation.

use crate::home::{Home, contains};

const BUILTINS: [&str; 6] = ["code_reviewer", "critic", "doc_writer", "mentor", "optimist", "test_writer"];

#[test]
fn the_library_is_not_empty() {
    let home = Home::new();
    let list = home.ok(&["list"]);
    contains(&list, &BUILTINS);
    assert!(list.starts_with("NAME "), "{list}");
    assert!(home.path(".local/share/masque/masque.db").is_file());
}

#[test]
fn every_builtin_can_be_shown_and_compiled() {
    let home = Home::new();
    for name in BUILTINS {
        contains(&home.ok(&["show", name]), &[name, "builtin", "Parts", "Traits", "Skills", "Guardrails"]);
        contains(&home.ok(&["show", name, "--detail"]), &["System prompt"]);
        contains(&home.ok(&["manifest", name]), &["NAME", "part", "guardrail"]);
        let (short, long) = (home.ok(&["compile", name]), home.ok(&["compile", name, "--detail"]));
        assert!(short.len() < long.len(), "{name}: {} and {} bytes", short.len(), long.len());
        assert_eq!(home.ok(&["show", name, "--compiled"]), short);
        assert_eq!(home.ok(&["show", name, "--compiled", "--detail"]), long);
    }
}

#[test]
fn the_mentor_starts_at_its_first_stage() {
    let home = Home::new();
    contains(
        &home.ok(&["show", "mentor"]),
        &["mentors-path, stage 1 of 3: guide", "guide-tone", "from stage"],
    );
    contains(&home.ok(&["show", "arc", "mentors-path"]), &["1. guide", "2. coach", "3. peer"]);
    contains(&home.ok(&["arc", "advance", "mentor"]), &["mentor", "stage 2 of 3", "mentors-path", "coach"]);
    contains(&home.ok(&["show", "mentor"]), &["stage 2 of 3: coach", "coach-tone"]);
}

#[test]
fn help_names_the_next_command() {
    let home = Home::new();
    let help = home.ok(&["--help"]);
    contains(&help, &["masque list", "masque connect", "Exit codes", "not found"]);
    contains(&home.ok(&["create", "--help"]), &["--file", "standard input"]);
    contains(&home.ok(&["create", "part", "--help"]), &["--part-type", "--content-file", "backstory"]);
    contains(&home.ok(&["--version"]), &["masque 0."]);
}
