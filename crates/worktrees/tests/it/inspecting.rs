//! Facts about what was handed in.

use std::os::unix::ffi::OsStrExt as _;

use worktrees::{ChangeKind, DiffLimits};

use crate::sandbox::{Change, Sandbox, commit_all, git, write};

const RUST: &str = "#[test]\nfn adds() {}\n\n#[test]\nfn divides() {}\n\n#[test]\nfn multiplies() {}\n";
const PYTHON: &str = "def test_adds():\n    assert True\n\n\ndef test_divides():\n    assert True\n";

#[tokio::test]
async fn a_dirty_tree_and_a_foreign_head_show() {
    let sandbox = Sandbox::new().await;
    let (worktree, base) = (sandbox.worktree("T1").await, sandbox.head());
    write(worktree.path(), "a.txt", "changed\n");
    write(worktree.path(), "new dir/new.txt", "new\n");
    write(worktree.path(), "ignored/x", "x\n");
    git(worktree.path(), &["mv", "docs/guide.txt", "docs/moved.txt"]);
    let facts = sandbox.worktrees.inspect(&base, &base, Some(worktree.tree())).await.expect("facts");
    let mut uncommitted = facts.uncommitted.clone();
    uncommitted.sort();
    assert_eq!(uncommitted, ["a.txt", "docs/guide.txt", "docs/moved.txt", "new dir/new.txt"]);
    assert!(!facts.is_clean() && facts.is_empty() && facts.descends);
    assert_eq!(facts.commits, 0);

    git(worktree.path(), &["checkout", "--quiet", "--orphan", "fresh"]);
    let orphan = commit_all(worktree.path(), "Without a past");
    let facts = sandbox.worktrees.inspect(&base, &orphan, Some(worktree.tree())).await.expect("facts");
    assert!(!facts.descends && facts.is_clean() && !facts.is_empty());
}

#[tokio::test]
async fn paths_outside_of_the_scope_show_with_both_names() {
    let sandbox = Sandbox::new().await;
    let base = sandbox.head();
    let files = [
        ("src/a.txt", Some("a\n")),
        ("src/deep/b.txt", Some("b\n")),
        ("docs/guide.txt", None),
        ("src/guide.txt", Some("A guide.\n")),
        ("srcs.txt", Some("c\n")),
    ];
    let head = sandbox.ticket("T1", &base, &files).head;
    let facts = sandbox.worktrees.inspect(&base, &head, None).await.expect("facts");
    assert_eq!(facts.outside(&["src/**"]).expect("globs"), ["docs/guide.txt", "srcs.txt"]);
    assert_eq!(facts.outside::<&str>(&[]).expect("globs"), Vec::<&str>::new());
    assert_eq!(facts.outside(&["src/*"]).expect("globs").len(), 3);
    assert!(facts.outside(&["[".to_owned()]).is_err());
    let renamed = facts.changes.iter().find(|it| it.kind == ChangeKind::Renamed).expect("a rename");
    assert_eq!((renamed.path.as_str(), renamed.from.as_deref()), ("src/guide.txt", Some("docs/guide.txt")));
}

