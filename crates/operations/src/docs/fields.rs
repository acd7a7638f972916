//! The tables of fields in docs/personas-toml.md, from the descriptions of the kinds.

use persona::field::{Field, Inherit, Shape, Word};
use persona::{Kind, with_kind};
use schemars::JsonSchema;
use serde_json::Value;

use crate::schema;

/// The kinds, each with a link to its section.
pub(super) fn kinds() -> String {
    let mut text = "| table | |\n|---|---|\n".to_owned();
    for kind in Kind::ALL {
        let anchor = kind.table().replace('_', "-");
        text.push_str(&format!("| [`[{}.NAME]`](#{anchor}) | {} |\n", kind.table(), kind.about()));
    }
    text
}

/// The fields of a kind, and below them those of the tables inside.
pub(super) fn of_kind(kind: Kind) -> String {
    let schema = with_kind!(kind, T => schema_of::<T>());
    let mut text = table(kind.fields(), &schema);
    for field in kind.fields() {
        if let Some((fields, schema)) = inner(field, &schema["properties"][field.name]) {
            let each = if matches!(field.shape, Shape::Table(_)) { "Inside" } else { "Each of" };
            text.push_str(&format!("\n{each} `{}`:\n\n{}", field.name, table(fields, schema)));
        }
    }
    text
}

fn schema_of<T: JsonSchema>() -> Value {
    Value::Object(schema::input(|generator| T::json_schema(generator)))
}

/// The fields of the tables inside a field, and their schema.
fn inner<'a>(field: &'static Field, schema: &'a Value) -> Option<(&'static [Field], &'a Value)> {
    match field.shape {
        Shape::Table(fields) => Some((fields, schema)),
        Shape::List { item, .. } => Some((item.fields, &schema["items"])),
        Shape::Map { of, .. } => inner(of, &schema["additionalProperties"]),
        _ => None,
    }
}

fn table(fields: &'static [Field], schema: &Value) -> String {
    let mut text = "| field | type | default | limits | |\n|---|---|---|---|---|\n".to_owned();
    let is_entity = fields.iter().any(|field| field.inherit != Inherit::Own);
    for field in fields.iter().filter(|field| !(is_key(field) && is_top(schema))) {
        let required = schema["required"].as_array();
        let is_required = required.is_some_and(|required| required.iter().any(|name| name == field.name));
        let implied = schema["properties"][field.name]["default"].as_str();
        let default = if is_required { "required".to_owned() } else { default(field, implied, is_entity) };
        text.push_str(&format!(
            "| `{}` | {} | {default} | {} | {} |\n",
            field.name,
            type_of(field),
            limits(field),
            field.about.replace('|', "\\|")
        ));
    }
    text
}

fn is_key(field: &Field) -> bool {
    matches!(field.shape, Shape::Key)
}

/// True for a kind itself: its name is the key of the entry. A stage has its name inside.
fn is_top(schema: &Value) -> bool {
    schema["properties"].get("tags").is_some()
}

fn type_of(field: &Field) -> String {
    match field.shape {
        Shape::Key => "name".to_owned(),
        Shape::Line(_) => "line".to_owned(),
        Shape::Text(_) => "text".to_owned(),
        Shape::Path => "path".to_owned(),
        Shape::Name(kind) => format!("name of {} {}", article(kind), kind.spoken()),
        Shape::Names(kind, _) => format!("names of {}s", kind.spoken()),
        Shape::Base => "name, or `scope:name`".to_owned(),
        Shape::Word(_) => "word".to_owned(),
        Shape::Words { .. } => "words".to_owned(),
        Shape::Texts(_) => "texts".to_owned(),
        Shape::Whole { .. } => "whole number".to_owned(),
        Shape::Number { .. } => "number".to_owned(),
        Shape::Switch => "true or false".to_owned(),
        Shape::Table(_) => "table".to_owned(),
        Shape::List { item, .. } if item.may_be_bare => "names or tables".to_owned(),
        Shape::List { item, .. } if item.may_be_text => "texts or tables".to_owned(),
        Shape::List { .. } => "tables".to_owned(),
        Shape::Map { of, .. } => format!("table of {}", type_of(of)),
    }
}

fn article(kind: Kind) -> &'static str {
    if kind.spoken().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// The value that counts if none is given; `implied` is the schema's.
fn default(field: &Field, implied: Option<&str>, is_entity: bool) -> String {
    let own = match field.shape {
        Shape::Word(Word { unset, .. }) => unset.or(implied).map(|word| format!("`\"{word}\"`")),
        Shape::Whole { unset, .. } => unset.map(|number| format!("`{number}`")),
        Shape::Number { unset, .. } => unset.map(|number| format!("`{number}`")),
        _ => None,
    };
    let is_inherited = is_entity && field.inherit == Inherit::Strongest;
    match (is_inherited, own) {
        (true, Some(own)) => format!("the base's, else {own}"),
        (true, None) => "the base's".to_owned(),
        (false, Some(own)) => own,
        (false, None) => match field.unset_json() {
            Value::Array(_) => "`[]`".to_owned(),
            Value::Object(_) => "`{}`".to_owned(),
            _ => "none".to_owned(),
        },
    }
}

fn limits(field: &Field) -> String {
    match field.shape {
        Shape::Key | Shape::Name(_) | Shape::Base | Shape::Switch | Shape::Table(_) => String::new(),
        Shape::Line(most) => format!("{} characters", grouped(most as i64)),
        Shape::Text(most) => bytes(most),
        Shape::Path => "inside the project".to_owned(),
        Shape::Word(word) => {
            let words: Vec<String> = (word.words)().iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Shape::Words { most, chars } => format!("{most}, each {chars} characters"),
        Shape::Texts(most) => format!("{most}, each {}", bytes(persona::limits::SHORT_TEXT_BYTES)),
        Shape::Names(_, most) | Shape::List { most, .. } => most.to_string(),
        Shape::Map { most, chars, of } => {
            let values = Some(limits(of)).filter(|limits| !limits.is_empty());
            let values = values.map(|values| format!("; each value {values}")).unwrap_or_default();
            format!("{most} keys of {chars} characters{values}")
        }
        Shape::Whole { least, most, .. } if least == i64::from(i32::MIN) && most == i64::from(i32::MAX) => {
            "32 bits".to_owned()
        }
        Shape::Whole { least, most, .. } if most >= i64::from(u32::MAX) => format!("at least {least}"),
        Shape::Whole { least, most, .. } => format!("{} to {}", grouped(least), grouped(most)),
        Shape::Number { least, most, .. } => format!("{least} to {most}"),
    }
}

fn bytes(most: usize) -> String {
    match most % 1024 {
        0 => format!("{} KiB", most / 1024),
        _ => format!("{most} bytes"),
    }
}

/// A number with commas between thousands.
fn grouped(number: i64) -> String {
    match number {
        -999..=999 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), (number % 1000).abs()),
    }
}
