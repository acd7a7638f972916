//! Messages as JSON: 64-bit integers are strings, enums are numbers, ids are hexadecimal.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::message::{Field, Message};

pub(super) fn write(message: &Message) -> Value {
    let fields = message.fields.iter().map(|(_, name, field)| ((*name).to_owned(), value(field)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn value(field: &Field) -> Value {
    match field {
        Field::Text(text) => text.as_str().into(),
        Field::Id(bytes) => hex(bytes).into(),
        Field::Time(time) => time.to_string().into(),
        Field::Flags(flags) => (*flags).into(),
        Field::Choice(choice) => (*choice).into(),
        Field::Whole(whole) => whole.to_string().into(),
        Field::Number(number) => number_value(*number),
        Field::Flag(flag) => (*flag).into(),
        Field::One(message) => write(message),
        Field::Many(messages) => messages.iter().map(write).collect(),
    }
}

/// Numbers that JSON does not have are words.
fn number_value(number: f64) -> Value {
    match number {
        number if number.is_finite() => number.into(),
        number if number.is_nan() => "NaN".into(),
        number if number > 0.0 => "Infinity".into(),
        _ => "-Infinity".into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
