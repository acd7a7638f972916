//! The first place at which two requests differ.

use serde_json::{Value, json};

use super::RecordedRequest;

/// The longest value that is shown, in characters.
const SHOWN: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// `method`, `path`, `query`, or a JSON pointer into the body.
    pub(crate) at: String,
    /// None if only the other one has a value here.
    pub(crate) recorded: Option<Value>,
    pub(crate) sent: Option<Value>,
}

impl Difference {
    /// One sentence for people.
    pub(crate) fn sentence(&self) -> String {
        let worded = |value: &Option<Value>| {
            value.as_ref().map_or("nothing".to_owned(), |value| shown(value).to_string())
        };
        let at = if self.at.is_empty() { "the body" } else { &self.at };
        format!("{at} differs: recorded {}, sent {}", worded(&self.recorded), worded(&self.sent))
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "at": self.at,
            "recorded": self.recorded.as_ref().map(shown),
            "sent": self.sent.as_ref().map(shown),
        })
    }
}

fn shown(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        small => return small.clone(),
    };
    match text.char_indices().nth(SHOWN) {
        None => value.clone(),
        Some((end, _)) => Value::String(format!("{}…", &text[..end])),
    }
}

pub(crate) fn difference(recorded: &RecordedRequest, sent: &RecordedRequest) -> Option<Difference> {
    let heads = [
        ("method", &recorded.method, &sent.method),
        ("path", &recorded.path, &sent.path),
        ("query", &recorded.query, &sent.query),
    ];
    for (at, recorded, sent) in heads {
        if recorded != sent {
            let [recorded, sent] = [recorded, sent].map(|text| Some(Value::from(text.as_str())));
            return Some(Difference { at: at.to_owned(), recorded, sent });
        }
    }
    if recorded.body == sent.body {
        return None;
    }
    // A cassette may have been edited by hand, so equal values may still be different texts.
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    compare(&mut String::new(), value(&recorded.body).as_ref(), value(&sent.body).as_ref())
}

fn compare(at: &mut String, recorded: Option<&Value>, sent: Option<&Value>) -> Option<Difference> {
    match (recorded, sent) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                within(at, &key.replace('~', "~0").replace('/', "~1"), one.get(key), other.get(key))
            })
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            let longest = one.len().max(other.len());
            (0..longest).find_map(|index| within(at, &index.to_string(), one.get(index), other.get(index)))
        }
        (recorded, sent) if recorded == sent => None,
        (recorded, sent) => {
            Some(Difference { at: at.clone(), recorded: recorded.cloned(), sent: sent.cloned() })
        }
    }
}

fn within(at: &mut String, key: &str, recorded: Option<&Value>, sent: Option<&Value>) -> Option<Difference> {
    let before = at.len();
    at.push('/');
    at.push_str(key);
    let found = compare(at, recorded, sent);
    at.truncate(before);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(recorded: &str, sent: &str, expected: Option<(&str, Option<Value>, Option<Value>)>) {
        let asked = |body: &str| RecordedRequest {
            method: "POST".to_owned(),
            path: "/v1/messages".to_owned(),
            query: String::new(),
            body: body.to_owned(),
        };
        let found = difference(&asked(recorded), &asked(sent));
        let found = found.map(|found| (found.at, found.recorded, found.sent));
        assert_eq!(found, expected.map(|(at, recorded, sent)| (at.to_owned(), recorded, sent)));
    }

    #[test]
    fn the_first_difference_is_a_pointer_with_both_values() {
        check(r#"{"a":1}"#, r#"{ "a": 1 }"#, None);
        check(r#"{"a":1}"#, r#"{"a":2}"#, Some(("/a", Some(json!(1)), Some(json!(2)))));
        check(r#"{"a":[1,2]}"#, r#"{"a":[1]}"#, Some(("/a/1", Some(json!(2)), None)));
        check(r#"{"b":1}"#, r#"{"a":1,"b":1}"#, Some(("/a", None, Some(json!(1)))));
        check(
            r#"{"a/b":{"c~":1}}"#,
            r#"{"a/b":{"c~":2}}"#,
            Some(("/a~1b/c~0", Some(json!(1)), Some(json!(2)))),
        );
        check("", "[]", Some(("", None, Some(json!([])))));
        check("{}", "[]", Some(("", Some(json!({})), Some(json!([])))));
    }

    #[test]
    fn a_long_value_is_shortened_when_it_is_shown() {
        let long = Difference { at: "/a".to_owned(), recorded: Some("ä".repeat(900).into()), sent: None };
        assert_eq!(long.json()["recorded"].as_str().map(|text| text.chars().count()), Some(SHOWN + 1));
        assert!(long.sentence().ends_with("sent nothing"));
    }
}