#[tokio::test]
async fn deleted_renamed_and_skipped_tests_show() {
    let sandbox = Sandbox::new().await;
    sandbox.write("tests/calc.rs", RUST);
    sandbox.write("tests/test_calc.py", PYTHON);
    let base = sandbox.commit_all("Tests");
    let look = async |name: &str, files: &[Change<'_>]| {
        let head = sandbox.ticket(name, &base, files).head;
        sandbox.worktrees.inspect(&base, &head, None).await.expect("facts").tests
    };
    let skipped = RUST.replace("#[test]\nfn divides", "#[test]\n#[ignore = \"flaky\"]\nfn divides");
    let tests = look("skip", &[("tests/calc.rs", Some(&skipped))]).await;
    assert_eq!(tests.skipped, ["tests/calc.rs: divides"]);
    assert_eq!((tests.base.ran(), tests.head.ran()), (3, 2));

    let deleted = RUST.replace("#[test]\nfn divides() {}\n\n", "");
    let tests = look("delete", &[("tests/calc.rs", Some(&deleted))]).await;
    assert_eq!(tests.deleted, ["tests/calc.rs: divides"]);
    let tests = look("file", &[("tests/test_calc.py", None)]).await;
    assert_eq!(tests.deleted, ["tests/test_calc.py: test_adds", "tests/test_calc.py: test_divides"]);
    assert_eq!((tests.base.ran(), tests.head.ran()), (2, 0));

    // No longer a test, though its code is there.
    let plain = RUST.replace("#[test]\nfn divides", "#[allow(dead_code)]\nfn divides");
    let tests = look("plain", &[("tests/calc.rs", Some(&plain))]).await;
    assert_eq!(tests.deleted, ["tests/calc.rs: divides"]);
    let renamed = PYTHON.replace("test_divides", "check_divides");
    let tests = look("rename", &[("tests/test_calc.py", Some(&renamed))]).await;
    assert_eq!(tests.deleted, ["tests/test_calc.py: test_divides"]);

    // Moved, none is missing.
    let moved = [("tests/calc.rs", None), ("tests/arithmetic/calc.rs", Some(RUST))];
    let tests = look("move", &moved).await;
    assert_eq!((tests.deleted.len(), tests.skipped.len()), (0, 0), "{tests:?}");
    // A file that is not searched any more has no tests.
    let hidden = [("tests/calc.rs", None), ("tests/calc.rs.txt", Some(RUST))];
    assert_eq!(look("hide", &hidden).await.deleted.len(), 3);
    // Too large to be read, which is said.
    let large = format!("{RUST}{}", "// filler\n".repeat(120_000));
    assert_eq!(look("large", &[("tests/calc.rs", Some(&large))]).await.unread, ["tests/calc.rs"]);
}

#[tokio::test]
async fn a_name_that_is_not_utf_8_is_a_path_like_any_other() {
    let sandbox = Sandbox::new().await;
    let (worktree, base) = (sandbox.worktree("T1").await, sandbox.head());
    let odd = worktree.path().join(std::ffi::OsStr::from_bytes(b"src\xff\n.txt"));
    std::fs::write(&odd, "odd\n").expect("a file");
    let facts = sandbox.worktrees.inspect(&base, &base, Some(worktree.tree())).await.expect("facts");
    assert_eq!(facts.uncommitted, ["src\u{fffd}\n.txt"]);
    let head = sandbox.worktrees.commit(&worktree, "Odd").await.expect("a commit");
    let facts = sandbox.worktrees.inspect(&base, &head, Some(worktree.tree())).await.expect("facts");
    assert!(facts.is_clean());
    assert_eq!(facts.outside(&["docs/**"]).expect("globs"), ["src\u{fffd}\n.txt"]);
    let diff = sandbox.worktrees.diff(&base, &head, DiffLimits::default()).await.expect("a diff");
    assert_eq!((diff.files.len(), diff.files[0].added), (1, 1));
    assert!(diff.text.contains("+odd\n"), "{}", diff.text);
}

#[tokio::test]
async fn a_difference_keeps_its_limits() {
    let sandbox = Sandbox::new().await;
    sandbox.write("big.txt", "line\n".repeat(50_000));
    sandbox.write("binary", [0, 159, 146, 150]);
    let base = sandbox.commit_all("More");
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "big.txt", "other\n".repeat(50_000));
    write(worktree.path(), "binary", [0, 1, 2]);
    git(worktree.path(), &["mv", "docs/guide.txt", "docs/moved.txt"]);
    std::fs::remove_file(worktree.path().join("a.txt")).expect("a file");
    std::os::unix::fs::symlink("big.txt", worktree.path().join("a.txt")).expect("a link");
    let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
    let limits = DiffLimits { bytes: 2_000, file_bytes: 1_000, ..DiffLimits::default() };
    let diff = sandbox.worktrees.diff(&base, &head, limits).await.expect("a diff");
    assert!(diff.text.len() <= 2_000);
    let file = |path: &str| diff.files.iter().find(|it| it.path == path).expect("a file");
    assert_eq!((file("big.txt").added, file("big.txt").deleted), (50_000, 50_000));
    assert!(file("big.txt").bytes_left_out > 500_000);
    assert!(file("binary").is_binary);
    assert_eq!(file("docs/moved.txt").from.as_deref(), Some("docs/guide.txt"));
    assert_eq!(file("a.txt").bytes_left_out, 0);
    assert!(diff.text.contains("new file mode 120000"), "{}", diff.text);
    let one = DiffLimits { files: 1, ..limits };
    let diff = sandbox.worktrees.diff(&base, &head, one).await.expect("a diff");
    assert_eq!((diff.files.len(), diff.files_left_out), (1, 3));
}
