//! Removes one entry from a client's JSON file.

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Value;

use super::{NAME, SYNTAX, parse};

/// Returns the text without our entry in the object `servers`. All other bytes stay. None if there is no
/// entry. The error says why the file stays as it is.
pub(in super::super) fn remove(old: &str, servers: &str) -> Result<Option<String>, String> {
    if old.trim().is_empty() {
        return Ok(None);
    }
    let mut expected = parse(old)?;
    let entries = expected.get_mut(servers).and_then(Value::as_object_mut);
    if entries.is_none_or(|entries| entries.remove(NAME).is_none()) {
        return Ok(None);
    }
    let new = cut(old, servers)?;
    // Of several members with the same name, readers use the last.
    match parse(&new)? == expected {
        true => Ok(Some(new)),
        false => Err(format!("it defines {servers:?} or {NAME:?} more than once")),
    }
}

fn cut(text: &str, servers: &str) -> Result<String, String> {
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = parse_to_ast(text, &collect, &SYNTAX).map_err(|error| error.to_string())?;
    let commas = parsed.tokens.unwrap_or_default().into_iter();
    let commas: Vec<Range> =
        commas.filter(|found| found.token == Token::Comma).map(|found| found.range).collect();
    let root = match &parsed.value {
        Some(Node::Object(root)) => root,
        _ => return Err("it does not hold a JSON object".to_owned()),
    };
    let Some(Node::Object(entries)) = member(root, servers).map(|(_, found)| &found.value) else {
        return Err(format!("its {servers:?} is not an object"));
    };
    let Some((at, ours)) = member(entries, NAME) else {
        return Err(format!("it defines {servers:?} more than once"));
    };
    let before = at.checked_sub(1).and_then(|at| entries.properties.get(at));
    let end_of_next = entries.properties.get(at + 1).map_or(entries.range().end, |next| next.range().start);
    let comma_after = commas.iter().find(|comma| comma.start >= ours.range().end && comma.end <= end_of_next);
    let comma_before = before.and_then(|before| {
        commas.iter().find(|comma| comma.start >= before.range().end && comma.end <= ours.range().start)
    });
    if entries.properties.len() == 1 {
        let inside = (entries.range().start + 1, entries.range().end - 1);
        let end = comma_after.map_or(ours.range().end, |comma| comma.end);
        let around = format!("{}{}", &text[inside.0..ours.range().start], &text[end..inside.1]);
        if around.trim().is_empty() {
            return Ok(format!("{}{}", &text[..inside.0], &text[inside.1..]));
        }
    }
    Ok(match (comma_after, comma_before) {
        (Some(comma), _) => without(text, &[whole_lines(text, ours.range().start, comma.end)]),
        // The last member: the comma before it goes, and what was written between the two stays.
        (None, Some(comma)) => {
            let lines = whole_lines(text, ours.range().start, ours.range().end);
            without(text, &[(comma.start, comma.end), lines])
        }
        (None, None) => without(text, &[whole_lines(text, ours.range().start, ours.range().end)]),
    })
}

fn member<'a, 'b>(object: &'a Object<'b>, name: &str) -> Option<(usize, &'a ObjectProp<'b>)> {
    object.properties.iter().enumerate().find(|(_, property)| property.name.as_str() == name)
}

/// Widens a range to whole lines if nothing else is on them, else to the blanks before it.
fn whole_lines(text: &str, start: usize, end: usize) -> (usize, usize) {
    let blank_before = text[..start].trim_end_matches([' ', '\t']).len();
    let rest = text[end..].trim_start_matches([' ', '\t']);
    let line_ends = rest.starts_with('\n') || rest.starts_with("\r\n");
    if line_ends && text[..blank_before].ends_with('\n') {
        let end = text.len() - rest.len();
        let width = if rest.starts_with('\r') { 2 } else { 1 };
        return (blank_before, end + width);
    }
    (blank_before, end)
}

/// The text without some ranges, in order.
fn without(text: &str, ranges: &[(usize, usize)]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in ranges {
        kept.push_str(&text[from..*start]);
        from = *end;
    }
    kept.push_str(&text[from..]);
    kept
}
