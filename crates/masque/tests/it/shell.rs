//! Completion, asked for as the scripts of shells do.

use crate::home::{CommandOutput, Home, contains};

#[test]
fn every_shell_gets_a_script() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        contains(&home.ok(&["completions", shell]), &["masque", "MASQUE_COMPLETE"]);
    }
    home.refused("invalid_value", &["completions", "tcsh"]);
    assert!(!home.path(".local").exists(), "a script needs no library");
}

/// The candidates for the last word of a line.
#[track_caller]
fn candidates(home: &Home, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = home.command();
    command.env("MASQUE_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string()).arg("--").args(&words);
    let answer = CommandOutput::of(command.output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{line}");
    answer.stdout.lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(home: &Home, line: &str, expected: &[&str]) {
    let found = candidates(home, line);
    for expected in expected {
        assert!(found.iter().any(|word| word == expected), "{line}: {expected} is not in {found:?}");
    }
}

#[test]
fn names_kinds_revisions_and_tags_are_completed() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "Slowly."]);
    home.ok(&["update", "calm", "--content", "More slowly."]);
    home.ok(&["tag", "calm", "1", "first"]);
    home.write("shop/personas.toml", "[personas.ours]\nsystem_prompt = \"x\"\n");
    check(&home, "masque sh", &["show"]);
    check(&home, "masque show ca", &["calm"]);
    check(&home, "masque show me", &["mentor"]);
    check(&home, "masque show p", &["part", "persona"]);
    check(&home, "masque --project shop show o", &["ours", "optimist"]);
    check(&home, "masque delete parts c", &["calm"]);
    check(&home, "masque update part ca", &["calm"]);
    check(&home, "masque link mentor part ca", &["calm"]);
    check(&home, "masque export mentor ca", &["calm"]);
    check(&home, "masque chat ment", &["mentor"]);
    check(&home, "masque diff calm ", &["1", "2", "first"]);
    check(&home, "masque rollback part calm f", &["first"]);
    check(&home, "masque show part calm --revision f", &["first"]);
    assert_eq!(candidates(&home, "masque show part calm x"), Vec::<String>::new());
    assert!(!candidates(&home, "masque chat ca").contains(&"calm".to_owned()), "a part cannot chat");
}

#[track_caller]
fn lacks(home: &Home, line: &str, unexpected: &[&str]) {
    let found = candidates(home, line);
    for unexpected in unexpected {
        assert!(!found.iter().any(|word| word == unexpected), "{line}: {unexpected} is in {found:?}");
    }
}

#[test]
fn only_what_a_command_takes_is_offered() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "Slowly."]);
    home.ok(&["create", "persona", "ours", "--part", "calm"]);
    home.ok(&["tag", "ours", "production"]);
    for command in ["link", "unlink"] {
        check(&home, &format!("masque {command} ours "), &["part", "guardrail", "calm", "no-fabrication"]);
        lacks(
            &home,
            &format!("masque {command} ours "),
            &["persona", "arc", "mentor", "mentors-path", "editor"],
        );
        check(&home, &format!("masque {command} persona o"), &["ours"]);
        check(&home, &format!("masque {command} persona ours c"), &["calm"]);
    }
    check(&home, "masque new x --template ", &["mentor"]);
    lacks(&home, "masque new x --template ", &["ours"]);
    check(&home, "masque tag ours --delete ", &["production"]);
    lacks(&home, "masque tag ours --delete ", &["1"]);
    check(&home, "masque ", &["duplicate", "rename", "list", "delete"]);
    lacks(&home, "masque ", &["cp", "mv", "ls", "rm"]);
    // The short names still work.
    check(&home, "masque mv ca", &["calm"]);
}

#[test]
fn fields_of_the_named_entity_are_offered() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "Slowly."]);
    home.write("shop/personas.toml", "[skills.ours]\ncontent = \"x\"\n");
    check(&home, "masque update calm --", &["--part-type", "--content", "--rename", "--message"]);
    lacks(&home, "masque update calm --", &["--system-prompt", "--severity"]);
    check(&home, "masque update mentor --", &["--system-prompt", "--tool-preset"]);
    check(&home, "masque --project shop update ours --c", &["--content"]);
    lacks(&home, "masque --project shop update ours --", &["--part-type"]);
}

