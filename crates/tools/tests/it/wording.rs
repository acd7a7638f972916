//! The notes and failures that a model reads, pinned in one snapshot. Other tests compare facts.

use serde_json::{Value, json};

use crate::Project;

/// The text of a call: whole if it is short, else its first and last lines.
async fn line(project: &Project, tool: &str, input: Value) -> String {
    let text = project.call(tool, input.clone()).await.text;
    let lines: Vec<&str> = text.lines().collect();
    let text = match lines[..] {
        [first, .., last] if lines.len() > 12 => format!("{first}\n…\n{last}"),
        _ => text.trim_end().to_owned(),
    };
    let shown: String = text.lines().map(|line| line.chars().take(300).collect::<String>() + "\n").collect();
    format!("## {tool} {input}\n{shown}\n")
}

#[tokio::test]
async fn files() {
    let project = Project::new();
    project
        .put("src/main.rs", "fn main() {\n\tlet value = compute(1);\n\tprint(value);\n}\n")
        .put("empty", "")
        .put("long", "line\n".repeat(3_000))
        .put("wide", "y".repeat(100_000))
        .put("binary", [1, 0, 2])
        .put("twice", "x\nx\n")
        .put(".git/config", "x");
    for number in 0..1_100 {
        project.put(&format!("many/f{number:04}"), "");
    }
    let mut lines = String::new();
    for (tool, input) in [
        ("read_file", json!({ "path": "empty" })),
        ("read_file", json!({ "path": "long" })),
        ("read_file", json!({ "path": "long", "offset": 2_999 })),
        ("read_file", json!({ "path": "long", "offset": 9_999 })),
        ("read_file", json!({ "path": "wide" })),
        ("read_file", json!({ "path": "src/mian.rs" })),
        ("read_file", json!({ "path": "src" })),
        ("read_file", json!({ "path": "src/main.rs/x" })),
        ("read_file", json!({ "path": "binary" })),
        ("read_file", json!({ "path": "../x" })),
        ("read_file", json!({ "path": 5 })),
        ("list_files", json!({ "glob": "*.py" })),
        ("list_files", json!({ "glob": "a[" })),
        ("list_files", json!({ "path": "nowhere" })),
        ("list_files", json!({ "path": "many" })),
        ("search_files", json!({ "pattern": "nowhere" })),
        ("search_files", json!({ "pattern": "line", "max": 1 })),
        ("search_files", json!({ "pattern": "fn main(" })),
        ("search_files", json!({ "pattern": "x", "path": ".git" })),
        ("write_file", json!({ "path": "src", "content": "x" })),
        ("write_file", json!({ "path": ".git/config", "content": "x" })),
        ("write_file", json!({ "path": "new", "content": "x\n" })),
        ("edit_file", json!({ "path": "nowhere", "old": "a", "new": "b" })),
        ("edit_file", json!({ "path": "twice", "old": "x", "new": "z" })),
        ("edit_file", json!({ "path": "twice", "old": "x", "new": "z", "all": true })),
        ("edit_file", json!({ "path": "src/main.rs", "old": "fn", "new": "fn" })),
        (
            "edit_file",
            json!({ "path": "src/main.rs", "old": "let value = compute(1);\n  print(value);", "new": "" }),
        ),
        ("edit_file", json!({ "path": "src/main.rs", "old": "let valve = compute(2);", "new": "" })),
        ("edit_file", json!({ "path": "src/main.rs", "old": "something else entirely", "new": "" })),
        ("run_command", json!({ "command": "exit 3" })),
        ("run_command", json!({ "command": "sleep 600", "timeout_s": 1 })),
        ("nothing", json!({})),
    ] {
        lines += &line(&project, tool, input).await;
    }
    insta::assert_snapshot!(lines);
}
