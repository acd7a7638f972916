use persona::{Persona, ToolPreset};
use serde_json::json;

use super::*;
use crate::inputs::{CreatePersona, GetPersona, List};

fn check<T: DeserializeOwned>(arguments: Value, message: &str) {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    match parse::<T>(&arguments) {
        Ok(_) => panic!("accepted, not refused with {message:?}"),
        Err(error) => assert_eq!(error.report().plain_sentence(), message),
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    check::<GetPersona>(json!({}), r#""name" is missing; add it"#);
    check::<GetPersona>(
        json!({ "name": "a", "detial": true }),
        r#"unknown field "detial"; did you mean "detail"?"#,
    );
    check::<List>(
        json!({ "zzzzzz": 1 }),
        r#"unknown field "zzzzzz"; use tags, query, limit, cursor or scope"#,
    );
    check::<GetPersona>(
        json!({ "name": "a", "limit": "ten" }),
        r#"limit: invalid type: string "ten", expected a whole number, 0 or more"#,
    );
    check::<GetPersona>(
        json!({ "name": "a", "types": ["soul", "tonne"] }),
        r#"types[1]: unknown part type "tonne" (did you mean "tone"?)"#,
    );
    check::<CreatePersona>(
        json!({ "name": "a", "parts": ["x", { "nmae": "y" }] }),
        r#"unknown field "nmae" in parts[1]; did you mean "name"?"#,
    );
    check::<CreatePersona>(
        json!({ "name": "a", "traits": [{ "name": "y" }] }),
        r#""trait_type" is missing in traits[0]; add it"#,
    );
}

#[test]
fn types_are_not_called_by_their_names() {
    check::<Persona>(
        json!({ "name": "a", "parts": [5] }),
        "parts[0]: invalid type: integer `5`, expected a name, or {name, order, priority}",
    );
    check::<ToolPreset>(
        json!({ "name": "a", "categories": { "read": [true] } }),
        "categories.read[0]: invalid type: boolean `true`, expected a name, or {name, approval, weight, parameter_bias}",
    );
    check::<Persona>(
        json!({ "name": "a", "preferred_models": ["large"] }),
        r#"preferred_models[0]: invalid type: string "large", expected an object"#,
    );
    check::<Persona>(
        json!({ "name": "a", "preferred_models": [["p"]] }),
        "preferred_models[0]: invalid length 1, expected an object with 5 elements",
    );
    check::<ToolPreset>(
        json!({ "name": "a", "categories": { "read": [{ "name": "cat", "weight": "3" }] } }),
        r#"categories.read[0].weight: invalid type: string "3", expected a whole number from 0 to 255"#,
    );
}
