//! The JSON Schema of a personas.toml, from which editors complete, explain and check it.
//!
//! It is generated from the types that a file is read into, so that it cannot drift from them. It adds
//! what only files have: entries under their names, short forms, texts in files of their own. It uses
//! draft 7 and no references: that is the newest draft that the TOML extensions of editors (Taplo) read,
//! and they ignore anything beside a `$ref`.

mod connections;
mod part_types;
mod rules;

use persona::field::{Shape, TableType};
use persona::{Field, Kind, PartType, with_kind};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::document::long_fields;
use part_types::about_part_type;

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
        "description": format!("{}. `[{}.NAME]` defines one.", kind.about(), kind.table()),
        "type": "object",
        "patternProperties": { rules::whole(&rules::name_pattern()): entry(kind) },
        "additionalProperties": false,
    })
}

/// The schema of an entry.
fn entry(kind: Kind) -> Value {
    let mut schema = with_kind!(kind, T => generated::<T>());
    without_null(&mut schema);
    key_is_name(&mut schema, kind);
    describe(&mut schema, kind.fields());
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

/// The name is the key of the entry. It may be repeated inside, but no editor should propose it: keys
/// under a pattern are known and not proposed.
fn key_is_name(schema: &mut Value, kind: Kind) {
    if let Some(properties) = properties(schema) {
        properties.remove("name");
    }
    let mut name = json!({
        "type": "string",
        "description": format!("The {}'s name is its key, so that this can be left out; if it is given, it must be the same.", kind.spoken()),
    });
    rules::name(&mut name);
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

/// Says of each field what it is for and what its value must be.
fn describe(schema: &mut Value, fields: &[Field]) {
    let Some(properties) = properties(schema) else { return };
    for field in fields {
        if let Some(place) = properties.get_mut(field.name) {
            describe_field(place, field);
        }
    }
}

fn describe_field(place: &mut Value, field: &Field) {
    if !field.about.is_empty() {
        place["description"] = json!(field.about);
    }
    rules::apply(field, place);
    match field.shape {
        Shape::Table(fields) => describe(place, fields),
        Shape::List { item, .. } => describe_item(&mut place["items"], item),
        Shape::Map { of, .. } => describe_field(&mut place["additionalProperties"], of),
        _ => {}
    }
}

/// An item that has only a name may be written as that name. Rules for texts and rules for tables never
/// apply to the same value, so one schema has both, and a mistake is reported exactly.
fn describe_item(place: &mut Value, item: &TableType) {
    describe(place, item.fields);
    if !item.about.is_empty() {
        place["description"] = json!(item.about);
    }
    let name = item.fields.iter().find(|field| field.name == "name");
    if let (true, Some(name)) = (item.may_be_bare, name) {
        place["type"] = json!(["string", "object"]);
        rules::apply(name, place);
    }
    // If there are several fields to name files, exactly one is used.
    let paths = item.fields.iter().filter(|field| matches!(field.shape, Shape::Path));
    let ways: Vec<Value> = paths.map(|field| json!({ "required": [field.name] })).collect();
    if ways.len() > 1 {
        place["oneOf"] = ways.into();
    }
}

/// Adds `<field>_file` beside each long text; the two exclude each other.
fn texts_in_files(schema: &mut Value) {
    let Some(fields) = properties(schema) else { return };
    let mut dependencies = Map::new();
    for text in long_fields() {
        if !fields.contains_key(*text) {
            continue;
        }
        let field = format!("{text}_file");
        let mut file = json!({
            "type": "string",
            "description": format!("A file with the text of `{text}`, instead of writing it here: a path relative to this file, inside its directory."),
        });
        rules::inner_file(&mut file);
        fields.insert(field.clone(), file);
        dependencies.insert(field, json!({ "properties": { *text: false } }));
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
    if let Some(part_type) = properties(schema).and_then(|fields| fields.get_mut("part_type")) {
        let meanings: Vec<&str> = PartType::ALL.iter().map(|part_type| about_part_type(*part_type)).collect();
        part_type["x-taplo"] = json!({ "docs": { "enumValues": meanings } });
    }
}

fn properties(schema: &mut Value) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties").and_then(Value::as_object_mut)
}

#[cfg(test)]
mod tests;
