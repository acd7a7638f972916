//! `${env.NAME}`: what is expanded, and what stays.

use std::cell::RefCell;
use std::collections::BTreeSet;

use persona::env::{EnvProblem, Expanded, expand, placeholders};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Expands with A, B and EMPTY allowed, of which B is not set; also C is set, and not allowed.
fn expanded(text: &str) -> Expanded {
    let allowed = ["A", "B", "EMPTY", "a_1", "_"].map(str::to_owned).into();
    expand(text, &allowed, &|name| match name {
        "A" => Some("value".to_owned()),
        "C" => Some("secret".to_owned()),
        "a_1" => Some("${env.A}".to_owned()),
        "_" => Some("é".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    })
}

#[track_caller]
fn check(text: &str, expected: &str, problems: &[&str]) {
    let Expanded { text: out, problems: found, .. } = expanded(text);
    assert_eq!(out, expected, "{text:?}");
    let found: Vec<String> = found
        .iter()
        .map(|problem| match problem {
            EnvProblem::NotAllowed { name, line, column } => format!("not allowed {name} {line}:{column}"),
            EnvProblem::Unset { name, line, column } => format!("unset {name} {line}:{column}"),
        })
        .collect();
    assert_eq!(found, problems, "{text:?}");
}

#[test]
fn allowed_and_set_names_are_expanded() {
    check("", "", &[]);
    check("plain", "plain", &[]);
    check("${env.A}", "value", &[]);
    check("a ${env.A} b ${env.A}${env.A}.", "a value b valuevalue.", &[]);
    check("x${env.EMPTY}y", "xy", &[]);
    check("${env._}!", "é!", &[]);
}

#[test]
fn other_names_stay_and_are_reported_with_their_place() {
    check("${env.B}", "${env.B}", &["unset B 1:1"]);
    check("${env.C}", "${env.C}", &["not allowed C 1:1"]);
    check("${env.D}", "${env.D}", &["not allowed D 1:1"]);
    check(
        "é ${env.A}\nü ${env.B} ${env.C}",
        "é value\nü ${env.B} ${env.C}",
        &["unset B 2:3", "not allowed C 2:12"],
    );
    // Names are what they are: case counts.
    check("${env.a}", "${env.a}", &["not allowed a 1:1"]);
}

#[test]
fn a_value_is_never_expanded_again() {
    check("${env.a_1}", "${env.A}", &[]);
    let all: BTreeSet<String> = ["X", "ENV"].map(str::to_owned).into();
    let value = |name: &str| Some(if name == "X" { "${env." } else { "nested" }.to_owned());
    assert_eq!(expand("${env.X}ENV}", &all, &value).text, "${env.ENV}");
}

#[test]
fn there_is_no_escape() {
    check("$${env.A}", "$value", &[]);
    check("\\${env.A}", "\\value", &[]);
    check("{${env.A}}", "{value}", &[]);
}

#[test]
fn malformed_placeholders_are_text() {
    for text in [
        "${env.}",
        "${env.1}",
        "${env.A",
        "${env.A B}",
        "${ENV.A}",
        "${ env.A}",
        "${env.A }",
        "${env:A}",
        "${A}",
        "$env.A",
        "{env.A}",
        "${env.é}",
        "${env.A-B}",
        "${env..A}",
        "${",
        "$",
        "${env.",
    ] {
        check(text, text, &[]);
    }
    check("${env.${env.A}}", "${env.value}", &[]);
}

#[test]
fn only_allowed_names_are_looked_up() {
    let asked = RefCell::new(Vec::new());
    let allowed = ["A".to_owned()].into();
    expand("${env.A} ${env.B} ${env.A}", &allowed, &|name| {
        asked.borrow_mut().push(name.to_owned());
        None
    });
    assert_eq!(asked.into_inner(), ["A", "A"]);
}

#[test]
fn problems_name_the_variable_and_its_place() {
    let problems = expanded("${env.B}\n ${env.C}").problems;
    assert_eq!(
        problems,
        [
            EnvProblem::Unset { name: "B".to_owned(), line: 1, column: 1 },
            EnvProblem::NotAllowed { name: "C".to_owned(), line: 2, column: 2 },
        ]
    );
}

#[test]
fn placeholders_have_places() {
    let text = "é${env.A} ${env.} ${env._x9}";
    let found: Vec<_> = placeholders(text).map(|it| (it.name, &text[it.at..it.at + it.len])).collect();
    assert_eq!(found, [("A", "${env.A}"), ("_x9", "${env._x9}")]);
}

#[test]
fn a_text_full_of_them_is_read_once() {
    // Quadratic work would take minutes here.
    let text = "${env.NOPE}".repeat(20_000);
    let Expanded { text: out, problems, .. } = expanded(&text);
    assert_eq!((out, problems.len()), (text, 20_000));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, rng_seed: RngSeed::Fixed(0x0065_6e76), ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_text_only_placeholders_change(text in r"(\PC|\$\{env\.[ABC]\}|\$\{env\.|\n|é|\$|\}){0,40}") {
        let Expanded { text: out, problems, .. } = expanded(&text);
        let whole: Vec<_> = placeholders(&text).collect();
        prop_assert!(problems.len() <= whole.len());
        // Taking the pieces apart by hand gives the same.
        let mut by_hand = String::new();
        let mut at = 0;
        for placeholder in &whole {
            by_hand.push_str(&text[at..placeholder.at]);
            at = placeholder.at + placeholder.len;
            by_hand.push_str(match placeholder.name {
                "A" => "value",
                _ => &text[placeholder.at..at],
            });
        }
        by_hand.push_str(&text[at..]);
        prop_assert_eq!(out, by_hand);
    }
}