#[test]
fn names_follow_the_kind_of_a_command() {
    let home = Home::new();
    for command in ["chat", "run", "compile", "manifest", "arc advance", "arc reset", "arc unassign"] {
        check(&home, &format!("masque {command} ment"), &["mentor"]);
        check(&home, &format!("masque {command} persona ment"), &["mentor"]);
        lacks(&home, &format!("masque {command} mentor "), &["mentor", "critic"]);
    }
    check(&home, "masque arc assign mentor ", &["mentors-path"]);
    check(&home, "masque arc assign persona mentor ", &["mentors-path"]);
    check(&home, "masque arc add-part mentors-path guide ", &["mentor-tone"]);
    lacks(&home, "masque arc add-part mentors-path ", &["mentor-tone"]);
}

#[test]
fn completion_creates_nothing_and_says_nothing() {
    let home = Home::new();
    // Without a library, the builtins are known.
    check(&home, "masque show ment", &["mentor"]);
    candidates(&home, "masque diff mentor ");
    candidates(&home, "masque sessions show ");
    candidates(&home, "masque --db nowhere/x.db show x");
    assert!(!home.path(".local").exists() && !home.path("nowhere").exists());
    home.write("text.db", "this is not a database, but a text that is longer than a header");
    check(&home, "masque --db text.db show ment", &["mentor"]);
    home.write("shop/personas.toml", "[personas.bro");
    check(&home, "masque --project shop show ment", &["mentor"]);
    assert_eq!(home.read("text.db"), "this is not a database, but a text that is longer than a header");
}

#[test]
fn personas_and_their_versions_are_offered_to_tests() {
    let home = Home::new();
    home.ok(&["create", "persona", "ours", "--system-prompt", "x"]);
    home.ok(&["update", "ours", "--summary", "y"]);
    home.ok(&["tag", "ours", "1", "production"]);
    home.ok(&["create", "test-input", "hello", "--content", "hi"]);
    check(&home, "masque test ", &["mentor", "ours"]);
    lacks(&home, "masque test ", &["hello", "plain-tone"]);
    check(&home, "masque test persona o", &["ours"]);
    check(&home, "masque test ours@", &["ours@1", "ours@2", "ours@production"]);
    check(&home, "masque test ours@p", &["ours@production"]);
    lacks(&home, "masque test ours ", &["mentor"]);
    check(&home, "masque test ours --input ", &["hello"]);
    check(&home, "masque compare ", &["mentor", "ours"]);
    check(&home, "masque compare ours ", &["1", "2", "production"]);
    check(&home, "masque compare persona ours production ", &["2"]);
    check(&home, "masque compare ours --input h", &["hello"]);
}

#[test]
fn overrides_are_completed_type_and_part() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "Slowly."]);
    home.write("shop/personas.toml", "[parts.curt]\npart_type = \"tone\"\ncontent = \"x\"\n");
    for command in ["compile mentor", "show mentor", "chat mentor", "run mentor"] {
        check(&home, &format!("masque {command} --override "), &["tone=", "goal="]);
        check(&home, &format!("masque {command} --override to"), &["tone="]);
        check(&home, &format!("masque {command} --override tone="), &["tone=calm", "tone=plain-tone"]);
    }
    check(&home, "masque --project shop compile mentor --override tone=cu", &["tone=curt"]);
    lacks(&home, "masque compile mentor --override goal=", &["goal=calm", "goal=plain-tone"]);
    assert_eq!(candidates(&home, "masque compile mentor --override nonsense=c"), Vec::<String>::new());
}

#[test]
fn flags_that_name_entities_offer_them() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "Slowly."]);
    check(&home, "masque create persona x --part ", &["calm", "mentor-tone"]);
    lacks(&home, "masque create persona x --part ", &["mentor"]);
    check(&home, "masque create persona x --guardrail ", &["no-fabrication"]);
    check(&home, "masque create persona x --extends ", &["mentor"]);
    check(&home, "masque update persona x --extends ", &["mentor"]);
    check(&home, "masque update mentor --extends cri", &["critic"]);
    check(&home, "masque update mentor --tool-preset ", &["editor"]);
    assert_eq!(candidates(&home, "masque create persona x --summary "), Vec::<String>::new());
}
