use super::*;

#[track_caller]
fn says(sentence: &str, expected: bool) {
    assert_eq!(sentences(sentence).any(says_that_tests_pass), expected, "{sentence}");
}

#[test]
fn claims_that_tests_pass() {
    says("All tests pass.", true);
    says("I fixed it and all 12 tests are passing now", true);
    says("Added the form. The suite is green.", true);
    says("cargo test succeeded", true);
    says("The check passes!", true);
    says("Build: successful. Tests: passed", true);
    says("I did not run the tests, but they should pass.", false);
    says("The tests should pass.", false);
    says("The test fails", false);
    says("I couldn't check that the tests pass", false);
    says("The code passes an index to the next step.", false);
    says("Wrote a test.", false);
    says("No tests were run. Everything passes through the parser.", false);
}

/// Checks if a transcript, written `+command` or `-command` in lines, bears a claim out.
#[track_caller]
fn bears(transcript: &str, claim: &str, expected: bool) {
    assert_eq!(
        Transcript::new(&ran(transcript), None).has_succeeded(claim),
        expected,
        "{transcript}: {claim}"
    );
}

fn ran(transcript: &str) -> Vec<RanCommand> {
    let line = |line: &str| RanCommand { command: line[1..].to_owned(), succeeded: line.starts_with('+') };
    transcript.split(" / ").filter(|it| !it.is_empty()).map(line).collect()
}

#[test]
fn claimed_commands() {
    bears("+cargo test", "cargo test", true);
    bears("+cargo  test -p x", "cargo test", false);
    bears("+cargo test -p x", "cargo test -p x", true);
    bears("+cd /tmp/x && cargo test 2>&1 | tail -20", "cargo test", true);
    bears("+cargo test", "`cargo test`", true);
    bears("+cargo test", "$ cargo test", true);
    bears("+a && b", "a && b", true);
    bears("+a", "a && b", false);
    bears("-cargo test", "cargo test", false);
    bears("-cargo test / +cargo test", "cargo test", true);
    bears("+cargo test / -cargo test", "cargo test", false);
    bears("", "cargo test", false);
    bears("+x", " ", false);
}

#[track_caller]
fn tested(transcript: &str, check: &str, expected: bool) {
    let check = Some(check).filter(|it| !it.is_empty());
    assert_eq!(Transcript::new(&ran(transcript), check).may_have_tested(), expected, "{transcript}");
}

#[test]
fn commands_that_may_test() {
    tested("", "", false);
    tested("+ls -la / +cat a.rs / +git status", "", false);
    tested("+cd x && ls | grep a", "", false);
    tested("-cargo test", "", false);
    tested("+cargo test", "", true);
    tested("+RUST_LOG=1 cargo test", "", true);
    tested("+cd x && make check", "", true);
    tested("+grep -q hello a.txt", "grep -q hello a.txt", true);
    tested("+grep -q hello a.txt", "", false);
    tested("+/usr/bin/ls", "", false);
    tested("+./run-tests.sh", "", true);
}
