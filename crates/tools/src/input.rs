//! The schema and the type of a tool's input.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The schema of an object with these properties and no others.
pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(schema)
}

/// Reads the input as a type. It has passed the schema already.
pub(crate) fn parsed<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(input)).map_err(|error| format!("the input cannot be read: {error}"))
}
