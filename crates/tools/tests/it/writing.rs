//! `write_file` and `edit_file`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tools::{Guard, RunContext, ToolSource, Workspace};
use uuid::{NoContext, Timestamp, Uuid};

use crate::{Project, contains};

#[tokio::test]
async fn a_file_is_written_with_its_directories() {
    let project = Project::new();
    let text = project.ok("write_file", json!({ "path": "a/b/c.txt", "content": "x\ny\n" })).await;
    assert_eq!(text, "created a/b/c.txt: 2 lines, 4 bytes");
    let text = project.ok("write_file", json!({ "path": "a/b/c.txt", "content": "" })).await;
    assert_eq!(text, "replaced a/b/c.txt: 0 lines, 0 bytes");
    assert_eq!(project.text("a/b/c.txt"), "");
    let left: Vec<_> = fs::read_dir(project.root().join("a/b")).expect("a directory").collect();
    assert_eq!(left.len(), 1, "nothing is left beside it");
}

/// The name of a temporary file that was made some hours ago.
fn aside(hours: u64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs();
    let made = Timestamp::from_unix(NoContext, now - hours * 60 * 60, 0);
    format!(".masque-{}", Uuid::new_v7(made).simple())
}

#[tokio::test]
async fn what_killed_processes_left_goes_after_a_day() {
    let project = Project::new();
    let (old, young) = (aside(25), aside(23));
    let random = format!(".masque-{}", Uuid::from_u128(7).simple());
    let all = [old.as_str(), &young, &random, ".masque-notes", "masque.md"];
    for name in all {
        project.put(name, "mine").put(&format!("sub/{name}"), "mine");
    }
    let dir = aside(26);
    fs::create_dir(project.root().join(&dir)).expect("a directory");
    let left = |name: &str| project.root().join(name).exists();
    let root = project.root().canonicalize().expect("a root");
    let workspace = Workspace::new(tools::ShellSettings::default(), Guard::default());
    let run = RunContext { root: root.to_str(), admits: &|_| true };
    assert!(!workspace.tools(run).await.tools.is_empty());
    assert!(!left(&old) && left(&dir), "a run clears its root");
    assert!(all[1..].iter().all(|name| left(name)));
    assert!(left(&format!("sub/{old}")));
    project.ok("write_file", json!({ "path": "sub/new.txt", "content": "" })).await;
    assert!(!left(&format!("sub/{old}")), "a write clears its directory");
    assert!(all[1..].iter().all(|name| left(&format!("sub/{name}"))));
}

#[tokio::test]
async fn permissions_are_kept() {
    let project = Project::new();
    project.put("run.sh", "old").put("other", "");
    let path = project.root().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).expect("permissions");
    project.ok("write_file", json!({ "path": "run.sh", "content": "new" })).await;
    project.ok("edit_file", json!({ "path": "run.sh", "old": "new", "new": "newer" })).await;
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o7777, 0o751);
    // A new file gets what any program's would.
    project.ok("write_file", json!({ "path": "fresh", "content": "" })).await;
    let mode = |name: &str| fs::metadata(project.root().join(name)).expect("a file").permissions().mode();
    assert_eq!(mode("fresh"), mode("other"));
}

#[tokio::test]
async fn failed_writes_are_reported() {
    let project = Project::new();
    project.put("dir/x", "").put(".git/config", "old");
    for (path, expected) in [
        ("dir", "directory"),
        (".", "."),
        ("dir/x/y", "file"),
        (".git/hooks/pre-commit", "consent"),
        ("dir/../.GIT/config", "consent"),
        ("sub/.git", "consent"),
    ] {
        let text = project.fails("write_file", json!({ "path": path, "content": "x" })).await;
        assert!(text.contains(expected), "{path}: {text}");
    }
    assert_eq!(project.text(".git/config"), "old");
    let text = project.fails("edit_file", json!({ "path": "new/file", "old": "a", "new": "b" })).await;
    contains(&text, &["new/file"]);
    assert!(!project.root().join("new").exists(), "an edit makes no directories");
}

#[tokio::test]
async fn one_occurrence_is_replaced_and_nothing_else() {
    let project = Project::new();
    project.put("a.rs", "fn a() {\n    one();\n    two();\n}\n");
    let text = project
        .ok("edit_file", json!({ "path": "a.rs", "old": "    two();\n", "new": "    $1 \\n;\n" }))
        .await;
    assert_eq!(text, "edited a.rs: line 3");
    assert_eq!(project.text("a.rs"), "fn a() {\n    one();\n    $1 \\n;\n}\n");
}

#[tokio::test]
async fn several_occurrences_need_to_be_meant() {
    let project = Project::new();
    project.put("a", "x\ny\nx x\n");
    let text = project.fails("edit_file", json!({ "path": "a", "old": "x", "new": "z" })).await;
    contains(&text, &["3 times", "1, 3, 3"]);
    assert_eq!(project.text("a"), "x\ny\nx x\n");
    let text = project.ok("edit_file", json!({ "path": "a", "old": "x", "new": "z", "all": true })).await;
    assert_eq!(text, "edited a: lines 1, 3, 3");
    assert_eq!(project.text("a"), "z\ny\nz z\n");
}

#[tokio::test]
async fn a_miss_fails_with_the_nearest_text() {
    let project = Project::new();
    project.put("a", "fn main() {\n\tlet value = compute(1);\n\tprint(value);\n}\n");
    let text = project
        .fails(
            "edit_file",
            json!({ "path": "a", "old": "let value = compute(1);\n  print(value);", "new": "" }),
        )
        .await;
    contains(&text, &["Line 2", ":\n\tlet value = compute(1);\n\tprint(value);"]);
    let text =
        project.fails("edit_file", json!({ "path": "a", "old": "let valve = compute(2);", "new": "" })).await;
    contains(&text, &[":\nline 2: \tlet value = compute(1);"]);
    let text =
        project.fails("edit_file", json!({ "path": "a", "old": "something else entirely", "new": "" })).await;
    assert!(!text.contains("compute"), "{text}");
    project.fails("edit_file", json!({ "path": "a", "old": "\n\n\n\n\n\n\n\n", "new": "" })).await;
    project.fails("edit_file", json!({ "path": "a", "old": "fn", "new": "fn" })).await;
}

#[tokio::test]
async fn line_ends_of_the_file_are_kept() {
    let project = Project::new();
    project.put("dos", "a\r\nb\r\nc\r\n");
    project.ok("edit_file", json!({ "path": "dos", "old": "a\nb\n", "new": "a\nx\ny\n" })).await;
    assert_eq!(project.text("dos"), "a\r\nx\r\ny\r\nc\r\n");
}

#[tokio::test]
async fn edits_at_the_same_time_are_all_kept() {
    let project = Project::new();
    let text: String = (0..40).map(|number| format!("<{number}>\n")).collect();
    project.put("shared", text);
    let edits = (0..40).map(|number| {
        project.ok(
            "edit_file",
            json!({ "path": "shared", "old": format!("<{number}>"), "new": format!("[{number}]") }),
        )
    });
    futures::future::join_all(edits).await;
    let expected: String = (0..40).map(|number| format!("[{number}]\n")).collect();
    assert_eq!(project.text("shared"), expected);
}
