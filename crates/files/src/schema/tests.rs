use std::collections::BTreeSet;

use super::*;

/// Every object schema below, with its path.
fn objects(schema: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    match schema {
        Value::Object(fields) => {
            visit(path, schema);
            fields.iter().for_each(|(key, inner)| objects(inner, &format!("{path}/{key}"), visit));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| objects(inner, &format!("{path}/{at}"), visit));
        }
        _ => {}
    }
}

#[test]
fn every_field_is_explained() {
    let mut silent = Vec::new();
    objects(&json_schema(), "", &mut |path, schema| {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        for (field, schema) in properties {
            let excluded = *schema == Value::Bool(false);
            let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            if !excluded && (!about.ends_with('.') || about.contains('\n')) {
                silent.push(format!("{path}/{field}: {about:?}"));
            }
        }
    });
    assert!(silent.is_empty(), "a sentence is missing for:\n{}", silent.join("\n"));
}

#[test]
fn it_keeps_to_what_all_editors_read() {
    let mut found = BTreeSet::new();
    objects(&json_schema(), "", &mut |path, schema| {
        let inside_properties = path.ends_with("/properties") || path.ends_with("/patternProperties");
        let Some(schema) = schema.as_object().filter(|_| !inside_properties) else { return };
        for keyword in
            ["$ref", "$defs", "definitions", "format", "allOf", "unevaluatedProperties", "nullable"]
        {
            if schema.contains_key(keyword) {
                found.insert(format!("{path}/{keyword}"));
            }
        }
        if schema.values().any(Value::is_null) {
            found.insert(format!("{path}: null"));
        }
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_short_form_has_the_limit_of_its_name() {
    for (kind, path) in [
        (Kind::Persona, "/properties/parts/items"),
        (Kind::ToolPreset, "/properties/categories/additionalProperties/items"),
    ] {
        let schema = entry(kind);
        let element = schema.pointer(path).expect("it has a list");
        let name = &element["properties"]["name"];
        assert!(name["maxLength"].is_u64() || name["pattern"].is_string(), "{name}");
        for keyword in ["maxLength", "pattern"] {
            assert_eq!(element[keyword], name[keyword], "{path} {keyword}");
        }
    }
}
