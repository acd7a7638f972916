//! A check of values against the part of JSON Schema that our schemas use. An unknown keyword is
//! an error: a schema that is not understood proves nothing.

use serde_json::{Map, Value};

pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    at("", schema, value)
}

fn at(place: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let schema = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(schema) => schema,
        other => return Err(format!("{place}: {other} is not a schema")),
    };
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "description" | "properties" | "additionalProperties" => {}
            "type" => check_type(place, rule, value)?,
            "enum" => {
                let words = rule.as_array().expect("words");
                if !words.contains(value) {
                    return Err(format!("{place}: {value} is not one of {rule}"));
                }
            }
            "const" if rule == value => {}
            "required" => {
                for name in rule.as_array().expect("names") {
                    if value.get(name.as_str().expect("a name")).is_none() {
                        return Err(format!("{place}: {name} is missing"));
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    at(&format!("{place}[{index}]"), rule, item)?;
                }
            }
            "anyOf" | "oneOf" => {
                let options = rule.as_array().expect("options");
                if !options.iter().any(|option| at(place, option, value).is_ok()) {
                    return Err(format!("{place}: {value} fits none of {rule}"));
                }
            }
            other => return Err(format!("{place}: keyword {other} is unknown, or broken by {value}")),
        }
    }
    check_fields(place, schema, value)
}

/// Every field must be named: nothing is answered that the schema does not show.
fn check_fields(place: &str, schema: &Map<String, Value>, value: &Value) -> Result<(), String> {
    let Some(fields) = value.as_object() else { return Ok(()) };
    for (name, field) in fields {
        let rule = schema.get("properties").and_then(|properties| properties.get(name));
        match rule.or_else(|| schema.get("additionalProperties")) {
            Some(rule) => at(&format!("{place}.{name}"), rule, field)?,
            None => return Err(format!("{place}: the field {name} is not in the schema")),
        }
    }
    Ok(())
}

fn check_type(place: &str, rule: &Value, value: &Value) -> Result<(), String> {
    let fits = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    };
    if rule.as_str().is_some_and(fits) {
        Ok(())
    } else {
        Err(format!("{place}: {value} is not of type {rule}"))
    }
}
