//! Exit codes and error messages.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::home::{CommandOutput, Home, Refused, contains};

#[test]
fn each_kind_has_its_exit_code() {
    let home = Home::new();
    home.ok(&["create", "skill", "s", "--content", "x"]);
    home.write("text.db", "this is not a database, but a text that is longer than a header");
    home.refused("database_unavailable", &["--db", "text.db", "list"]).offers("check_database");
    home.refused("unknown_field", &["list", "--nonsense"]);
    home.refused("invalid_value", &["create", "skill", "two words"]);
    home.refused("not_found", &["show", "nobody"]).offers("list_kind");
    home.refused("already_exists", &["create", "skill", "s", "--content", "y"]).offers("update_it");
    home.refused("address_not_local", &["serve", "--addr", "0.0.0.0:4747"]).offers("other_address");
    // `serving` covers 6, with a port in use.
}

#[test]
fn errors_are_sentences_with_a_remedy() {
    let home = Home::new();
    let Refused(error) =
        home.refused("not_found", &["show", "mentr"]).about("name", "mentr").suggests("mentor");
    let sentence = home.fails(3, &["show", "mentr"]);
    assert_eq!(sentence, format!("error: {}\n", error["message"].as_str().unwrap()));
    home.refused("invalid_name", &["show", "a b"]);
    home.refused("unknown_field", &["create", "skill", "-x"]).about("field", "-x");
    home.refused("unknown_word", &["lst"]).suggests("list");
    home.refused("invalid_address", &["--db", "mysql://x/y", "list"]);
    home.refused("database_unavailable", &["--db", "postgres://127.0.0.1:1/none", "list"])
        .offers("check_database");
    home.refused("invalid_value", &["mcp", "--tools", "laod"]);
}

#[test]
fn no_password_is_shown() {
    let home = Home::new();
    let url = "postgres://me:hunter2@127.0.0.1:1/none";
    for arguments in [&["--db", url, "list"][..], &["--db", url, "doctor"]] {
        let CommandOutput { stdout, stderr, .. } = home.run(arguments);
        assert!(!stdout.contains("hunter2") && !stderr.contains("hunter2"), "{stdout}{stderr}");
    }
    let help = CommandOutput::of(home.command().env("MASQUE_DB", url).arg("--help").output().unwrap());
    assert!(!help.ok().contains("hunter2"));
}

#[test]
fn programs_get_errors_as_json() {
    let home = Home::new();
    for (code, kind, arguments) in [
        ("not_found", "missing", &["show", "nobody"][..]),
        ("unknown_field", "invalid", &["list", "--nonsense"]),
        ("unknown_word", "invalid", &["nonsense"]),
        ("missing_field", "invalid", &["promote", "mentor"]),
    ] {
        let Refused(error) = home.refused(code, arguments);
        assert_eq!(error["kind"], kind);
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    // More than fits into a pipe, so that the program still writes when the reader is gone.
    let mut command = home.command();
    command.args(["completions", "powershell"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let answer = CommandOutput::of(child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
}

#[test]
fn colour_is_for_terminals() {
    let home = Home::new();
    assert!(!home.ok(&["list"]).contains('\x1b'));
    contains(&home.ok(&["--color", "always", "list"]), &["\x1b[36mmentor"]);
    let mut refused = home.command();
    refused.args(["list", "--color", "auto"]).env("NO_COLOR", "1");
    assert!(!CommandOutput::of(refused.output().unwrap()).ok().contains('\x1b'));
}

#[test]
fn control_characters_are_escaped_for_people() {
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
    // Programs get the exact text.
    contains(&home.ok(&["compile", "evil"]), &["\x1b[31mred"]);
    assert_eq!(home.json(&["show", "skill", "evil"])["content"], "\x1b]0;x\x07");
}
