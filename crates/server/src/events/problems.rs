//! Errors in files, as JSON.

use app::Problem;
use serde_json::{Value, json};

use crate::limits::EVENT_PROBLEMS;

/// The data of a `problems` event.
pub(super) fn described(problems: &[Problem]) -> String {
    let shown: Vec<Value> = problems.iter().take(EVENT_PROBLEMS).map(one).collect();
    let mut data = json!({ "problems": shown });
    if problems.len() > EVENT_PROBLEMS {
        data["left_out"] = Value::from(problems.len() - EVENT_PROBLEMS);
    }
    data.to_string()
}

/// One problem in the form of every front. If its path is not text, the message shows it as far as
/// possible.
fn one(problem: &Problem) -> Value {
    serde_json::to_value(problem)
        .unwrap_or_else(|_| json!({ "level": problem.level, "message": problem.to_string() }))
}
