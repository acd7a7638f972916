use persona::{Persona, ToolPreset};
use serde_json::json;

use super::*;
use crate::inputs::{CreatePersona, GetPersona, LintLibrary, List};

fn error<T: DeserializeOwned>(fields: Value) -> InputError {
    let Value::Object(fields) = fields else { panic!("an object") };
    match parse::<T>(&fields) {
        Ok(_) => panic!("accepted: {fields:?}"),
        Err(error) => error,
    }
}

fn whole(least: i64, most: u64) -> ExpectedType {
    ExpectedType::Whole { least, most }
}

#[test]
fn an_unknown_field_has_its_place_and_candidates() {
    let misspelt = error::<GetPersona>(json!({ "name": "a", "detial": true }));
    assert!(
        matches!(&misspelt, InputError::Unknown { parent, field, .. } if parent.is_empty() && field == "detial")
    );
    assert_eq!(misspelt.candidates(), ["detail"]);
    assert_eq!(misspelt.remedies(), [Remedy::DidYouMean]);
    let nested = error::<CreatePersona>(json!({ "name": "a", "parts": ["x", { "nmae": "y" }] }));
    assert_eq!(nested.subject(), Subject::field("parts[1].nmae"));
    assert_eq!(nested.candidates(), ["name"]);
}

#[test]
fn a_field_unlike_any_other_lists_them_all() {
    let words: Vec<String> = ["tags", "query", "limit", "cursor", "scope"].map(str::to_owned).into();
    let unlike = error::<List>(json!({ "zzzzzz": 1 }));
    assert_eq!(unlike.candidates(), words);
    assert_eq!(unlike.remedies(), [Remedy::UseOneOf { words }]);
}

/// Also where it is the only field.
#[test]
fn a_near_field_is_suggested() {
    let singular = error::<LintLibrary>(json!({ "scope": "shared" }));
    assert_eq!(singular.candidates(), ["scopes"]);
    assert_eq!(singular.remedies(), [Remedy::DidYouMean]);
}

#[test]
fn a_missing_field_has_its_place() {
    let parent = String::new();
    assert_eq!(error::<GetPersona>(json!({})), InputError::Missing { parent, field: "name" });
    let nested = error::<CreatePersona>(json!({ "name": "a", "traits": [{ "name": "y" }] }));
    assert_eq!(nested, InputError::Missing { parent: "traits[0]".to_owned(), field: "trait_type" });
    assert_eq!(nested.subject(), Subject::field("traits[0].trait_type"));
}

#[test]
fn an_unknown_word_has_its_place_and_candidates() {
    let misspelt = error::<GetPersona>(json!({ "name": "a", "types": ["soul", "tonne"] }));
    assert_eq!(misspelt.code(), Code::UnknownWord);
    assert_eq!(misspelt.subject(), Subject::field("types[1]"));
    assert_eq!(misspelt.candidates(), ["tone"]);
    let key = error::<GetPersona>(json!({ "name": "a", "overrides": { "tonne": "x" } }));
    assert_eq!((key.code(), key.subject()), (Code::UnknownWord, Subject::field("overrides")));
}

#[test]
fn a_value_of_another_type_has_the_expected_one() {
    let preset = |tool: Value| json!({ "name": "a", "categories": { "read": [tool] } });
    let model = |model: Value| json!({ "name": "a", "preferred_models": [model] });
    for (error, field, expected, found) in [
        (
            error::<GetPersona>(json!({ "name": "a", "limit": "ten" })),
            "limit",
            whole(0, u32::MAX.into()),
            "\"ten\"",
        ),
        (error::<GetPersona>(json!({ "name": "a", "limit": -1 })), "limit", whole(0, u32::MAX.into()), "-1"),
        (
            error::<GetPersona>(json!({ "name": "a", "limit": 1.5 })),
            "limit",
            whole(0, u32::MAX.into()),
            "1.5",
        ),
        (
            error::<GetPersona>(json!({ "name": "a", "detail": "yes" })),
            "detail",
            ExpectedType::Flag,
            "\"yes\"",
        ),
        (error::<GetPersona>(json!({ "name": 7 })), "name", ExpectedType::Text, "7"),
        (error::<List>(json!({ "tags": "x" })), "tags", ExpectedType::List, "\"x\""),
        (error::<Persona>(model(json!("large"))), "preferred_models[0]", ExpectedType::Object, "\"large\""),
        (error::<Persona>(model(json!(["p"]))), "preferred_models[0]", ExpectedType::Object, "a list"),
        (
            error::<ToolPreset>(preset(json!({ "name": "cat", "weight": "3" }))),
            "categories.read[0].weight",
            whole(0, u8::MAX.into()),
            "\"3\"",
        ),
    ] {
        let (field, found) = (field.to_owned(), found.to_owned());
        assert_eq!(error, InputError::Type { field, expected, found });
    }
}

#[test]
fn a_type_with_several_forms_describes_itself() {
    let link = error::<Persona>(json!({ "name": "a", "parts": [5] }));
    assert_eq!(link.subject(), Subject::field("parts[0]"));
    assert!(matches!(link, InputError::Type { expected: ExpectedType::NameOrObject, .. }));
    let revision = error::<GetPersona>(json!({ "name": "a", "revision": [] }));
    assert!(matches!(revision, InputError::Type { expected: ExpectedType::Other(_), .. }));
}

#[test]
fn an_invalid_name_has_its_own_code() {
    for (fields, field) in [
        (json!({ "name": "a b" }), "name"),
        (json!({ "name": "a", "traits": ["calm", "a b"] }), "traits[1]"),
        (json!({ "name": "a", "parts": [{ "name": "a b" }] }), "parts[0].name"),
    ] {
        let refused = error::<Persona>(fields);
        let subject = Subject { name: Some("a b".to_owned()), ..Subject::field(field) };
        assert_eq!((refused.code(), refused.subject()), (Code::InvalidName, subject));
    }
}
