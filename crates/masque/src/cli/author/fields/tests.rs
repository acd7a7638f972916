use app::inputs::{CreatePersona, UpdatePersona};
use app::{Code, Report};
use clap::{Args as _, Command, FromArgMatches as _, Subcommand as _};
use persona::field::Shape;
use persona::{ContextPreset, Kind, ToolPreset};
use serde_json::{Value, json};

use super::{flags, takes_json};
use crate::cli::{CreateKind, UpdateCommand, UpdateKind};
use crate::definition::{Definition, Purpose};
use crate::failure::{Failure, Result};

fn create(words: &[&str]) -> std::result::Result<CreateKind, clap::Error> {
    let command = CreateKind::augment_subcommands(Command::new("create"));
    CreateKind::from_arg_matches(&command.try_get_matches_from([&["create"][..], words].concat())?)
}

fn update(words: &[&str]) -> std::result::Result<UpdateKind, clap::Error> {
    let command = UpdateCommand::augment_args(Command::new("update"));
    let matches = command.try_get_matches_from([&["update"][..], words].concat())?;
    match UpdateCommand::from_arg_matches(&matches)? {
        UpdateCommand::OfKind(update) => Ok(update),
        UpdateCommand::Named(_) => panic!("{words:?} name a kind"),
    }
}

fn definition(words: &[&str]) -> Result<Definition> {
    let CreateKind { args, fields, .. } = create(words).expect("valid flags");
    let mut definition = Definition::read(None, &fields.read()?, Purpose::Create)?;
    definition.set("name", &args.name)?;
    Ok(definition)
}

fn report<T>(result: Result<T>) -> Report {
    match result {
        Err(Failure::Reported(report)) => *report,
        _ => panic!("a failure with a report"),
    }
}

const EXAMPLES: &str = r#"[{"user": "Hi", "persona": "Hello."}, {"user": "Bye", "persona": "Farewell."}]"#;

#[test]
fn every_field_has_a_flag() {
    for kind in Kind::ALL {
        for field in kind.fields().iter().filter(|field| !matches!(field.shape, Shape::Key)) {
            let has_flag = flags(*kind)
                .iter()
                .any(|flag| flag.field.name == field.name || flag.table == Some(field.name));
            assert!(has_flag, "{kind} {}", field.name);
        }
    }
}

#[test]
fn a_list_of_tables_is_json() {
    let persona = definition(&["persona", "a", "--examples", EXAMPLES]).expect("valid input");
    let persona = persona.into_input::<CreatePersona>().expect("valid input");
    let examples = persona.examples.expect("examples");
    let examples: Vec<(&str, &str)> =
        examples.iter().map(|example| (example.user.as_str(), example.persona.as_str())).collect();
    assert_eq!(examples, [("Hi", "Hello."), ("Bye", "Farewell.")]);

    let entries = r#"[{"path": "README.md"}]"#;
    let preset = definition(&["context-preset", "a", "--entries", entries]).expect("valid input");
    assert_eq!(preset.into_input::<ContextPreset>().expect("valid input").entries.len(), 1);
    let categories = r#"{"read": [{"name": "read_*"}]}"#;
    let preset = definition(&["tool-preset", "a", "--categories", categories]).expect("valid input");
    assert_eq!(preset.into_input::<ToolPreset>().expect("valid input").categories["read"].len(), 1);
}

#[test]
fn a_list_of_tables_is_read_from_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("examples.json");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("a written file");
        definition(&["persona", "a", "--examples-file", path.to_str().expect("a readable path")])
    };
    let persona = read(EXAMPLES).expect("valid input").into_input::<CreatePersona>().expect("valid input");
    assert_eq!(persona.examples.map(|examples| examples.len()), Some(2));

    let broken = report(read("[{\"user\": \"Hi\",\n}]"));
    let place = broken.subject.place.expect("a place");
    assert_eq!((broken.code, place.line), (Code::InvalidConfig, Some(2)));
}

#[test]
fn an_error_names_the_bad_entry() {
    let refused = |examples: &str| {
        let persona = definition(&["persona", "a", "--examples", examples]).expect("valid input");
        let report = report(persona.into_input::<CreatePersona>());
        (report.code, report.subject.field.unwrap_or_default())
    };
    let first = r#"{"user": "Hi", "persona": "Hello."}"#;
    let missing = format!(r#"[{first}, {{"user": "Bye"}}]"#);
    assert_eq!(refused(&missing), (Code::MissingField, "examples[1].persona".to_owned()));
    let unknown = format!(r#"[{first}, {{"usr": "Bye", "persona": "x"}}]"#);
    assert_eq!(refused(&unknown), (Code::UnknownField, "examples[1].usr".to_owned()));
    assert_eq!(refused(r#"["Hi"]"#), (Code::InvalidValue, "examples[0]".to_owned()));
    assert_eq!(refused(first), (Code::InvalidValue, "examples".to_owned()));
}

#[test]
fn text_that_is_not_json_is_refused() {
    let error = create(&["persona", "a", "--examples", "user=Hi"]).expect_err("not JSON");
    assert_eq!(error.kind(), clap::error::ErrorKind::ValueValidation);
}

#[test]
fn an_empty_list_clears_the_field() {
    for empty in ["", "[]"] {
        let UpdateKind { fields, .. } = update(&["persona", "a", "--examples", empty]).expect("valid input");
        let fields = fields.read().expect("valid input");
        assert_eq!(Value::Object(fields.clone()), json!({ "examples": [] }));
        let mut definition = Definition::read(None, &fields, Purpose::Update).expect("valid input");
        definition.set("name", &Some("a")).expect("valid input");
        let persona = definition.into_input::<UpdatePersona>().expect("valid input");
        assert_eq!(persona.examples.map(|examples| examples.len()), Some(0));
    }
}

#[test]
fn names_and_models_keep_their_short_syntax() {
    let json: Vec<&str> = Kind::ALL
        .iter()
        .flat_map(|kind| kind.fields())
        .filter(|field| takes_json(field) && !matches!(field.shape, Shape::Table(_)))
        .map(|field| field.name)
        .collect();
    assert_eq!(json, ["examples", "categories", "entries"]);
}
