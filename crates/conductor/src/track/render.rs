//! Writing a track as a file that a person reads and edits.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Ticket, TicketId, Track};

/// Columns of a list that is written in one line.
const LINE: usize = 100;

/// The order of keys. The rest follows.
const TRACK_KEYS: [&str; 8] =
    ["title", "goal", "base", "check", "scope", "concurrency", "step_approval", "setup"];
const TICKET_KEYS: [&str; 12] = [
    "id",
    "title",
    "tier",
    "depends_on",
    "persona_id",
    "model_override",
    "description",
    "acceptance",
    "check",
    "scope",
    "files",
    "context_preset",
];

/// The text of a track file. Values that are the defaults are left out, except below `setup`. Reading it gives an equal track.
pub fn to_toml(track: &Track) -> String {
    let mut text = String::new();
    let Ok(Value::Object(mut fields)) = serde_json::to_value(track) else { return text };
    let tickets = fields.remove("tickets");
    without_defaults(&mut fields, &defaults(&Track::new("")), &["title"]);
    let (tables, values): (Vec<_>, Vec<_>) =
        in_order(fields, &TRACK_KEYS).into_iter().partition(|(_, value)| value.is_object());
    values.iter().for_each(|(key, value)| pair(key, value, &mut text));
    for (name, value) in tables {
        let _ = write!(text, "\n[{name}]\n");
        let Value::Object(fields) = value else { continue };
        in_order(fields, &["command"]).iter().for_each(|(key, value)| pair(key, value, &mut text));
    }
    let ids = track.tickets.iter().map(|ticket| &ticket.id);
    let tickets = tickets.and_then(|it| if let Value::Array(list) = it { Some(list) } else { None });
    for (ticket, id) in tickets.unwrap_or_default().into_iter().zip(ids) {
        text.push_str("\n[[tickets]]\n");
        render_ticket(ticket, id, &mut text);
    }
    text
}

fn render_ticket(ticket: Value, id: &TicketId, text: &mut String) {
    let Value::Object(mut fields) = ticket else { return };
    without_defaults(&mut fields, &defaults(&Ticket::new(id.clone(), "")), &["id", "title"]);
    in_order(fields, &TICKET_KEYS).iter().for_each(|(key, value)| pair(key, value, text));
}

fn defaults(value: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Leaves out what a reader takes for granted, in tables too.
fn without_defaults(fields: &mut Map<String, Value>, defaults: &Map<String, Value>, always: &[&str]) {
    fields.retain(|key, value| {
        let Some(default) = defaults.get(key).filter(|_| !always.contains(&key.as_str())) else {
            return true;
        };
        if let (Value::Object(fields), Value::Object(defaults)) = (&mut *value, default) {
            without_defaults(fields, defaults, &[]);
            return !fields.is_empty();
        }
        value != default
    });
}

fn in_order(fields: Map<String, Value>, keys: &[&str]) -> Vec<(String, Value)> {
    let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
    // The sort is stable.
    fields.sort_by_key(|(key, _)| keys.iter().position(|it| it == key).unwrap_or(keys.len()));
    fields
}

fn pair(key: &str, value: &Value, text: &mut String) {
    write_key(key, text);
    text.push_str(" = ");
    write_value(value, text);
    text.push('\n');
}

fn write_key(key: &str, text: &mut String) {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { text.push_str(key) } else { write_line(key, text) }
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::String(string) if string.contains('\n') => write_lines(string, text),
        Value::String(string) => write_line(string, text),
        Value::Array(list) => write_list(list, text),
        Value::Object(fields) => {
            text.push_str("{ ");
            for (at, (key, value)) in fields.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write_key(key, text);
                text.push_str(" = ");
                write_value(value, text);
            }
            text.push_str(" }");
        }
        // TOML has no larger numbers, and a track that has one has a problem.
        Value::Number(number) if number.as_u64().is_some_and(|it| it > i64::MAX as u64) => {
            let _ = write!(text, "{}", i64::MAX);
        }
        Value::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Value::Bool(value) => {
            let _ = write!(text, "{value}");
        }
        Value::Null => text.push_str("\"\""),
    }
}

fn write_list(list: &[Value], text: &mut String) {
    let items: Vec<String> = list
        .iter()
        .map(|item| {
            let mut written = String::new();
            write_value(item, &mut written);
            written
        })
        .collect();
    let length: usize = items.iter().map(|item| item.chars().count() + 2).sum();
    if length <= LINE && !items.iter().any(|item| item.contains('\n')) {
        let _ = write!(text, "[{}]", items.join(", "));
        return;
    }
    text.push_str("[\n");
    for item in &items {
        let _ = writeln!(text, "    {item},");
    }
    text.push(']');
}

fn write_line(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            c => write_char(c, text),
        }
    }
    text.push('"');
}

/// A text of several lines. The first line end is not part of it.
fn write_lines(string: &str, text: &mut String) {
    text.push_str("\"\"\"\n");
    let mut quotes = 0;
    for c in string.chars() {
        quotes = if c == '"' { quotes + 1 } else { 0 };
        match c {
            '\n' => text.push('\n'),
            // Three in a row would end the text, and so would one right before its end.
            '"' if quotes == 3 => {
                text.push_str("\\\"");
                quotes = 0;
            }
            '"' => text.push('"'),
            c => write_char(c, text),
        }
    }
    if quotes > 0 {
        text.pop();
        text.push_str("\\\"");
    }
    text.push_str("\"\"\"");
}

fn write_char(c: char, text: &mut String) {
    match c {
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\t' => text.push_str("\\t"),
        '\r' => text.push_str("\\r"),
        c if c.is_control() => {
            let _ = write!(text, "\\u{:04X}", u32::from(c));
        }
        c => text.push(c),
    }
}

#[cfg(test)]
mod tests;
