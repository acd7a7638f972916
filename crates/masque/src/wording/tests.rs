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

#[test]
fn notices() {
    let fields = vec!["context_preset".to_owned(), "aggregation_strategy".to_owned()];
    let placeholder = |variable: &str, kind, name: &str, field: &str| UnfilledPlaceholder {
        variable: variable.to_owned(),
        kind,
        name: persona::Name::parse(name).expect("a name"),
        field: field.to_owned(),
    };
    let placeholders = vec![
        placeholder("TEAM", Kind::Persona, "on-call", "system_prompt"),
        placeholder("URL", Kind::Part, "runbooks", "content"),
    ];
    let notices = [
        Notice::SaysNothing,
        Notice::UnusedSettings { fields },
        Notice::UnfilledPlaceholders { placeholders },
        Notice::UnconfirmedPresets {
            presets: vec![persona::Name::parse("kit").expect("a name")],
            tools: vec!["write_file".to_owned(), "run_command".to_owned()],
        },
        Notice::ShadowsPersona {
            name: persona::Name::parse("mentor").expect("a name"),
            scope: persona::Scope::Builtin,
        },
    ];
    insta::assert_snapshot!(notices.iter().map(|it| notice(it) + "\n").collect::<String>());
}
