//! Rules for the expectations of test inputs.

use persona::lint::Rule;
use serde_json::{Value, json};

use super::check;

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
fn input(expectation: Value) -> (&'static str, Value) {
    ("project test_input i", json!({ "content": "c", "expectations": [expectation] }))
}

#[track_caller]
fn found(rule: Rule, level: &str, proposition: &str) {
    check(rule, &[input(json!(proposition))], &[&format!("{level} test_input project:i expectations[0]")]);
    let table = json!({ "holds": proposition });
    check(rule, &[input(table)], &[&format!("{level} test_input project:i expectations[0].holds")]);
}

#[track_caller]
fn fine(rule: Rule, proposition: &str) {
    check(rule, &[input(json!(proposition))], &[]);
}

#[test]
fn negated_propositions() {
    for proposition in [
        "Does not mention the price.",
        "It doesn't apologise.",
        "The reply never lies.",
        "Avoids jargon.",
        "No emoji.",
        "Is not rude.",
        "Names the cause and does not blame the user.",
        "Greets the user, but never apologises.",
        "Asks what is slow and doesn't guess.",
        "Names the cause and it does not blame.",
        "Every reply avoids jargon.",
    ] {
        found(Rule::NegatedExpectation, "warning", proposition);
    }
    for proposition in [
        "Admits what it does not know.",
        "Says no to the request.",
        "Notes the time.",
        "Refuses.",
        "Says what it knows and does not know.",
        "Names what is and is not covered.",
        "Names the cause and not the symptom.",
    ] {
        fine(Rule::NegatedExpectation, proposition);
    }
}

#[test]
fn several_claims() {
    for proposition in [
        "Greets back and asks what is wanted.",
        "Names the cause. Offers a fix.",
        "Greets; then asks.",
        "Is polite and asks what is slow.",
        "Gives three options, and then asks.",
        "Greets the user and is polite.",
        "The reply names the cause and clearly states a fix.",
        "Says what failed, but does not say why.",
        "Each answer has a title and ends with a question.",
    ] {
        found(Rule::SeveralClaims, "warning", proposition);
    }
    for proposition in [
        "Asks what is slow, and for whom.",
        "Names cause and effect.",
        "Names the risks and costs.",
        "Mentions Dr. Who.",
        "Asks e.g. Which page?",
        "Names the risks and costs of a rewrite.",
        "Names what is and is not covered.",
        "Asks, or marks as open, whether N counts the first attempt.",
        "Is short and clear.",
        "Says that nothing was run, and what has to be checked.",
    ] {
        fine(Rule::SeveralClaims, proposition);
    }
}

#[test]
fn counting() {
    for proposition in [
        "Has at most 80 words.",
        "Is three sentences long.",
        "Uses fewer than 100 tokens.",
        "Has fewer than 80 short words.",
        "Answers in a single sentence.",
        "Answers in a sentence.",
        "Is two short, plain sentences long.",
    ] {
        found(Rule::JudgedCount, "warning", proposition);
    }
    for proposition in [
        "Uses plain words.",
        "Names 3 causes.",
        "Uses the words of the user.",
        "Names 3 causes in plain words.",
        "Gives one example of a sentence.",
        "Ends with a sentence about the costs.",
    ] {
        fine(Rule::JudgedCount, proposition);
    }
    check(Rule::JudgedCount, &[input(json!({ "words": { "max": 80 } }))], &[]);
}

#[test]
fn unknown_pieces() {
    let about = |piece: &str| input(json!({ "lacks": ["x"], "piece": piece }));
    let honest = || ("project guardrail honest", json!({ "content": "Be honest." }));
    check(Rule::UnknownReference, &[about("guardrail:honest"), honest()], &[]);
    check(
        Rule::UnknownReference,
        &[about("guardrail:honesty"), honest()],
        &[r#"error test_input project:i expectations[0].piece "honesty" ~ honest"#],
    );
    for piece in ["honest", "rule:honest", "persona:mentor", "guardrail: "] {
        let expected = format!("error test_input project:i expectations[0].piece {piece:?} | kind:name");
        check(Rule::UnknownReference, &[about(piece), honest()], &[&expected]);
    }
}
