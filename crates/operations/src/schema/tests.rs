use std::collections::BTreeMap;

use persona::PartType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

/// The description of the root is dropped; the tool has its own.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sample {
    name: persona::Name,
    /// Shown
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    flag: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    #[serde(default)]
    overrides: Option<BTreeMap<PartType, String>>,
}

#[test]
fn an_input_is_as_short_as_it_can_be() {
    assert_eq!(
        Value::Object(input(SchemaGenerator::subschema_for::<Sample>)),
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "title": { "type": "string", "description": "Shown" },
                "flag": { "type": "boolean" },
                "limit": { "type": "integer" },
                "overrides": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["name"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn an_output_names_every_field_and_stays_open() {
    let schema = output(SchemaGenerator::subschema_for::<Sample>);
    assert_eq!(schema["type"], "object");
    assert!(!schema.contains_key("additionalProperties"));
    assert_eq!(schema["properties"].as_object().expect("properties").len(), 5);
    assert!(schema["required"].as_array().expect("required").iter().all(|name| name != "limit"));
}
