use persona::{PartType, Report};

use super::*;

#[test]
fn a_list_is_named_by_its_command() {
    let listed = |kind, part_type| remedy(&Remedy::ListKind { kind, part_type }).expect("it is worded");
    assert!(listed(Kind::Persona, None).contains("`masque list`"));
    assert!(listed(Kind::TestInput, None).contains("`masque list test-inputs`"));
    assert!(listed(Kind::Part, Some(PartType::Tone)).contains("`masque list parts --type tone`"));
}

/// What a person reads for each code.
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
        let report = Report::new(persona::Code::Failed, "it failed").with_candidates(vec!["calm".to_owned()]);
        let sentence = report.with_remedy(one.clone()).sentence(remedy);
        let action = serde_json::to_value(&one).expect("a remedy is JSON")["action"].clone();
        format!("{}: {sentence}\n", action.as_str().unwrap_or_default())
    });
    insta::assert_snapshot!(lines.collect::<String>());
}

/// Programs read the same sentence, and the fields beside it.
#[test]
fn json() {
    let report = testkit::reports().into_iter().find(|report| report.code == persona::Code::PieceGone);
    let failure = report.expect("each code has a report").into();
    insta::assert_json_snapshot!(crate::output::as_json(&failure));
}
