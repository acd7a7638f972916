use serde_json::json;

use super::*;
use crate::{GitFacts, RanCommand, TestChange};

/// A green run, or a red one.
fn run(is_green: bool) -> CheckRun {
    CheckRun {
        command: "make".into(),
        exit_code: Some(if is_green { 0 } else { 2 }),
        timed_out: false,
        output: "o".into(),
        seconds: 1,
    }
}

/// A result that nothing is wrong with.
fn good() -> (Facts, Submission) {
    let git = GitFacts {
        base: "b".into(),
        head: "h".into(),
        descends: true,
        changed: vec!["src/a.rs".into()],
        ..GitFacts::default()
    };
    let facts = Facts {
        git: Some(git),
        check: Some("make".into()),
        run: Some(run(true)),
        ran: vec![RanCommand { command: "make".into(), succeeded: true }],
        criteria: vec!["It says hello.".into()],
        places: ["src/a.rs:1".to_owned()].into(),
        ..Facts::default()
    };
    let submission = json!({
        "outcome": "done",
        "summary": "It says hello. All tests pass.",
        "commands": ["make"],
        "criteria": [{
            "criterion": "It says hello.", "status": "met", "evidence": { "kind": "place", "place": "src/a.rs:1" },
        }],
    });
    (facts, serde_json::from_value(submission).expect("a submission"))
}

/// Judges the good result after an edit. The answer is the ruling and the names of the objections, those
/// that reject with a mark.
#[track_caller]
fn check(edit: impl FnOnce(&mut Facts, &mut Submission), expected: &str) {
    let (mut facts, mut submission) = good();
    edit(&mut facts, &mut submission);
    let verdict = judge(&facts, &submission);
    let name = |objection: &Objection| {
        let json = serde_json::to_value(objection).expect("JSON");
        let mark = if objection.rejects() { "!" } else { "" };
        format!(" {}{mark}", json["objection"].as_str().unwrap_or_default())
    };
    let names: String = verdict.objections.iter().map(name).collect();
    let ruling = serde_json::to_value(verdict.ruling).expect("JSON");
    assert_eq!(format!("{}{names}", ruling.as_str().unwrap_or_default()), expected);
}

fn git(facts: &mut Facts) -> &mut GitFacts {
    facts.git.as_mut().expect("git")
}

fn change(test: &str) -> Vec<TestChange> {
    vec![TestChange { test: test.into(), why: "w".into() }]
}

#[test]
fn commits_and_trees() {
    check(|_, _| {}, "accepted");
    check(|it, _| git(it).descends = false, "rejected not_descended!");
    check(|it, _| git(it).dirty = vec!["x".into()], "rejected dirty_tree!");
    check(|it, _| git(it).changed.clear(), "rejected nothing_changed!");
    check(|it, _| git(it).out_of_scope = vec!["x".into()], "rejected out_of_scope!");
    check(|_, by| by.outcome = Outcome::NoChange, "rejected changed_anyway!");
    check(
        |it, by| {
            by.outcome = Outcome::NoChange;
            git(it).changed.clear();
        },
        "accepted",
    );
    check(|it, _| it.git = None, "accepted");
}

#[test]
fn checks() {
    check(|it, _| it.run = Some(run(false)), "rejected red_check!");
    check(|it, _| it.run = Some(CheckRun { timed_out: true, ..run(true) }), "rejected red_check!");
    check(|it, _| (it.run, it.check) = (None, None), "unverified");
    check(|it, _| it.run = None, "unverified");
    check(
        |it, _| {
            (it.run, it.check) = (None, None);
            git(it).descends = false;
        },
        "rejected not_descended!",
    );
    let with_base = |it: &mut Facts| {
        it.run_with_base_tests = Some(run(false));
        it.tests.changed = vec!["tests/a.rs".into()];
    };
    check(|it, _| with_base(it), "rejected red_with_base_tests!");
    check(|it, by| (with_base(it), by.test_changes = change("tests/a.rs")).0, "accepted red_with_base_tests");
    check(
        |it, by| (with_base(it), by.test_changes = change("./tests/a.rs")).0,
        "accepted red_with_base_tests",
    );
    check(
        |it, by| (with_base(it), by.test_changes = change("tests/a.rs::adds")).0,
        "accepted red_with_base_tests",
    );
    check(
        |it, by| (with_base(it), by.test_changes = change("tests/b.rs")).0,
        "rejected red_with_base_tests!",
    );
    check(|it, _| it.run_with_base_tests = Some(run(true)), "accepted");
}

