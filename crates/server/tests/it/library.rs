//! The library over HTTP: entities of any kind, loaded personas, lint and conflicts.

use serde_json::{Value, json};

use crate::client::ask;
use crate::running::Running;

mod checking;
mod conditions;
mod loading;
mod mending;
mod previewing;
mod refusing;
mod repeating;
mod table;
mod writing;

async fn get(running: &Running, path: &str) -> Value {
    let (status, answer) = ask(running.port, "GET", path, None).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

/// Puts an entity there, whether it is new or not; what was answered.
async fn put(running: &Running, path: &str, body: &Value) -> Value {
    let (status, answer) = ask(running.port, "PUT", path, Some(body)).await;
    assert!(matches!(status, 200 | 201), "{path}: {status} {answer}");
    answer
}

/// The body that saves a part of type tone.
fn tone(summary: &str) -> Value {
    json!({ "entity": { "part_type": "tone", "summary": summary } })
}

/// One field of every entry of a list.
fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a Value> {
    list.as_array().expect("a list").iter().map(|entry| &entry[field]).collect()
}
