use persona::PartType;

use super::*;

#[test]
fn a_list_is_named_by_its_command() {
    let listed = |kind, part_type| remedy(&Remedy::ListKind { kind, part_type }).expect("it is worded");
    assert!(listed(Kind::Persona, None).contains("`masque list`"));
    assert!(listed(Kind::TestInput, None).contains("`masque list test-inputs`"));
    assert!(listed(Kind::Part, Some(PartType::Tone)).contains("`masque list parts --type tone`"));
}

/// The sentence of each code.
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

/// Programs read the same sentence, and the fields beside it.
#[test]
fn json() {
    let report = testkit::reports().into_iter().find(|report| report.code == persona::Code::PieceGone);
    let failure = report.expect("each code has a report").into();
    insta::assert_json_snapshot!(crate::output::as_json(&failure));
}
