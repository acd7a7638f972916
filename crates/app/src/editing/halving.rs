//! The rule for changes that ask first: a text that would lose more than half of itself.

use persona::AnyEntity;
use serde_json::{Map, Value};

/// Texts with fewer characters may shrink without a question.
pub(super) const LONG_TEXT_CHARS: usize = 200;

/// A field that would lose more than half of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Halved {
    pub(super) field: String,
    /// Its characters before and after.
    pub(super) before: usize,
    pub(super) after: usize,
}

/// True if a change has to be decided by the user.
pub(super) fn asks(before: &AnyEntity, after: &AnyEntity) -> bool {
    !halved(&before.to_json(), &after.to_json()).is_empty()
}

/// The fields that would lose more than half of their texts. Short texts, such as names, do not count before;
/// every text counts after.
pub(super) fn halved(before: &Value, after: &Value) -> Vec<Halved> {
    let none = Map::new();
    let (before, after) = (before.as_object().unwrap_or(&none), after.as_object().unwrap_or(&none));
    let halved = before.iter().filter_map(|(field, text)| {
        let left = after.get(field);
        if left == Some(text) {
            return None;
        }
        let (before, after) = (chars(text, LONG_TEXT_CHARS), left.map_or(0, |left| chars(left, 0)));
        (after * 2 < before).then(|| Halved { field: field.clone(), before, after })
    });
    halved.collect()
}

/// The characters of all texts of a value that have at least this many.
fn chars(value: &Value, least: usize) -> usize {
    match value {
        Value::String(text) => Some(text.chars().count()).filter(|count| *count >= least).unwrap_or(0),
        Value::Array(items) => items.iter().map(|item| chars(item, least)).sum(),
        Value::Object(fields) => fields.values().map(|field| chars(field, least)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(before: &Value, after: &Value) -> Vec<String> {
        halved(before, after).into_iter().map(|halved| halved.field).collect()
    }

    #[test]
    fn only_long_texts_that_lose_more_than_half_ask() {
        let long = |chars: usize| "é".repeat(chars);
        for (before, after, asks) in
            [(200, 99, true), (200, 100, false), (199, 0, false), (1_000, 499, true), (1_000, 2_000, false)]
        {
            let change = (json!({ "content": long(before) }), json!({ "content": long(after) }));
            assert_eq!(!fields(&change.0, &change.1).is_empty(), asks, "{before} to {after}");
        }
        assert_eq!(fields(&json!({ "content": long(200) }), &json!({})), ["content"]);
    }

    #[test]
    fn texts_in_lists_count_together_and_names_do_not() {
        let long = "a".repeat(300);
        let before = json!({ "greetings": [long, long, long], "parts": ["one", "two"], "summary": "s" });
        assert_eq!(fields(&before, &json!({ "greetings": [long], "summary": "s" })), ["greetings"]);
        assert!(fields(&before, &json!({ "greetings": [long, long] })).is_empty());
        let names: Vec<String> = (0..80).map(|number| format!("part-{number}")).collect();
        assert!(fields(&json!({ "parts": names }), &json!({ "parts": [] })).is_empty());
    }
}
