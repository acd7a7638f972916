//! JSON Schemas of inputs and outputs, made lean: an agent pays for every token of an input
//! schema in every conversation.
//!
//! Dropped: titles, formats, plain defaults, `null` beside another type (an absent field says the
//! same, and null is accepted anyway), and the wrapping of types into definitions. The rest is JSON
//! Schema draft 2020-12, the default dialect of MCP and OpenAPI 3.1.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

type Object = Map<String, Value>;
type Describe = fn(&mut SchemaGenerator) -> Schema;

/// The schema of an input. Every type is written out in place.
pub fn input(describe: Describe) -> Object {
    let mut schema = inline(SchemaSettings::draft2020_12(), describe);
    lean(&mut schema);
    // The operation's own summary says what the type's description would.
    schema.remove("description");
    drop_type_descriptions(&mut schema);
    schema
}

/// The schema of an output. Open, so that a later release may add fields.
pub fn output(describe: Describe) -> Object {
    let mut schema = inline(SchemaSettings::draft2020_12().for_serialize(), describe);
    lean(&mut schema);
    open(&mut schema);
    schema
}

fn inline(settings: SchemaSettings, describe: Describe) -> Object {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    match describe(&mut SchemaGenerator::new(settings)).to_value() {
        Value::Object(object) => object,
        // `true` as a schema: anything is valid.
        _ => Map::new(),
    }
}

/// A field of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputField {
    pub name: String,
    pub of: FieldType,
    pub required: bool,
}

/// The type of a field in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Integer,
    Number,
    Flag,
    /// Repeats its name.
    List,
    /// Does not fit into a query.
    Object,
}

/// The fields of an input's schema: required ones first, then by name.
pub fn fields(schema: &Object) -> Vec<InputField> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut fields: Vec<InputField> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| InputField {
            name: name.clone(),
            of: field_type(schema),
            required: is_required(name),
        })
        .collect();
    fields.sort_by(|a, b| b.required.cmp(&a.required).then_with(|| a.name.cmp(&b.name)));
    fields
}

fn field_type(schema: &Value) -> FieldType {
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => FieldType::Integer,
        Some("number") => FieldType::Number,
        Some("boolean") => FieldType::Flag,
        Some("array") => FieldType::List,
        Some("object") => FieldType::Object,
        // One of several types, such as a revision's number or tag, is text.
        _ => FieldType::Text,
    }
}

/// Removes keywords that cost more tokens than they are worth.
fn lean(schema: &mut Object) {
    schema.remove("title");
    schema.remove("format");
    schema.remove("$schema");
    if schema.get("minimum").is_some_and(|least| least.as_f64() == Some(0.0)) {
        schema.remove("minimum");
    }
    if schema.get("default").is_some_and(is_plain) {
        schema.remove("default");
    }
    drop_null(schema);
    collapse_uniform_map(schema);
    for_each_subschema(schema, &mut lean);
}

/// True for a default that readers assume anyway.
fn is_plain(default: &Value) -> bool {
    match default {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::String(_) | Value::Object(_) => false,
    }
}

/// Removes `null` as an alternative, and the union with it where only one type is left.
fn drop_null(schema: &mut Object) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(options)) = schema.get_mut(union) else { continue };
        options.retain(|option| option.get("type").is_none_or(|name| name != "null"));
        if options.len() != 1 {
            continue;
        }
        if let Some(Value::Array(mut options)) = schema.remove(union)
            && let Some(Value::Object(only)) = options.pop()
        {
            for (keyword, value) in only {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
}

/// Turns a map whose keys are a vocabulary (one property for each word, all alike) into a map with any
/// key, which takes fewer tokens. Parsing refuses unknown words.
fn collapse_uniform_map(schema: &mut Object) {
    if schema.contains_key("required") || schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return;
    }
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    let mut values = properties.values();
    let Some(first) = values.next() else { return };
    if properties.len() > 4 && values.all(|value| value == first) {
        let value = first.clone();
        schema.remove("properties");
        schema.insert("additionalProperties".to_owned(), value);
    }
}

/// Removes the descriptions of types inside lists and unions, which are for readers of the code. The
/// descriptions of fields stay.
fn drop_type_descriptions(schema: &mut Object) {
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        items.remove("description");
    }
    for union in ["anyOf", "oneOf"] {
        for option in schema.get_mut(union).and_then(Value::as_array_mut).into_iter().flatten() {
            option.as_object_mut().map(|option| option.remove("description"));
        }
    }
    for_each_subschema(schema, &mut drop_type_descriptions);
}

/// Allows additional fields, and drops defaults, which answers do not have.
pub(crate) fn open(schema: &mut Object) {
    schema.remove("default");
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if schema.get(keyword) == Some(&Value::Bool(false)) {
            schema.remove(keyword);
        }
    }
    for_each_subschema(schema, &mut open);
}

/// Visits the schemas directly inside a schema. The names in `properties` are not keywords, so [`lean`]
/// keeps a property called "title".
fn for_each_subschema(schema: &mut Object, visit: &mut dyn FnMut(&mut Object)) {
    for keyword in ["items", "additionalProperties", "not"] {
        if let Some(Value::Object(inner)) = schema.get_mut(keyword) {
            visit(inner);
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(options)) = schema.get_mut(keyword) {
            options.iter_mut().filter_map(Value::as_object_mut).for_each(&mut *visit);
        }
    }
    for keyword in ["properties", "$defs"] {
        if let Some(Value::Object(named)) = schema.get_mut(keyword) {
            named.values_mut().filter_map(Value::as_object_mut).for_each(&mut *visit);
        }
    }
}

#[cfg(test)]
mod tests;
