//! `read_file`, `list_files` and `search_files`.

use serde_json::json;

use crate::{Project, contains};

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let project = Project::new();
    project.put("a.txt", "one\r\n  two\n").put("empty", "");
    assert_eq!(project.ok("read_file", json!({ "path": "a.txt" })).await, "one\r\n  two\n");
    assert_eq!(project.ok("read_file", json!({ "path": "./a.txt" })).await, "one\r\n  two\n");
    let absolute = project.root().join("a.txt");
    assert_eq!(project.ok("read_file", json!({ "path": absolute })).await, "one\r\n  two\n");
    let text = project.ok("read_file", json!({ "path": "empty" })).await;
    assert!(text.starts_with('[') && text.contains("empty"), "{text}");
}

#[tokio::test]
async fn a_part_of_a_file_has_its_line_numbers() {
    let project = Project::new();
    let lines: String = (1..=5_000).map(|number| format!("line {number}\n")).collect();
    project.put("long", &lines);
    let text = project.ok("read_file", json!({ "path": "long" })).await;
    let (note, shown) = text.split_once('\n').expect("a note");
    contains(note, &["1 to 2000 of 5000", "offset 2001"]);
    assert!(shown.starts_with("line 1\n") && shown.ends_with("line 2000\n"));
    let text = project.ok("read_file", json!({ "path": "long", "offset": 4_999, "limit": 10 })).await;
    let (note, shown) = text.split_once('\n').expect("a note");
    contains(note, &["4999 to 5000 of 5000"]);
    assert!(!note.contains("offset"), "{note}");
    assert_eq!(shown, "line 4999\nline 5000\n");
    let text = project.fails("read_file", json!({ "path": "long", "offset": 5_001 })).await;
    contains(&text, &["5000 lines", "5001"]);
}

#[tokio::test]
async fn a_long_file_is_read_in_several_calls() {
    let project = Project::new();
    project.put("wide", format!("{}\n", "x".repeat(999)).repeat(100)).put("one", "y".repeat(100_000));
    let text = project.ok("read_file", json!({ "path": "wide" })).await;
    contains(&text[..80], &["1 to 64 of 100", "offset 65"]);
    assert_eq!(text.lines().count(), 65);
    let text = project.ok("read_file", json!({ "path": "one" })).await;
    contains(&text[..80], &["line 1", "64512 bytes", "]\nyyy"]);
}

#[tokio::test]
async fn a_wrong_path_fails_with_a_suggestion() {
    let project = Project::new();
    project.put("src/main.rs", "");
    let text = project.fails("read_file", json!({ "path": "src/mian.rs" })).await;
    contains(&text, &["src/mian.rs", "src/main.rs"]);
    contains(&project.fails("read_file", json!({ "path": "src" })).await, &["src", "directory"]);
    contains(
        &project.fails("read_file", json!({ "path": "src/main.rs/x" })).await,
        &["src/main.rs/x", "file"],
    );
}

fn tree() -> Project {
    let project = Project::new();
    project
        .put(".gitignore", "target/\n*.log\n!kept.log\n")
        .put(".git/config", "needle in git")
        .put(".github/ci.yml", "needle hidden")
        .put("a.log", "needle ignored")
        .put("kept.log", "needle kept")
        .put("src/main.rs", "fn main() {\n    needle();\n}\n")
        .put("src/deep/er/lib.rs", "// Needle\n")
        .put("src/.ignore", "secret.rs\n")
        .put("src/secret.rs", "needle ignored")
        .put("target/out.rs", "needle built")
        .put("image.bin", b"needle\0\x01");
    project
}

#[tokio::test]
async fn a_list_honours_ignore_rules_and_depth() {
    let project = tree();
    assert_eq!(
        project.ok("list_files", json!({})).await,
        "image.bin\nkept.log\nsrc/\nsrc/deep/\nsrc/main.rs"
    );
    assert_eq!(project.ok("list_files", json!({ "depth": 1 })).await, "image.bin\nkept.log\nsrc/");
    assert_eq!(
        project.ok("list_files", json!({ "path": "src/deep", "depth": 9 })).await,
        "src/deep/er/\nsrc/deep/er/lib.rs"
    );
    assert_eq!(project.ok("list_files", json!({ "glob": "*.rs" })).await, "src/deep/er/lib.rs\nsrc/main.rs");
    assert_eq!(project.ok("list_files", json!({ "glob": "src/*.rs" })).await, "src/main.rs");
    assert_eq!(
        project.ok("list_files", json!({ "path": "src", "glob": "deep/**/*.{rs,py}" })).await,
        "src/deep/er/lib.rs"
    );
    // Named, what is hidden or ignored is there.
    assert_eq!(project.ok("list_files", json!({ "path": ".github" })).await, ".github/ci.yml");
    assert_eq!(project.ok("list_files", json!({ "glob": ".github/*" })).await, ".github/ci.yml");
    assert_eq!(project.ok("list_files", json!({ "path": "target" })).await, "target/out.rs");
}

