//! Sets or removes one entry in a client's JSON file.
//!
//! `jsonc-parser` edits the text: comments, layout and members that Masque does not own stay as they are.
//! The result is parsed and compared with the expected value before it is written.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value, json};

use super::NAME;
use super::entry::{JsonForm, has_password};

mod remove;
pub(super) use remove::remove;

/// The variable in which older versions wrote an address with a password.
pub(super) const DATABASE_VARIABLE: &str = "MASQUE_DB";

/// The header that has the token.
const AUTHORIZATION: &str = "Authorization";

/// JSON with comments and trailing commas, as VS Code writes it.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(text: &str) -> Result<Value, String> {
    jsonc_parser::parse_to_serde_value(text, &SYNTAX).map_err(|error| format!("it is not JSON: {error}"))
}

/// Returns the text with our entry in the object `servers`. The error says why the file stays as it is.
pub(super) fn merge(old: &str, servers: &str, form: &JsonForm<'_>) -> Result<String, String> {
    let text = if old.trim().is_empty() { "{}\n" } else { old };
    let before = parse(text)?;
    let Value::Object(root) = &before else {
        return Err("it does not hold a JSON object".to_owned());
    };
    let present = match root.get(servers) {
        None => None,
        Some(Value::Object(present)) => present.get(NAME),
        Some(_) => return Err(format!("its {servers:?} is not an object")),
    };
    let members = members(present, form);
    let mut expected = before.clone();
    expected[servers][NAME] = updated(present, &members);
    if expected == before {
        return Ok(old.to_owned());
    }
    let edited = edit(text, servers, members)?;
    // The editor changes the first of several members with the same name, while readers use the last.
    if parse(&edited)? != expected {
        return Err(format!("it defines {servers:?} or {NAME:?} more than once"));
    }
    Ok(edited)
}

/// Members of an entry. `None` removes one.
type Members = [(&'static str, Option<Value>); 6];

/// The members that Masque owns, in the order in which a new entry has them.
fn members(present: Option<&Value>, form: &JsonForm<'_>) -> Members {
    [
        ("type", form.transport.map(|transport| json!(transport))),
        ("command", form.command.map(|command| json!(command))),
        ("args", form.args.map(|args| json!(args))),
        ("url", form.url.map(|url| json!(url))),
        ("headers", headers(present, form)),
        ("env", environment(present)),
    ]
}

/// The user's headers, with the token. A program has none.
fn headers(present: Option<&Value>, form: &JsonForm<'_>) -> Option<Value> {
    form.url?;
    let present = present.and_then(|present| present.get("headers")).and_then(Value::as_object);
    let mut headers = present.cloned().unwrap_or_default();
    if let Some(authorization) = &form.authorization {
        headers.retain(|name, _| name == AUTHORIZATION || !name.eq_ignore_ascii_case(AUTHORIZATION));
        headers.insert(AUTHORIZATION.to_owned(), json!(authorization));
    }
    (!headers.is_empty()).then_some(Value::Object(headers))
}

/// The user's variables, without a password that an older version wrote.
fn environment(present: Option<&Value>) -> Option<Value> {
    let mut variables = present?.get("env")?.as_object()?.clone();
    if variables.get(DATABASE_VARIABLE).and_then(Value::as_str).is_some_and(has_password) {
        variables.remove(DATABASE_VARIABLE);
        return (!variables.is_empty()).then_some(Value::Object(variables));
    }
    Some(Value::Object(variables))
}

fn updated(present: Option<&Value>, members: &[(&'static str, Option<Value>)]) -> Value {
    let mut entry = present.and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    for (key, value) in members {
        match value {
            Some(value) => entry.insert((*key).to_owned(), value.clone()),
            None => entry.remove(*key),
        };
    }
    Value::Object(entry)
}

fn edit(text: &str, servers: &str, members: Members) -> Result<String, String> {
    // The nodes refer to the root weakly: it must live until the text is printed.
    let root = CstRootNode::parse(text, &SYNTAX).map_err(|error| error.to_string())?;
    let servers = root.object_value_or_set().object_value_or_set(servers);
    match servers.object_value(NAME) {
        Some(entry) => {
            for (key, value) in members {
                set(&entry, key, value);
            }
        }
        None => {
            let members =
                members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), input(value?))));
            let entry = CstInputValue::Object(members.collect());
            match servers.get(NAME) {
                Some(property) => property.set_value(entry),
                None => drop(servers.append(NAME, entry)),
            }
        }
    }
    Ok(root.to_string())
}

fn set(entry: &CstObject, key: &str, value: Option<Value>) {
    match (entry.get(key), value) {
        (Some(property), Some(value)) if property.to_serde_value().as_ref() == Some(&value) => {}
        (Some(property), Some(value)) => property.set_value(input(value)),
        (None, Some(value)) => drop(entry.append(key, input(value))),
        (Some(property), None) => property.remove(),
        (None, None) => {}
    }
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text),
        Value::Array(items) => CstInputValue::Array(items.into_iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.into_iter().map(|(key, value)| (key, input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