#[test]
fn tests_that_are_gone() {
    let deleted = |it: &mut Facts| it.tests.deleted = vec!["tests/a.rs: adds".into()];
    check(|it, _| deleted(it), "rejected tests_deleted!");
    for declared in ["adds", "tests/a.rs", "tests/a.rs: adds", "tests/a.rs::adds", "a::adds", "adds()"] {
        check(|it, by| (deleted(it), by.test_changes = change(declared)).0, "accepted tests_deleted");
    }
    check(|it, by| (deleted(it), by.test_changes = change("subtracts")).0, "rejected tests_deleted!");
    check(
        |it, by| {
            it.tests.deleted = vec!["a.rs: one".into(), "a.rs: two".into()];
            by.test_changes = change("one");
        },
        "rejected tests_deleted! tests_deleted",
    );
    check(|it, _| it.tests.skipped = vec!["a.rs: one".into()], "rejected tests_skipped!");
    check(|it, _| (it.tests.base, it.tests.head) = (5, 4), "rejected fewer_tests!");
    check(|it, _| (it.tests.base, it.tests.head) = (4, 5), "accepted");
    check(
        |it, by| {
            (it.tests.base, it.tests.head) = (5, 4);
            by.test_changes = change("x");
        },
        "accepted fewer_tests",
    );
    check(
        |it, _| {
            (it.tests.base, it.tests.head) = (5, 4);
            it.tests.skipped = vec!["a.rs: one".into()];
        },
        "rejected tests_skipped!",
    );
}

#[test]
fn claims() {
    check(|it, _| it.ran.clear(), "rejected claim_not_run! pass_claimed_without_run!");
    check(
        |it, by| {
            it.ran.clear();
            by.commands.clear();
        },
        "rejected pass_claimed_without_run!",
    );
    check(
        |it, by| {
            it.ran = vec![RanCommand { command: "ls".into(), succeeded: true }];
            by.commands.clear();
        },
        "rejected pass_claimed_without_run!",
    );
    check(
        |it, by| {
            it.ran.clear();
            by.commands.clear();
            by.summary = "It says hello. I could not run the tests.".into();
        },
        "accepted",
    );
    check(|_, by| by.commands.push("make lint".into()), "rejected claim_not_run!");
    check(|it, _| it.ran[0].succeeded = false, "rejected claim_not_run! pass_claimed_without_run!");
    check(
        |_, by| by.criteria[0].evidence = Some(Proof::Check { command: "make lint".into() }),
        "rejected claim_not_run!",
    );
    check(
        |it, by| {
            (it.ran, by.commands, by.summary) = (Vec::new(), Vec::new(), "s".into());
            by.criteria[0].evidence = Some(Proof::Test { name: "says_hello".into() });
        },
        "rejected pass_claimed_without_run!",
    );
    check(|it, _| it.places.clear(), "rejected no_such_place!");
}

#[test]
fn criteria() {
    check(|_, by| by.criteria.clear(), "rejected criterion_missing!");
    check(|_, by| by.criteria[0].status = CriterionStatus::Unknown, "rejected criterion_not_met!");
    check(|_, by| by.criteria[0].evidence = None, "rejected no_proof!");
    check(|_, by| by.criteria[0].criterion = "1. it says HELLO".into(), "accepted");
    check(
        |_, by| by.criteria[0].criterion = "It says hello, in the terminal".into(),
        "rejected criterion_missing!",
    );
    check(|it, _| it.criteria = vec!["It says hello in the terminal.".into()], "rejected criterion_missing!");
    check(
        |it, by| {
            it.criteria = vec!["The program says hello in the terminal.".into()];
            by.criteria[0].criterion = "program says hello in the terminal".into();
        },
        "accepted",
    );
    check(
        |_, by| {
            by.outcome = Outcome::Partial;
            by.criteria.clear();
        },
        "accepted",
    );
}
