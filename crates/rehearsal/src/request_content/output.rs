//! Schemas for the text of an answer.

use serde_json::Value;

use super::{ReadResult, items, rejected_at};

/// How much a provider wants of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    Plain,
    /// Objects are closed.
    Closed,
    /// Objects are closed, and every property is required.
    Complete,
}

/// Checks the format of an answer at a place of the request.
pub(super) fn format(format: &Value, place: &str, has_name: bool) -> ReadResult<()> {
    let name = format["name"].as_str().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if has_name && (name.is_empty() || name.len() > 64 || !name.chars().all(fits)) {
        let message = format!("Invalid '{place}.name': it has 1 to 64 letters, digits, '_' and '-'.");
        return rejected_at(format!("{place}.name"), message);
    }
    let strictness = match (has_name, &format["strict"]) {
        (false, _) => Strictness::Closed,
        (true, Value::Bool(true)) => Strictness::Complete,
        (true, _) => Strictness::Plain,
    };
    schema(&format["schema"], &format!("{place}.schema"), strictness)
}

/// Checks a schema at a place of the request.
pub(super) fn schema(schema: &Value, place: &str, strictness: Strictness) -> ReadResult<()> {
    if !schema.is_object() {
        return rejected_at(place, format!("{place}: Input should be a JSON Schema"));
    }
    if strictness == Strictness::Plain { Ok(()) } else { closed(schema, place, strictness) }
}

/// Checks every object that a schema describes. Parsed JSON is never deep.
fn closed(schema: &Value, place: &str, strictness: Strictness) -> ReadResult<()> {
    let properties = schema["properties"].as_object();
    if properties.is_some() || schema["type"] == "object" {
        if schema["additionalProperties"] != Value::Bool(false) {
            let message =
                format!("{place}: For 'object' type, 'additionalProperties' must be explicitly set to false");
            return rejected_at(place, message);
        }
        let is_required =
            |name: &String| items(&schema["required"]).any(|required| required == name.as_str());
        let missing = properties.into_iter().flat_map(serde_json::Map::keys).find(|name| !is_required(name));
        if let (Strictness::Complete, Some(name)) = (strictness, missing) {
            let message =
                format!("{place}: 'required' must include every key in properties. Missing '{name}'.");
            return rejected_at(place, message);
        }
    }
    let parts = ["properties", "$defs"].into_iter().filter_map(|key| schema[key].as_object());
    let parts = parts.flat_map(serde_json::Map::values);
    let choices = items(&schema["anyOf"]).chain(schema.get("items"));
    parts.chain(choices).try_for_each(|part| closed(part, place, strictness))
}

/// Rejects a field that the protocol does not have.
pub(super) fn unknown(body: &Value, field: &str) -> ReadResult<()> {
    match body.get(field) {
        None => Ok(()),
        Some(_) => rejected_at(field, format!("{field}: Extra inputs are not permitted")),
    }
}

/// Checks a seed: a whole number, if there is one.
pub(super) fn seed(seed: &Value, place: &str) -> ReadResult<()> {
    match seed {
        Value::Null => Ok(()),
        seed if seed.is_i64() => Ok(()),
        _ => rejected_at(place, format!("Invalid type for '{place}': expected an integer.")),
    }
}
