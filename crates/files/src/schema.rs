//! The JSON Schema of a personas.toml, from which editors complete, explain and check it.
//!
//! It is generated from the types that a file is read into, so that it cannot drift from them, and then
//! given what only files have: entries under their names, short forms, texts in files of their own.
//! It keeps to draft 7 and to no references: that is the newest draft which the TOML extensions of
//! editors (Taplo) read, and they pass over whatever stands beside a `$ref`.

mod connections;
mod fields;
mod rules;

use persona::{Kind, PartType, limits, with_kind};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::document::LONG_FIELDS;
use fields::{about_part_type, about_table};
use rules::Rule;

/// The schema of a whole file.
pub fn json_schema() -> Value {
    let tables = Kind::ALL.iter().map(|kind| (kind.table().to_owned(), table(*kind)));
    let tables = tables.chain(connections::tables());
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "personas.toml",
        "description": "Personas and the pieces that they are made of, for Masque.",
        "type": "object",
        "properties": Value::Object(tables.collect()),
        "additionalProperties": false,
    })
}

fn table(kind: Kind) -> Value {
    json!({
        "description": about_table(kind),
        "type": "object",
        "patternProperties": { rules::whole(&rules::name_pattern()): entry(kind) },
        "additionalProperties": false,
    })
}

/// What stands under a name.
fn entry(kind: Kind) -> Value {
    let mut schema = with_kind!(kind, T => generated::<T>());
    without_null(&mut schema);
    key_is_name(&mut schema, kind);
    for field in fields::of(kind) {
        if let Some(place) = at(&mut schema, field.path) {
            if !field.about.is_empty() {
                place["description"] = json!(field.about);
            }
            field.rule.apply(place);
        }
    }
    short_forms(&mut schema, kind);
    texts_in_files(&mut schema);
    if kind == Kind::Part {
        about_parts(&mut schema);
    }
    schema
}

fn generated<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.into()
}

/// TOML has no null and knows no number formats: what is not set is not there.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(without_null),
        Value::Object(schema) => {
            schema.remove("format");
            if schema.get("default").is_some_and(Value::is_null) {
                schema.remove("default");
            }
            for (keyword, null) in [("type", json!("null")), ("enum", Value::Null)] {
                let Some(Value::Array(values)) = schema.get_mut(keyword) else { continue };
                values.retain(|value| *value != null);
                if let ("type", [only]) = (keyword, values.as_slice()) {
                    let only = only.clone();
                    schema.insert(keyword.to_owned(), only);
                }
            }
            schema.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// The name is the key of the entry. It may be repeated inside, but no editor should propose it: what
/// stands under a pattern is known and not proposed.
fn key_is_name(schema: &mut Value, kind: Kind) {
    if let Some(properties) = properties(schema) {
        properties.remove("name");
    }
    let mut name = json!({
        "type": "string",
        "description": format!("The {}'s name is its key, so that this can be left out; if it is given, it must be the same.", kind.spoken()),
    });
    Rule::Name.apply(&mut name);
    schema["patternProperties"] = json!({ "^name$": name });
    let required = schema.get_mut("required").and_then(Value::as_array_mut);
    if required.is_some_and(|required| {
        required.retain(|field| field != "name");
        required.is_empty()
    }) && let Some(schema) = schema.as_object_mut()
    {
        schema.remove("required");
    }
}

/// A list entry that says no more than a name may be that name. What holds for texts and what holds for
/// tables do not meet in one value, so that both stand in one schema and a mistake is named exactly.
fn short_forms(schema: &mut Value, kind: Kind) {
    let (path, about, rule) = match kind {
        Kind::Persona => ("parts[]", "A part: its name, or a table with its place.", Rule::Name),
        Kind::ToolPreset => (
            "categories{}[]",
            "A tool: its name, or a table with how it is used.",
            Rule::Line(limits::TOOL_CHARS),
        ),
        _ => return,
    };
    if let Some(place) = at(schema, path) {
        place["type"] = json!(["string", "object"]);
        place["description"] = json!(about);
        rule.apply(place);
    }
}

/// Adds `<field>_file` beside each long text; the two exclude each other.
fn texts_in_files(schema: &mut Value) {
    let Some(fields) = properties(schema) else { return };
    let mut dependencies = Map::new();
    for text in LONG_FIELDS {
        if !fields.contains_key(text) {
            continue;
        }
        let field = format!("{text}_file");
        let mut file = json!({
            "type": "string",
            "description": format!("A file with the text of `{text}`, instead of writing it here: a path relative to this file, inside its directory."),
        });
        Rule::InnerFile.apply(&mut file);
        fields.insert(field.clone(), file);
        dependencies.insert(field, json!({ "properties": { text: false } }));
    }
    fields.values_mut().for_each(texts_in_files);
    if !dependencies.is_empty() {
        schema["dependencies"] = Value::Object(dependencies);
    }
}

/// A part has some text, and each of its types means something.
fn about_parts(schema: &mut Value) {
    let texts = ["content", "content_file", "summary", "description"];
    schema["anyOf"] = texts.iter().map(|text| json!({ "required": [text] })).collect();
    if let Some(part_type) = at(schema, "part_type") {
        let meanings: Vec<&str> = PartType::ALL.iter().map(|part_type| about_part_type(*part_type)).collect();
        part_type["x-taplo"] = json!({ "docs": { "enumValues": meanings } });
    }
}

fn properties(schema: &mut Value) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties").and_then(Value::as_object_mut)
}

/// The schema of a field: `stages[].parts` is a field of a list's entries, `categories{}[]` an entry of a
/// list under any key.
fn at<'a>(schema: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut place = schema;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let field = step.trim_end_matches(['[', ']', '{', '}']);
        place = place.get_mut("properties")?.get_mut(field)?;
        for inner in step[field.len()..].chars() {
            place = match inner {
                '[' => place.get_mut("items")?,
                '{' => place.get_mut("additionalProperties")?,
                _ => place,
            };
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests;
