//! Short forms of field values, for comparison.

use serde_json::Value;

use crate::output::{one_line, truncate};

/// Characters shown before the first difference of long texts.
const LEAD: usize = 20;

/// A value on one line: texts and lists of words as text, the rest as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            one_line(&words.join(", "))
        }
        Value::Array(items) if items.iter().all(|item| item.get("name").is_some()) => {
            let named = items.iter().enumerate().map(|(at, item)| named(at, item));
            one_line(&named.collect::<Vec<_>>().join(", "))
        }
        other => one_line(&other.to_string()),
    }
}

/// A list entry by its name, with members that differ from their defaults.
fn named(at: usize, item: &Value) -> String {
    let usual = |key: &str, value: &Value| {
        key == "name" || (key == "order" && *value == at) || (key != "order" && *value == 0)
    };
    let members = item.as_object().into_iter().flatten().filter(|(key, value)| !usual(key, value));
    let rest: Vec<String> = members.map(|(key, value)| format!("{key} {}", shown(value))).collect();
    let name = item.get("name").map(shown).unwrap_or_default();
    if rest.is_empty() { name } else { format!("{name} ({})", rest.join(", ")) }
}

/// Cuts texts to a width. Texts with a long common start begin shortly before the first difference.
pub(super) fn excerpts(texts: &[Option<String>], width: usize) -> Vec<String> {
    let given: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let alike = alike(&given);
    // On a narrow terminal, the lead is shorter.
    let lead = LEAD.min(width * 2 / 3);
    let start = if alike + lead > width { alike.saturating_sub(lead) } else { 0 };
    let excerpt = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        if start == 0 {
            return truncate(text, width);
        }
        let rest: String = text.chars().skip(start).collect();
        truncate(&format!("…{rest}"), width)
    };
    texts.iter().map(excerpt).collect()
}

/// The length of the common prefix, in characters.
fn alike(texts: &[&str]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let common = |other: &&str| first.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    others.iter().map(common).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{excerpts, shown};

    fn cut(texts: [&str; 2], width: usize) -> Vec<String> {
        excerpts(&texts.map(|text| Some(text.to_owned())), width)
    }

    #[test]
    fn values_stand_on_one_line() {
        assert_eq!(shown(&json!("a\n b")), "a b");
        assert_eq!(shown(&json!(["a", "b"])), "a, b");
        let parts = json!([
            { "name": "a", "order": 0, "priority": 0 },
            { "name": "b", "order": 0, "priority": 5 },
        ]);
        assert_eq!(shown(&parts), "a, b (order 0, priority 5)");
        assert_eq!(shown(&json!({ "model": "m" })), r#"{"model":"m"}"#);
        assert_eq!(shown(&json!([])), "");
        assert_eq!(shown(&json!(0.5)), "0.5");
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        assert_eq!(cut(["short", "shirt"], 40), ["short", "shirt"]);
        assert_eq!(cut(["one that is cut", "two"], 8), ["one tha…", "two"]);
        let same = "the same words ".repeat(6);
        let [a, b] = [format!("{same}but this end"), format!("{same}and another end")];
        let shown = ["…ords the same words but this end", "…ords the same words and another end"];
        assert_eq!(cut([&a, &b], 40), shown);
        assert_eq!(cut([&a, &b], 30)[1], "…ords the same words and anot…");
        assert_eq!(cut([&a, &b], 18), ["… same words but…", "… same words and…"]);
        assert_eq!(excerpts(&[None, Some("x".to_owned())], 40), ["", "x"]);
    }
}
