//! Tracks as scripts.
//!
//! A script is a row of clauses with `|` between them. The first one sets the track up: tickets, and words
//! about the track, with `;` between them (`a; b after a; concurrency 1`). Each further clause is a command of
//! a person (`answer a`), or a ticket with what happens to it: `a works, passes, merges`. Each of these
//! starts the steps that it needs, if they were not started. [`play::Play`] has the words.

use super::*;

mod ladder;
mod lifecycle;
mod merging;
mod people;
mod planning;
mod play;
mod random;
mod review;
mod scale;

use play::Play;

/// Asserts the state of each ticket, what it needs a person for, and the phase of the track unless it runs:
/// `a merged, b needs_input (answer) | waiting`.
#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(Play::of(script).states(), expected, "\n  script: {script}");
}

/// Asserts the offered steps: `a/work/2 m1 fresh onto`, with `*` for one that was started.
#[track_caller]
fn check_steps(script: &str, expected: &str) {
    assert_eq!(Play::of(script).steps(), expected, "\n  script: {script}");
}

/// Asserts the kinds of the evidence that the last decision about a ticket rests on.
#[track_caller]
fn check_why(script: &str, ticket: &str, expected: &str) {
    assert_eq!(Play::of(script).why(ticket), expected, "\n  script: {script}");
}

/// Asserts what waits for a person, in the order of its urgency.
#[track_caller]
fn check_needs(script: &str, expected: &str) {
    assert_eq!(Play::of(script).needs(), expected, "\n  script: {script}");
}

/// Asserts that the last command is refused, and why.
#[track_caller]
fn check_refused(script: &str, expected: &str) {
    let (before, last) = script.rsplit_once('|').expect("a clause");
    let mut play = Play::of(before);
    let refusal = play.clause(last.trim()).expect_err(script);
    assert_eq!(refusal.to_string(), expected, "\n  script: {script}");
    play.assert_sound();
}
