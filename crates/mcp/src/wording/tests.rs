use persona::{AsReport as _, Code};

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
    let lines = testkit::remedies().into_iter().map(|one| {
        let action = json!(one)["action"].as_str().unwrap_or_default().to_owned();
        let report = Report::new(Code::Failed, "it failed").with_candidates(vec!["calm".to_owned()]);
        format!("{action}: {}\n", report.with_remedy(one).sentence(remedy))
    });
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
