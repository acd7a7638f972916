//! Files that are not what they seem.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;

use crate::Project;

const SECRET: &str = "the secret outside";
/// The least number of calls of each tool, and of swaps, in the race.
const ROUNDS: u32 = 200;
const SWAPS: u64 = 1_000;

fn with_secret() -> Project {
    let project = Project::new();
    fs::create_dir(project.outside().join("other")).expect("a directory");
    fs::write(project.outside().join("other/secret"), SECRET).expect("a file");
    project.put("in/file", "inside");
    project
}

#[tokio::test]
async fn no_path_leads_out_of_the_root() {
    let project = with_secret();
    let outside = project.outside();
    let root = project.root();
    symlink(outside.join("other"), root.join("absolute")).expect("a link");
    symlink("../other", root.join("relative")).expect("a link");
    symlink("../../other/secret", root.join("in/deep")).expect("a link");
    symlink("relative", root.join("twice")).expect("a link");
    symlink("/proc/self/root", root.join("proc")).expect("a link");
    let paths = [
        "../other/secret".to_owned(),
        "in/../../other/secret".to_owned(),
        outside.join("other/secret").display().to_string(),
        format!("{}/../other/secret", root.display()),
        "absolute/secret".to_owned(),
        "relative/secret".to_owned(),
        "twice/secret".to_owned(),
        "in/deep".to_owned(),
        "proc/etc/passwd".to_owned(),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
    ];
    for path in &paths {
        for (tool, input) in [
            ("read_file", json!({ "path": path })),
            ("list_files", json!({ "path": path })),
            ("search_files", json!({ "pattern": ".", "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("edit_file", json!({ "path": path, "old": "secret", "new": "x" })),
        ] {
            let text = project.fails(tool, input).await;
            assert!(text.contains("outside"), "{tool} {path}: {text}");
        }
    }
    let text = project.fails("write_file", json!({ "path": "../new/file", "content": "x" })).await;
    assert!(text.contains("outside"), "{text}");
    assert!(!outside.join("new").exists());
    assert_eq!(fs::read_to_string(outside.join("other/secret")).expect("a file"), SECRET);
    let text = project.ok("search_files", json!({ "pattern": "secret" })).await;
    assert!(text.starts_with("[no match"), "links are not followed: {text}");
    let text = project.ok("list_files", json!({ "depth": 9 })).await;
    assert!(text.contains("absolute (link)") && !text.contains("secret"), "{text}");
}

#[tokio::test]
async fn a_link_that_stays_inside_is_followed_and_kept() {
    let project = with_secret();
    symlink("in", project.root().join("link")).expect("a link");
    symlink("in/file", project.root().join("file_link")).expect("a link");
    assert_eq!(project.ok("read_file", json!({ "path": "link/file" })).await, "inside");
    assert_eq!(project.ok("read_file", json!({ "path": "link/../in/file" })).await, "inside");
    let text =
        project.ok("edit_file", json!({ "path": "file_link", "old": "inside", "new": "changed" })).await;
    assert_eq!(text, "edited in/file: line 1");
    assert!(fs::symlink_metadata(project.root().join("file_link")).expect("a link").is_symlink());
    assert_eq!(project.text("in/file"), "changed");
}

#[tokio::test]
async fn a_hard_link_is_never_written_through() {
    let project = with_secret();
    fs::hard_link(project.outside().join("other/secret"), project.root().join("hard")).expect("a link");
    project.ok("write_file", json!({ "path": "hard", "content": "x" })).await;
    assert_eq!(fs::read_to_string(project.outside().join("other/secret")).expect("a file"), SECRET);
}

/// A thread keeps swapping a directory for a link that leads out.
#[tokio::test(flavor = "multi_thread")]
async fn no_race_leads_out_of_the_root() {
    let project = with_secret();
    let (root, outside) = (project.root(), project.outside().to_owned());
    fs::create_dir(root.join("real")).expect("a directory");
    fs::write(root.join("real/secret"), "harmless").expect("a file");
    symlink("../other", root.join("evil")).expect("a link");
    let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let swapper = std::thread::spawn({
        let (root, stop, swaps) = (root.clone(), Arc::clone(&stop), Arc::clone(&swaps));
        move || {
            while !stop.load(Ordering::Relaxed) {
                for name in ["real", "evil"] {
                    let _ = fs::rename(root.join(name), root.join("swapped"));
                    std::thread::yield_now();
                    let _ = fs::rename(root.join("swapped"), root.join(name));
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    let (mut seen, mut round) = (0, 0);
    while round < ROUNDS || seen == 0 || swaps.load(Ordering::Relaxed) < SWAPS {
        round += 1;
        let read = project.call("read_file", json!({ "path": "swapped/secret" })).await;
        assert!(!read.text.contains(SECRET), "{}", read.text);
        seen += u32::from(read.text == "harmless" || read.text.starts_with("made"));
        let found = project.call("search_files", json!({ "pattern": ".*", "path": "." })).await;
        assert!(!found.text.contains(SECRET), "{}", found.text);
        let listed = project.call("list_files", json!({ "depth": 5 })).await;
        assert!(!listed.text.contains("other"), "{}", listed.text);
        project
            .call("write_file", json!({ "path": "swapped/secret", "content": format!("made {round}") }))
            .await;
        project.call("write_file", json!({ "path": format!("swapped/new/{round}"), "content": "x" })).await;
        project.call("edit_file", json!({ "path": "swapped/secret", "old": "secret", "new": "x" })).await;
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().expect("the swapper");
    assert_eq!(fs::read_to_string(outside.join("other/secret")).expect("a file"), SECRET);
    let names: Vec<_> = fs::read_dir(outside.join("other")).expect("a directory").collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[tokio::test]
async fn special_files_are_refused_without_waiting() {
    let project = with_secret();
    let made =
        std::process::Command::new("mkfifo").arg(project.root().join("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(project.root().join("socket")).expect("a socket");
    for name in ["pipe", "socket"] {
        for (tool, input) in [
            ("read_file", json!({ "path": name })),
            ("write_file", json!({ "path": name, "content": "x" })),
            ("edit_file", json!({ "path": name, "old": "a", "new": "b" })),
            ("search_files", json!({ "pattern": "x", "path": name })),
        ] {
            let text = project.fails(tool, input).await;
            assert!(text.contains("regular file"), "{tool} {name}: {text}");
        }
    }
    project.ok("search_files", json!({ "pattern": "inside" })).await;
    let text = project.ok("list_files", json!({})).await;
    assert!(text.contains("pipe (special file)"), "{text}");
    // As rules they do not block either.
    fs::rename(project.root().join("pipe"), project.root().join(".gitignore")).expect("renamed");
    project.ok("list_files", json!({})).await;
}

#[tokio::test]
async fn binary_and_huge_files_are_refused_with_their_size() {
    let project = with_secret();
    project.put("binary", [1, 0, 2]).put("latin", b"caf\xe9 needle");
    let huge = fs::File::create(project.root().join("huge")).expect("a file");
    huge.set_len(1 << 40).expect("a sparse file");
    let text = project.fails("read_file", json!({ "path": "binary" })).await;
    assert!(text.contains("3 bytes"), "{text}");
    let text = project.fails("read_file", json!({ "path": "huge" })).await;
    assert!(text.contains("1099511627776 bytes"), "{text}");
    let text = project.ok("read_file", json!({ "path": "latin" })).await;
    assert!(text.starts_with("[not valid UTF-8") && text.ends_with("caf\u{FFFD} needle"), "{text}");
    for name in ["binary", "huge", "latin"] {
        project.fails("edit_file", json!({ "path": name, "old": "needle", "new": "x" })).await;
    }
    let text = project.ok("search_files", json!({ "pattern": "needle" })).await;
    assert!(text.contains("latin\n1: caf\u{FFFD} needle"), "{text}");
    assert!(text.contains("too large: 1"), "{text}");
}

#[tokio::test]
async fn names_that_are_no_text_or_hold_line_ends_are_shown_on_one_line() {
    let project = with_secret();
    fs::write(project.root().join(OsStr::from_bytes(b"bad\xff")), "needle").expect("a file");
    fs::write(project.root().join("two\nlines"), "needle").expect("a file");
    let text = project.ok("list_files", json!({ "depth": 1 })).await;
    assert_eq!(text, "bad\u{FFFD}\nin/\ntwo\\nlines");
    let text = project.ok("search_files", json!({ "pattern": "needle" })).await;
    assert_eq!(text, "bad\u{FFFD}\n1: needle\n\ntwo\\nlines\n1: needle\n\n[matching lines: 2, files: 2]");
    let text = project.fails("read_file", json!({ "path": "a\0b" })).await;
    assert!(text.contains("NUL"), "{text}");
    project.fails("read_file", json!({ "path": "x".repeat(10_000) })).await;
}

#[tokio::test]
async fn a_pattern_cannot_take_all_the_time_or_memory() {
    let project = Project::new();
    project.put("a", "a".repeat(200_000) + "\n" + &"ab ".repeat(100_000));
    // A search that backtracks never ends on these.
    for pattern in ["(a*)*b$", "(a|a)*c", "(x+x+)+y", "(?:.*){50}z"] {
        let text = project.ok("search_files", json!({ "pattern": pattern })).await;
        assert!(text.starts_with("[no match"), "{pattern}: {text}");
    }
    for pattern in ["a{1000}{1000}{1000}", "(((a{100}){100}){100}){100}"] {
        project.fails("search_files", json!({ "pattern": pattern })).await;
    }
    let nested = "(".repeat(4_000) + &")".repeat(4_000);
    project.fails("search_files", json!({ "pattern": nested })).await;
    let text = project.fails("search_files", json!({ "pattern": "fn foo(" })).await;
    assert!(text.contains("\\ before ("), "{text}");
}

#[tokio::test]
async fn directories_without_end_are_gone_through_only_so_far() {
    let project = Project::new();
    let mut path = project.root();
    for _ in 0..200 {
        path.push("d");
    }
    fs::create_dir_all(&path).expect("directories");
    fs::write(path.join("needle"), "needle").expect("a file");
    let text = project.ok("list_files", json!({ "depth": 1_000 })).await;
    assert_eq!(text.lines().count(), 64);
    project.ok("search_files", json!({ "pattern": "needle" })).await;
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let project = Project::new();
    project.put("file", "x");
    let call = crate::called(json!({ "pattern": "(x|y)*z" }));
    call.cancelled.cancel();
    assert!(project.tools.call("search_files", call).await.is_error);
}
