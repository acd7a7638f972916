//! The first commands after an installation.

use crate::home::{Home, contains};

const BUILTINS: [&str; 7] =
    ["code_reviewer", "critic", "doc_writer", "mentor", "optimist", "persona_editor", "test_writer"];

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
    // The editor's own persona is one text.
    for name in BUILTINS.into_iter().filter(|name| *name != "persona_editor") {
        contains(&home.ok(&["show", name]), &[name, "builtin", "Parts", "Traits", "Skills", "Guardrails"]);
        contains(&home.ok(&["show", name, "--detail"]), &["System prompt"]);
        contains(&home.ok(&["manifest", name]), &["NAME", "part", "guardrail"]);
        let (short, long) = (home.ok(&["compile", name, "--summary"]), home.ok(&["compile", name]));
        assert!(short.len() < long.len(), "{name}: {} and {} bytes", short.len(), long.len());
        assert_eq!(home.ok(&["show", name, "--compiled", "--summary"]), short);
        assert_eq!(home.ok(&["show", name, "--compiled"]), long);
    }
}

#[test]
fn a_prompt_takes_other_parts_and_a_budget() {
    let home = Home::new();
    let whole = home.ok(&["compile", "critic"]);
    let dry = home.ok(&["compile", "critic", "--override", "tone=mentor-tone"]);
    assert_ne!(dry, whole);
    assert_eq!(home.ok(&["compile", "critic"]), whole, "a change of one call is not kept");
    let cut = home.run(&["compile", "critic", "--max-tokens", "600"]);
    assert!(cut.stderr.contains("left out: "), "{}", cut.stderr);
    assert!(cut.ok().len() < whole.len());
    let view = home.json(&["compile", "critic", "--max-tokens", "600"]);
    assert!(view["budget"]["tokens"].as_u64().is_some_and(|tokens| tokens <= 600), "{view}");
    assert_eq!(home.json(&["show", "critic", "--compiled", "--max-tokens", "600"]), view);
    let manifest = home.json(&["manifest", "critic"]);
    assert!(manifest["parts"][0]["tokens"].as_u64() < manifest["tokens"]["detail"].as_u64(), "{manifest}");
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