#[tokio::test]
async fn an_empty_list_and_an_invalid_glob_are_reported() {
    let project = tree();
    let text = project.ok("list_files", json!({ "glob": "*.py" })).await;
    assert!(text.starts_with('[') && text.contains("*.py"), "{text}");
    let text = project.fails("list_files", json!({ "glob": "a[" })).await;
    contains(&text, &["\"a[\""]);
    project.fails("list_files", json!({ "path": "no" })).await;
    let text = project.fails("list_files", json!({ "path": "kept.log" })).await;
    assert!(text.starts_with("kept.log"), "{text}");
}

#[tokio::test]
async fn a_long_list_is_cut_with_a_note() {
    let project = Project::new();
    for number in 0..1_100 {
        project.put(&format!("f{number:04}"), "");
    }
    let text = project.ok("list_files", json!({})).await;
    assert_eq!(text.lines().count(), 1_001);
    contains(text.lines().last().expect("a note"), &["1000"]);
    contains(&text, &["f0999\n["]);
}

#[tokio::test]
async fn a_search_shows_lines_by_file() {
    let project = tree();
    let text = project.ok("search_files", json!({ "pattern": "needle" })).await;
    assert_eq!(
        text,
        "kept.log\n1: needle kept\n\nsrc/main.rs\n2:     needle();\n\n[matching lines: 2, files: 2]"
    );
    let text = project
        .ok("search_files", json!({ "pattern": "NEEDLE", "ignore_case": true, "glob": "*.rs", "context": 1 }))
        .await;
    assert_eq!(
        text,
        "src/deep/er/lib.rs\n1: // Needle\n\nsrc/main.rs\n1- fn main() {\n2:     needle();\n3- }\n\n[matching lines: 2, files: 2]"
    );
    let text = project.ok("search_files", json!({ "pattern": "needle", "path": "src/main.rs" })).await;
    assert_eq!(text, "src/main.rs\n2:     needle();\n\n[matching lines: 1, files: 1]");
    let text = project.ok("search_files", json!({ "pattern": "nowhere" })).await;
    assert!(text.starts_with("[no match"), "{text}");
}

#[tokio::test]
async fn a_search_never_looks_into_git() {
    let project = tree();
    for path in [".git", ".git/config", "src/../.git/config"] {
        let text = project.fails("search_files", json!({ "pattern": "needle", "path": path })).await;
        contains(&text, &["git"]);
    }
    let text = project.ok("search_files", json!({ "pattern": "needle", "glob": ".git/*" })).await;
    assert!(text.starts_with("[no match"), "{text}");
    let text = project.ok("search_files", json!({ "pattern": "needle", "glob": ".*/*" })).await;
    assert!(text.contains(".github/ci.yml") && !text.contains("in git"), "{text}");
}

#[tokio::test]
async fn a_search_stops_at_its_limits() {
    let project = Project::new();
    project.put("many", "x\n".repeat(5_000)).put("wide", format!("y{}", "z".repeat(100_000)));
    let text = project.ok("search_files", json!({ "pattern": "x", "max": 3 })).await;
    let (shown, note) = text.split_once("\n\n").expect("a note");
    assert_eq!(shown, "many\n1: x\n2: x\n3: x");
    contains(note, &["3 matching lines"]);
    let text = project.ok("search_files", json!({ "pattern": "y" })).await;
    assert!(text.len() < 1_000 && text.contains("zzz…"), "{}", text.len());
    let text = project.fails("search_files", json!({ "pattern": "x", "max": 100_000 })).await;
    assert!(text.contains("/max"), "{text}");
}

#[tokio::test]
async fn rules_of_the_repository_around_the_root_hold_too() {
    let dir = tempfile::tempdir().expect("a directory");
    for path in [".git", "part"] {
        std::fs::create_dir(dir.path().join(path)).expect("a directory");
    }
    std::fs::write(dir.path().join(".gitignore"), "/part/built\n*.tmp\n").expect("rules");
    for path in ["part/built", "part/x.tmp", "part/kept"] {
        std::fs::write(dir.path().join(path), "").expect("a file");
    }
    let root = tools::Root::open(&dir.path().join("part")).expect("a root");
    let mut toolbox = tools::Toolbox::new();
    toolbox.add(tools::files(&root));
    assert_eq!(toolbox.call("list_files", crate::called(json!({}))).await.text, "kept");
}

#[tokio::test]
async fn a_root_knows_when_its_path_leads_to_another_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("root");
    std::fs::create_dir(&path).expect("a directory");
    let root = tools::Root::open(&path).expect("a root");
    assert!(root.is_current());
    std::fs::rename(&path, dir.path().join("moved")).expect("renamed");
    assert!(!root.is_current());
    std::fs::create_dir(&path).expect("a directory");
    assert!(!root.is_current());
}
