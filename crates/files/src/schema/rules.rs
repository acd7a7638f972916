//! Bounds of values, beyond their types: the same that reading enforces, in the words of a schema.

use persona::field::{Shape, Word};
use persona::{Field, Scope, limits};
use serde_json::{Value, json};

/// Puts the bounds of a field into its schema.
pub(super) fn apply(field: &Field, schema: &mut Value) {
    match field.shape {
        Shape::Key | Shape::Name(_) => name(schema),
        Shape::Names(_, most) => {
            bound(schema, "maxItems", most);
            schema["uniqueItems"] = json!(true);
            name(&mut schema["items"]);
        }
        Shape::Base => {
            let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
            schema["pattern"] = json!(whole(&format!("(({}):)?{}", scopes.join("|"), name_pattern())));
        }
        Shape::Word(Word { unset: Some(word), .. }) => schema["default"] = json!(word),
        // Schemas count characters, which are never more than bytes.
        Shape::Line(most) | Shape::Text(most) if field.says_something => line(schema, most),
        Shape::Line(most) | Shape::Text(most) => bound(schema, "maxLength", most),
        Shape::Words { most, chars } => {
            bound(schema, "maxItems", most);
            line(&mut schema["items"], chars);
        }
        Shape::Texts(most) => {
            bound(schema, "maxItems", most);
            match field.says_something {
                true => line(&mut schema["items"], limits::SHORT_TEXT_BYTES),
                false => bound(&mut schema["items"], "maxLength", limits::SHORT_TEXT_BYTES),
            }
        }
        Shape::List { most, .. } => bound(schema, "maxItems", most),
        Shape::Map { most, chars, .. } => {
            bound(schema, "maxProperties", most);
            schema["propertyNames"] = json!({ "maxLength": chars, "pattern": SAYS_SOMETHING });
        }
        Shape::Whole { least, most, unset, .. } => between(schema, json!(least), json!(most), json!(unset)),
        Shape::Number { least, most, unset } => between(schema, json!(least), json!(most), json!(unset)),
        Shape::Path => {
            line(schema, limits::SHORT_TEXT_BYTES);
            schema["not"] = json!({ "pattern": format!("^[/~]|{UPWARDS}") });
        }
        Shape::Word(_) | Shape::Switch | Shape::Table(_) => {}
    }
}

/// The name of an entity.
pub(super) fn name(schema: &mut Value) {
    schema["pattern"] = json!(whole(&name_pattern()));
}

/// A file below the directory of the personas.toml.
pub(super) fn inner_file(schema: &mut Value) {
    line(schema, limits::SHORT_TEXT_BYTES);
    schema["not"] = json!({ "pattern": format!("^/|{UPWARDS}") });
}

/// A text that says something, of at most so many characters.
fn line(schema: &mut Value, most: usize) {
    bound(schema, "maxLength", most);
    schema["pattern"] = json!(SAYS_SOMETHING);
}

/// At least one non-blank character.
const SAYS_SOMETHING: &str = r"\S";

/// A step out of a directory, anywhere in a path.
const UPWARDS: &str = r"(^|[/\\])\.\.([/\\]|$)";

/// The pattern of names, as part of a longer one.
pub(super) fn name_pattern() -> String {
    format!("[A-Za-z0-9][A-Za-z0-9_-]{{0,{}}}", limits::NAME_CHARS - 1)
}

/// A pattern that must match from beginning to end.
pub(super) fn whole(pattern: &str) -> String {
    format!("^{pattern}$")
}

fn bound(schema: &mut Value, keyword: &str, most: usize) {
    schema[keyword] = json!(most);
}

fn between(schema: &mut Value, least: Value, most: Value, default: Value) {
    schema["minimum"] = least;
    schema["maximum"] = most;
    match (default, schema.as_object_mut()) {
        (Value::Null, Some(schema)) => drop(schema.remove("default")),
        (default, _) => schema["default"] = default,
    }
}
