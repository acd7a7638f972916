//! One-line descriptions of tool calls and their results.

use agent::ToolCall;
use serde_json::Value;

use crate::output::{one_line, truncate};

/// Maximum columns of a call's subject.
const SUBJECT_COLUMNS: usize = 80;
/// Maximum columns of an error.
const ERROR_COLUMNS: usize = 160;
/// Maximum columns of a one-line result.
const ANSWER_COLUMNS: usize = 72;

/// The input fields that describe a call of a builtin tool.
const SUBJECTS: [(&str, &[&str]); 9] = [
    ("read_file", &["path"]),
    ("list_files", &["path", "glob"]),
    ("search_files", &["pattern", "path", "glob"]),
    ("write_file", &["path"]),
    ("edit_file", &["path"]),
    ("run_command", &["command"]),
    ("fetch_url", &["url"]),
    ("load_skill", &["name"]),
    ("delegate", &["persona"]),
];

/// `read_file src/main.rs`
pub(crate) fn label(ToolCall { name: tool_name, input, .. }: &ToolCall) -> String {
    let name = one_line(tool_name);
    let known = SUBJECTS.iter().find(|(known, _)| *known == tool_name);
    let subject = match known {
        Some((_, fields)) => {
            let values = fields.iter().filter_map(|field| input.get(*field)).filter_map(Value::as_str);
            values.collect::<Vec<_>>().join(" ")
        }
        // A plan is shown in full later.
        None if tool_name == "plan_exit" || input.is_empty() => String::new(),
        None => serde_json::to_string(input).unwrap_or_default(),
    };
    match subject.trim() {
        "" => name,
        subject => format!("{name} {}", truncate(&one_line(subject), SUBJECT_COLUMNS)),
    }
}

/// A short form of a result: its only line, its length, or the first line of an error.
pub(crate) fn outcome(output: &str, is_error: bool) -> String {
    let output = output.trim_end();
    if is_error {
        let first = output.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
        return truncate(&one_line(first), ERROR_COLUMNS);
    }
    match output.lines().count() {
        0 => "no output".to_owned(),
        1 => truncate(&one_line(output.trim()), ANSWER_COLUMNS),
        lines => format!("{lines} lines"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ToolCall, label, outcome};

    #[track_caller]
    fn check(name: &str, input: Value, expected: &str) {
        let Value::Object(input) = input else { panic!("an object") };
        let call = ToolCall { name: name.to_owned(), input, ..ToolCall::default() };
        assert_eq!(label(&call), expected);
    }

    #[test]
    fn a_call_is_one_line() {
        check("read_file", json!({ "path": "src/main.rs", "limit": 3 }), "read_file src/main.rs");
        check("search_files", json!({ "pattern": "a b", "glob": "*.rs" }), "search_files a b *.rs");
        check("run_command", json!({ "command": "one\ntwo" }), "run_command one two");
        check("list_files", json!({}), "list_files");
        check("plan_exit", json!({ "plan": "# long" }), "plan_exit");
        check("mcp__git__log", json!({ "n": 3 }), "mcp__git__log {\"n\":3}");
        check("mcp__x__y", json!({}), "mcp__x__y");
        check("read_file", json!({ "path": 3 }), "read_file");
        check("run_command", json!({ "command": "\x1b[2J" }), "run_command \\u{1b}[2J");
        let long = "x".repeat(500);
        check("read_file", json!({ "path": long }), &format!("read_file {}…", "x".repeat(79)));
    }

    #[test]
    fn a_result_is_one_line() {
        assert_eq!(outcome("", false), "no output");
        assert_eq!(outcome("created x: 1 line\n", false), "created x: 1 line");
        assert_eq!(outcome(&"x".repeat(500), false), format!("{}…", "x".repeat(71)));
        assert_eq!(outcome("\x1b[2J", false), "\\u{1b}[2J");
        assert_eq!(outcome("one\ntwo", false), "2 lines");
        assert_eq!(outcome("\nno such file\nmore", true), "no such file");
        assert_eq!(outcome("", true), "failed");
    }
}
