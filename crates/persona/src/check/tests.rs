use super::*;
use crate::{Entity as _, Name, Persona, PreferredModel};

#[track_caller]
fn check(edit: impl FnOnce(&mut Persona), expected: Option<(&str, BrokenRule)>) {
    let mut persona = Persona::new(Name::parse("p").expect("a name"));
    edit(&mut persona);
    let expected = expected.map(|(field, rule)| Invalid { field: field.to_owned(), rule });
    assert_eq!(persona.check().err(), expected);
}

fn model(temperature: Option<f64>, top_p: Option<f64>) -> PreferredModel {
    PreferredModel {
        provider: "anthropic".into(),
        model: "m".into(),
        temperature,
        top_p,
        max_output_tokens: None,
    }
}

fn outside(value: &str, least: &str, most: &str) -> BrokenRule {
    BrokenRule::OutOfRange { value: value.into(), least: least.into(), most: most.into() }
}

#[test]
fn an_invalid_field_is_named() {
    check(|_| (), None);
    check(|p| p.summary = Some("a\0b".into()), Some(("summary", BrokenRule::Nul)));
    let most = limits::LONG_TEXT_BYTES;
    check(
        |p| p.detail = Some("x".repeat(most + 1)),
        Some(("detail", BrokenRule::TooLong { bytes: most + 1, most })),
    );
    check(|p| p.tags = vec![" ".into()], Some(("tags", BrokenRule::EmptyEntry)));
    check(
        |p| p.preferred_models = vec![model(Some(2.5), None)],
        Some(("preferred_models[0].temperature", outside("2.5", "0", "2"))),
    );
    check(
        |p| p.preferred_models = vec![model(None, Some(f64::NAN))],
        Some(("preferred_models[0].top_p", outside("NaN", "0", "1"))),
    );
    for (rounds, rule) in [
        (0, Some(outside("0", "1", "1000"))),
        (1, None),
        (1_000, None),
        (1_001, Some(outside("1001", "1", "1000"))),
    ] {
        check(|p| p.max_tool_rounds = Some(rounds), rule.map(|rule| ("max_tool_rounds", rule)));
    }
    let twice = Name::parse("warm").expect("a name");
    check(|p| p.traits = vec![twice.clone(), twice], Some(("traits", BrokenRule::Repeated("warm".into()))));
}
