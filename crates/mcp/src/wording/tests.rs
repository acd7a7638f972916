use persona::AsReport as _;

use super::*;
use crate::http::BodyError;

#[test]
fn sentences() {
    let lines = testkit::reports()
        .into_iter()
        .map(|report| format!("{}: {}\n", report.code, report.sentence(remedy)));
    insta::assert_snapshot!(lines.collect::<String>());
}

#[test]
fn remedies() {
    let lines = testkit::remedies()
        .into_iter()
        .map(|(action, report)| format!("{action}: {}\n", report.sentence(remedy)));
    insta::assert_snapshot!(lines.collect::<String>());
}

/// Bodies that are refused before they are messages of the protocol.
#[test]
fn bodies() {
    let errors = [
        BodyError::MediaType,
        BodyError::TooLarge { most: 4096 },
        BodyError::Incomplete,
        BodyError::TimedOut,
    ];
    let lines = errors.map(|error| format!("{}: {}\n", error.code(), error.report().sentence(remedy)));
    insta::assert_snapshot!(lines.concat());
}
