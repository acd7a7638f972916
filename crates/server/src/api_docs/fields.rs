//! Tables of fields, from JSON Schemas.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::plain_page::escaped;

/// Levels of an answer that are shown. Deeper ones are in the OpenAPI document.
const DEPTH: usize = 3;
/// Words of a closed vocabulary that are shown.
const WORDS: usize = 20;

/// One row of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    /// Where a field of a request goes.
    place: &'static str,
    required: bool,
    type_name: String,
    description: String,
}

impl Row {
    pub(super) fn of(name: &str, place: &'static str, required: bool, schema: Option<&Value>) -> Self {
        let text = |key: &str| schema.and_then(|schema| schema.get(key)).and_then(Value::as_str);
        Self {
            name: name.to_owned(),
            place,
            required,
            type_name: schema.map(type_name).unwrap_or_default(),
            description: text("description").unwrap_or_default().to_owned(),
        }
    }
}

/// Writes a table. `place` is the heading of the column that says where a field goes; it is left out if
/// empty.
pub(super) fn write(html: &mut String, place: &str, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let middle = if place.is_empty() { String::new() } else { format!("<th scope=\"col\">{place}</th>") };
    let _ = writeln!(
        html,
        "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">field</th>{middle}\
         <th scope=\"col\">type</th><th scope=\"col\"></th></tr></thead>\n<tbody>"
    );
    for Row { name, place: at, required, type_name, description } in rows {
        let middle = if place.is_empty() { String::new() } else { format!("<td>{at}</td>") };
        let optional = if *required { "" } else { " <span class=\"faint\">optional</span>" };
        let _ = writeln!(
            html,
            "<tr><td><code>{}</code>{optional}</td>{middle}<td>{}</td><td>{}</td></tr>",
            escaped(name),
            escaped(type_name),
            escaped(description)
        );
    }
    html.push_str("</tbody></table></div>\n");
}

/// The fields of an answer, with those inside of them.
pub(super) fn of_answer(schema: &Map<String, Value>) -> Vec<Row> {
    let mut rows = Vec::new();
    add(&mut rows, "", &Value::Object(schema.clone()), DEPTH);
    rows
}

fn add(rows: &mut Vec<Row>, before: &str, schema: &Value, depth: usize) {
    if depth == 0 {
        return;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{before}{name}");
        let row = Row::of(&path, "", is_required(name), Some(inner));
        // Several forms of one answer share fields.
        if !rows.iter().any(|known| known.name == row.name) {
            rows.push(row);
        }
        add(rows, &format!("{path}."), inner, depth - 1);
        if let Some(items) = inner.get("items") {
            add(rows, &format!("{path}[]."), items, depth - 1);
        }
    }
    for union in ["anyOf", "oneOf", "allOf"] {
        for option in schema.get(union).and_then(Value::as_array).into_iter().flatten() {
            add(rows, before, option, depth);
        }
    }
}

/// The type of a field in words.
fn type_name(schema: &Value) -> String {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let shown: Vec<&str> = words.iter().filter_map(Value::as_str).take(WORDS).collect();
        let more = if words.len() > WORDS { ", …" } else { "" };
        return format!("{}{more}", shown.join(", "));
    }
    if let Some(word) = text("const") {
        return word.to_owned();
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(options) = schema.get(union).and_then(Value::as_array) {
            let mut names: Vec<String> =
                options.iter().map(type_name).filter(|name| !name.is_empty()).collect();
            names.dedup();
            return names.join(" or ");
        }
    }
    match text("type") {
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("number") => "number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            let of = schema.get("items").map(type_name).unwrap_or_default();
            if of.is_empty() { "list".to_owned() } else { format!("list of {of}") }
        }
        Some("object") => "object".to_owned(),
        Some(other) => other.to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_words() {
        for (schema, name) in [
            (json!({ "type": "string" }), "text"),
            (json!({ "type": "array", "items": { "type": "integer" } }), "list of whole number"),
            (json!({ "enum": ["a", "b"] }), "a, b"),
            (json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }), "whole number or text"),
            (json!({}), ""),
        ] {
            assert_eq!(type_name(&schema), name);
        }
    }

    #[test]
    fn fields_inside_of_fields_are_shown_to_a_depth() {
        let deep = json!({ "type": "object", "properties": { "d": { "type": "string" } } });
        let list = json!({ "type": "array", "items": { "properties": { "c": deep } } });
        let schema = json!({ "properties": { "a": { "properties": { "b": list } } }, "required": ["a"] });
        let rows = of_answer(schema.as_object().expect("an object"));
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["a", "a.b", "a.b[].c"]);
        assert!(rows[0].required && !rows[1].required);
    }
}
