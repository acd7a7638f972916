//! The sentences of errors, pinned in one snapshot. Other tests compare codes and fields.

use persona::env::EnvProblem;
use persona::{
    AsReport, BaseRef, BrokenRule, Chain, ChainError, Invalid, Link, Name, OverrideError, PartType,
    PromptProblem, Scope,
};

use crate::script::name;

fn text(text: &str) -> String {
    text.to_owned()
}

fn line(error: &dyn AsReport) -> String {
    let report = error.report();
    format!("{}: {}\n", report.code, report.plain_sentence())
}

#[test]
fn errors() {
    let mut lines = String::new();
    for bad in ["", &"x".repeat(65), "-a", "a b"] {
        lines += &line(&Name::parse(bad).expect_err("no name"));
    }
    for bad in ["globl:a", "nowhere:a", "a b"] {
        lines += &line(&bad.parse::<BaseRef>().expect_err("no base"));
    }
    let (part_type, dry) = (PartType::Tone, name("dry"));
    lines += &line(&OverrideError::Unknown { part_type, name: dry.clone() });
    lines += &line(&OverrideError::WrongType { part_type, name: dry, actual: PartType::Voice });
    let chain = Chain::start(Scope::Project, name("a"));
    let base = |text: &str| text.parse::<BaseRef>().expect("a base");
    let back_to = Link(Scope::Project, name("a"));
    for error in [
        ChainError::Cycle { back_to: back_to.clone(), chain: chain.clone(), other: None },
        ChainError::Cycle { back_to, chain: chain.clone(), other: Some(base("builtin:a")) },
        ChainError::TooDeep(chain.clone()),
        ChainError::Missing { chain: chain.clone(), base: base("bse"), meant: None },
        ChainError::Missing { chain: chain.clone(), base: base("bse"), meant: Some(base("base")) },
        ChainError::Upwards(chain, base("project:b")),
    ] {
        lines += &line(&error);
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn invalid_fields() {
    let rules = [
        BrokenRule::TooLong { bytes: 300, most: 200 },
        BrokenRule::TooLong { bytes: 300_000, most: 262_144 },
        BrokenRule::Nul,
        BrokenRule::TooMany { count: 101, most: 100 },
        BrokenRule::Empty,
        BrokenRule::EmptyEntry,
        BrokenRule::NotOneLine { entry: None, most: 200 },
        BrokenRule::NotOneLine { entry: Some(text("a\nb")), most: 200 },
        BrokenRule::OutOfRange { value: text("2.5"), least: text("0"), most: text("2") },
        BrokenRule::TooSmall { least: 1 },
        BrokenRule::Repeated(text("warm")),
        BrokenRule::Outside,
        BrokenRule::NoText,
        BrokenRule::EitherOf("path", "glob"),
    ];
    let lines = rules.map(|rule| format!("{}\n", Invalid { field: text("field"), rule }));
    insta::assert_snapshot!(lines.concat());
}

#[test]
fn variables() {
    let problems = [
        EnvProblem::Unset { name: text("B"), line: 1, column: 1 },
        EnvProblem::NotAllowed { name: text("C"), line: 2, column: 2 },
    ];
    let lines =
        problems.map(|problem| format!("{}\n", PromptProblem { place: text("part calm content"), problem }));
    insta::assert_snapshot!(lines.concat());
}
