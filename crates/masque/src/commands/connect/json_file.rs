//! Setting one entry in a JSON file, with every other byte as it was.
//!
//! The file is parsed by `serde_json`, whose raw values tell where in the text each member
//! stands; the edit is made in the text, and what comes out is parsed again and compared.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::NAME;
use super::entry::{DATABASE_VARIABLE, JsonForm};

/// The keys that an entry of ours has; others belong to the user.
const OWN_KEYS: [&str; 5] = ["type", "command", "args", "url", "env"];

/// The text with our entry among `servers`; an error says why that cannot be.
pub(super) fn merge(old: &str, servers: &str, form: &JsonForm<'_>) -> Result<String, String> {
    let text = if old.trim().is_empty() { "{}\n" } else { old };
    let before: Value = serde_json::from_str(text)
        .map_err(|error| format!("it is not plain JSON ({error}); if it has comments, they would be lost"))?;
    let Value::Object(root) = &before else {
        return Err("it does not hold a JSON object".to_owned());
    };
    let present = match root.get(servers) {
        None => None,
        Some(Value::Object(present)) => Some(present),
        Some(_) => return Err(format!("its {servers:?} is not an object")),
    };
    let existing = present.and_then(|present| present.get(NAME));
    let wanted = wanted(existing, form);
    let after = wanted.value();
    if existing == Some(&after) {
        return Ok(old.to_owned());
    }
    let edited = edit(text, servers, &wanted)?;
    let mut expected = before.clone();
    expected[servers][NAME] = after;
    match serde_json::from_str::<Value>(&edited) {
        Ok(parsed) if parsed == expected => Ok(edited),
        // Duplicate keys and the like: better no edit than a wrong one.
        _ => Err("its layout is unusual".to_owned()),
    }
}

/// Our entry, member by member, each value as laid-out JSON.
struct Wanted(Vec<(String, Value)>);

impl Wanted {
    fn value(&self) -> Value {
        Value::Object(self.0.iter().cloned().collect::<Map<_, _>>())
    }

    fn layout(&self) -> String {
        object(self.0.iter().map(|(key, value)| (key.as_str(), laid_out(value))))
    }
}

/// What the entry is to be: our members first, then whatever else the user put there.
fn wanted(existing: Option<&Value>, form: &JsonForm<'_>) -> Wanted {
    let theirs = existing.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut members = Vec::new();
    let own = [
        ("type", form.transport.map(|transport| json!(transport))),
        ("command", form.command.map(|command| json!(command))),
        ("args", form.args.map(|args| json!(args))),
        ("url", form.url.map(|url| json!(url))),
        ("env", environment(&theirs, form.secret_database)),
    ];
    members.extend(own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    members.extend(theirs.into_iter().filter(|(key, _)| !OWN_KEYS.contains(&key.as_str())));
    Wanted(members)
}

/// The user's variables, with ours or without.
fn environment(theirs: &Map<String, Value>, database: Option<&str>) -> Option<Value> {
    let mut variables = theirs.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
    variables.remove(DATABASE_VARIABLE);
    if let Some(database) = database {
        variables.insert(DATABASE_VARIABLE.to_owned(), json!(database));
    }
    (!variables.is_empty()).then_some(Value::Object(variables))
}

fn edit(text: &str, servers: &str, wanted: &Wanted) -> Result<String, String> {
    let root = Object::parse(text, text.trim())?;
    let unit = root.indent_unit(text);
    let Some(place) = root.member(servers) else {
        let value = object([(NAME, wanted.layout())]);
        return Ok(root.insert(text, servers, &value, &unit));
    };
    let holder = Object::parse(text, &text[place])?;
    match holder.member(NAME) {
        None => Ok(holder.insert(text, NAME, &wanted.layout(), &unit)),
        Some(place) => {
            let value = indented(&wanted.layout(), &unit, line_indent(text, place.start), newline(text));
            Ok(replaced(text, place, &value))
        }
    }
}

/// An object in the text: its place, and its members' names with the places of their values.
struct Object {
    place: Range<usize>,
    members: Vec<(String, Range<usize>)>,
}

impl Object {
    /// Parses `slice`, which is a piece of `text`.
    fn parse(text: &str, slice: &str) -> Result<Self, String> {
        let members: Members<'_> = serde_json::from_str(slice).map_err(|error| error.to_string())?;
        let place_of = |piece: &str| {
            let start = piece.as_ptr() as usize - text.as_ptr() as usize;
            start..start + piece.len()
        };
        let place = place_of(slice);
        let members = members.0.into_iter().map(|(key, value)| (key, place_of(value.get())));
        Ok(Self { place, members: members.collect() })
    }

    /// The place of a member's value; of two of the same name parsers take the last.
    fn member(&self, key: &str) -> Option<Range<usize>> {
        let found = self.members.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, place)| place.clone())
    }

    /// What one level of indentation looks like here.
    fn indent_unit(&self, text: &str) -> String {
        let first = self.members.first().map(|(_, place)| line_indent(text, place.start));
        match first {
            Some(indent) if !indent.is_empty() => indent.to_owned(),
            _ => "  ".to_owned(),
        }
    }

    /// The text with a further member at this object's end, laid out as its neighbours are.
    fn insert(&self, text: &str, key: &str, value: &str, unit: &str) -> String {
        let line_end = newline(text);
        let key = json!(key);
        let Some((_, last)) = self.members.last() else {
            let base = line_indent(text, self.place.start);
            let inner = format!("{base}{unit}");
            let value = indented(value, unit, &inner, line_end);
            let whole = format!("{{{line_end}{inner}{key}: {value}{line_end}{base}}}");
            return replaced(text, self.place.clone(), &whole);
        };
        let spread = text[self.place.start..last.end].contains('\n');
        let addition = if spread {
            let indent = line_indent(text, last.start);
            let value = indented(value, unit, indent, line_end);
            format!(",{line_end}{indent}{key}: {value}")
        } else {
            let compact: String = value.lines().map(str::trim_start).collect();
            format!(", {key}: {compact}")
        };
        replaced(text, last.end..last.end, &addition)
    }
}

/// The members of an object in their order, with their values as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..place.start], &text[place.end..])
}

/// The white space at the start of the line in which a byte stands.
fn line_indent(text: &str, byte: usize) -> &str {
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn laid_out(value: &Value) -> String {
    match value {
        // Arguments read better on one line, as people write them.
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        value => serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
    }
}

/// An object from laid-out members, indented by two spaces.
fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter().map(|(key, value)| {
        let value = value.replace('\n', "\n  ");
        format!("  {}: {value}", json!(key))
    });
    format!("{{\n{}\n}}", members.collect::<Vec<_>>().join(",\n"))
}

/// Changes the layout of two spaces a level to the file's own, below a line indented by `base`.
fn indented(value: &str, unit: &str, base: &str, line_end: &str) -> String {
    let lines = value.lines().enumerate().map(|(at, line)| {
        let content = line.trim_start_matches(' ');
        let level = (line.len() - content.len()) / 2;
        let base = if at == 0 { "" } else { base };
        format!("{base}{}{content}", unit.repeat(level))
    });
    lines.collect::<Vec<_>>().join(line_end)
}

#[cfg(test)]
mod tests;
