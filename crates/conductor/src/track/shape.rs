//! The shape of a track file: its schema, generated from the types, and a check of values against it.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::DeValue;

use super::place::KeyPath;
use super::{FileMistake, Track};
use crate::limits::NESTING;

static SCHEMA: LazyLock<Value> = LazyLock::new(generate);

/// The JSON Schema of a track, in which every part is inlined.
pub(super) fn schema() -> &'static Value {
    &SCHEMA
}

fn generate() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Track>().to_value();
    simplify(&mut schema);
    schema["title"] = json!("track.toml");
    schema
}

/// TOML has no null, and knows no formats of numbers.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(simplify),
        Value::Object(schema) => {
            schema.remove("format");
            if schema.get("default").is_some_and(Value::is_null) {
                schema.remove("default");
            }
            if let Some(Value::Array(types)) = schema.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    schema.insert("type".to_owned(), only);
                }
            }
            schema.values_mut().for_each(simplify);
        }
        _ => {}
    }
}

/// A mistake with its offset and its path.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) offset: usize,
    pub(super) path: KeyPath,
    pub(super) mistake: FileMistake,
}

/// Compares a value with its schema.
pub(super) fn check(
    value: &Spanned<DeValue<'_>>,
    schema: &Value,
    path: &KeyPath,
    depth: usize,
    placed: &mut Vec<Placed>,
) {
    let mut report = |offset: usize, path: KeyPath, mistake: FileMistake| {
        placed.push(Placed { offset, path, mistake });
    };
    let offset = value.span().start;
    if depth > NESTING {
        return report(offset, path.clone(), FileMistake::TooDeep { most: NESTING });
    }
    let alternatives = alternatives(schema);
    let Some(schema) = alternatives.iter().find(|it| fits(value.get_ref(), it)) else {
        let expected: Vec<&str> = alternatives.iter().map(|it| spoken(it)).collect();
        let expected = persona::one_of(&expected).unwrap_or_default();
        let found = seen(value.get_ref());
        return report(offset, path.clone(), FileMistake::WrongType { expected, found });
    };
    match value.get_ref() {
        DeValue::Table(table) => {
            let none = Map::new();
            let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
            for (key, value) in table {
                let name = key.get_ref().as_ref();
                match known.get(name) {
                    Some(schema) => check(value, schema, &path.key(name), depth + 1, placed),
                    None => {
                        let candidates = persona::nearest(name, known.keys().map(String::as_str));
                        let candidates = candidates.into_iter().map(str::to_owned).collect();
                        let mistake =
                            FileMistake::UnknownKey { key: name.chars().take(80).collect(), candidates };
                        placed.push(Placed { offset: key.span().start, path: path.key(name), mistake });
                    }
                }
            }
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            for key in required.filter_map(Value::as_str).filter(|key| !table.contains_key(*key)) {
                let mistake = FileMistake::MissingKey { key: key.to_owned() };
                placed.push(Placed { offset, path: path.clone(), mistake });
            }
        }
        DeValue::Array(array) => {
            for (index, value) in array.iter().enumerate() {
                check(value, &schema["items"], &path.index(index), depth + 1, placed);
            }
        }
        _ => {}
    }
}

fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(alternatives) => alternatives.iter().filter(|it| it["type"] != "null").collect(),
        None => vec![schema],
    }
}

/// True if the type of a value is the schema's. The rest is left to the types.
fn fits(value: &DeValue<'_>, schema: &Value) -> bool {
    match (schema["type"].as_str(), value) {
        (None, _)
        | (Some("string"), DeValue::String(_))
        | (Some("boolean"), DeValue::Boolean(_))
        | (Some("integer"), DeValue::Integer(_))
        | (Some("number"), DeValue::Integer(_) | DeValue::Float(_))
        | (Some("array"), DeValue::Array(_))
        | (Some("object"), DeValue::Table(_)) => true,
        (Some(_), _) => false,
    }
}

fn spoken(schema: &Value) -> &'static str {
    match schema["type"].as_str() {
        Some("string") => "a text",
        Some("boolean") => "true or false",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("array") => "a list",
        _ => "a table",
    }
}

fn seen(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => {
            let shown: String = text.chars().take(40).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("the text {shown:?}{more}")
        }
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
