//! Twenty questions: a game of one's own, in one short file.

use super::play::{Play, assert_sound, setup};
use crate::twenty_questions::example::TwentyQuestions;

#[path = "twenty_questions/example.rs"]
mod example;

/// Asserts what happens. Ana keeps the word.
#[track_caller]
fn check(script: &str, expected: &str) {
    let setup = setup("twenty Ana Ben Cleo; word=piano; most=3");
    let game = TwentyQuestions::new(&setup);
    let play = Play::with(arena::Table::new(setup, Box::new(game)), script);
    assert_eq!(play.shown(), expected, "\n  script: {script}");
    // A game of one's own replays as well.
    let again =
        arena::Table::replay_with(&play.table.log(), |setup| Ok(Box::new(TwentyQuestions::new(setup))));
    let (again, _) = again.expect("a replay");
    assert_eq!(again.log().to_lines(), play.table.log().to_lines());
    assert_sound(&again);
}

#[test]
fn a_right_guess_wins() {
    check(
        "Ben: Is it alive? | Ana answer no | Cleo guess table | Ben guess Piano",
        "[>Ana The word is piano.] | Ben: Is it alive? | [Ana answers: no.] | [Cleo guesses table. That is wrong.] | \
         [Ben guesses piano. That is right.] | (finished)",
    );
}

#[test]
fn the_keeper_wins_after_the_last_question() {
    check(
        "Ben: Is it alive? | Ana answer no | Cleo: Is it big? | Ana times out | Ben passes",
        "[>Ana The word is piano.] | Ben: Is it alive? | [Ana answers: no.] | Cleo: Is it big? | [Ana answers: unclear.] | \
         (finished)",
    );
}

#[test]
fn the_word_is_the_keepers() {
    let setup = setup("twenty Ana Ben; word=piano; most=2");
    let game = TwentyQuestions::new(&setup);
    let play = Play::with(arena::Table::new(setup, Box::new(game)), "Ben: Is it alive? | Ana answer no");
    assert!(!play.last_prompt("Ben").contains("piano"));
    assert!(play.last_prompt("Ana").contains("piano"));
    assert_eq!(play.table.ending().map(|ending| ending.winners.len()), Some(1));
}

#[test]
fn the_example_is_short() {
    let lines = include_str!("twenty_questions/example.rs").lines().count();
    assert!(lines < 150, "{lines} lines");
}
