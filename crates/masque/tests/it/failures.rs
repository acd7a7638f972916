//! Exit codes, and what people are told.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::home::{Answer, Home, contains};

#[test]
fn exit_codes_tell_the_kinds_apart() {
    let home = Home::new();
    home.ok(&["create", "skill", "s", "--content", "x"]);
    home.write("text.db", "this is no database, but a text that is longer than a header");
    home.fails(1, &["--db", "text.db", "list"]);
    home.fails(2, &["list", "--nonsense"]);
    home.fails(2, &["create", "skill", "two words"]);
    home.fails(3, &["show", "nobody"]);
    home.fails(4, &["create", "skill", "s", "--content", "y"]);
    home.fails(5, &["serve", "--addr", "0.0.0.0:4747"]);
    // 6 is shown by a port that is in use, in `serving`.
}

#[test]
fn errors_are_sentences_that_help() {
    let home = Home::new();
    let missing = home.fails(3, &["show", "mentr"]);
    assert!(missing.starts_with("error: no persona is named \"mentr\"; "), "{missing}");
    contains(&missing, &["mentor"]);
    contains(&home.fails(2, &["show", "a b"]), &["contains ' '", "letters, digits"]);
    contains(&home.fails(2, &["create", "skill", "-x"]), &["-x"]);
    contains(&home.fails(2, &["lst"]), &["list"]);
    contains(&home.fails(2, &["--db", "mysql://x/y", "list"]), &["mysql", "postgres://"]);
    contains(
        &home.fails(1, &["--db", "postgres://127.0.0.1:1/none", "list"]),
        &["postgres://127.0.0.1:1/none"],
    );
    contains(&home.fails(2, &["mcp", "--tools", "laod"]), &["load"]);
}

#[test]
fn no_password_is_shown() {
    let home = Home::new();
    let url = "postgres://me:hunter2@127.0.0.1:1/none";
    for arguments in [&["--db", url, "list"][..], &["--db", url, "doctor"]] {
        let Answer { stdout, stderr, .. } = home.run(arguments);
        assert!(!stdout.contains("hunter2") && !stderr.contains("hunter2"), "{stdout}{stderr}");
    }
    let help = Answer::of(home.command().env("MASQUE_DB", url).arg("--help").output().unwrap());
    assert!(!help.ok().contains("hunter2"));
}

#[test]
fn programs_get_errors_as_json() {
    let home = Home::new();
    for (code, kind, arguments) in [
        (3, "missing", &["show", "nobody", "--json"][..]),
        (2, "invalid", &["--json", "list", "--nonsense"]),
        (2, "invalid", &["--json", "create", "part", "x"]),
    ] {
        let error: Value = serde_json::from_str(&home.fails(code, arguments)).unwrap();
        assert_eq!(error["error"]["kind"], kind);
        assert!(!error["error"]["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let home = Home::new();
    // More than fits into a pipe, so that the program is still writing when nobody reads any more.
    let mut command = home.command();
    command.args(["completions", "powershell"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
}

#[test]
fn colour_is_for_terminals() {
    let home = Home::new();
    assert!(!home.ok(&["list"]).contains('\x1b'));
    contains(&home.ok(&["--color", "always", "list"]), &["\x1b[36mmentor"]);
    let mut refused = home.command();
    refused.args(["list", "--color", "auto"]).env("NO_COLOR", "1");
    assert!(!Answer::of(refused.output().unwrap()).ok().contains('\x1b'));
}

#[test]
fn control_characters_never_reach_people_raw() {
    let home = Home::new();
    let evil = "{\"name\": \"evil\", \"description\": \"a\\u001b[2Jb\", \"content\": \"\\u001b]0;x\\u0007\"}";
    home.run_with_input(&["create", "skill"], evil).ok();
    let persona = "{\"name\": \"evil\", \"system_prompt\": \"\\u001b[31mred\", \"skills\": [\"evil\"]}";
    home.run_with_input(&["create", "persona"], persona).ok();
    for arguments in
        [&["list", "skills"][..], &["show", "skill", "evil"], &["show", "evil"], &["manifest", "evil"]]
    {
        let text = home.ok(arguments);
        assert!(!text.contains('\x1b'), "{text:?}");
        contains(&text, &["\\u{1b}"]);
    }
    // What another program reads is exact.
    contains(&home.ok(&["compile", "evil", "--detail"]), &["\x1b[31mred"]);
    assert_eq!(home.json(&["show", "skill", "evil"])["content"], "\x1b]0;x\x07");
}
