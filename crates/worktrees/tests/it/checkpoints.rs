//! Work in progress is kept each turn, and goes on elsewhere.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use worktrees::{Error, Label, Opened, Worktree};

use crate::sandbox::{Sandbox, commit_all, git, open, read, track, write};
use crate::untouched::Untouched;

/// Changes of every kind.
fn work(path: &Path) {
    write(path, "a.txt", "one\nTWO\nthree\n");
    write(path, "new.txt", "untracked\n");
    write(path, "deep/er/new.txt", "untracked\n");
    write(path, "ignored/secret", "never kept\n");
    write(path, "staged.txt", "staged\n");
    git(path, &["add", "staged.txt"]);
    write(path, "staged.txt", "and changed\n");
    std::fs::remove_dir_all(path.join("docs")).expect("it was there");
    write(path, "docs", "a file now\n");
    write(path, "run.sh", "#!/bin/sh\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path.join("run.sh"), mode).expect("a mode");
    symlink("a.txt", path.join("link")).expect("a link");
}

/// The files as the worker sees them, without those that git ignores.
fn files(path: &Path) -> String {
    git(path, &["ls-files", "--stage", "--cached", "--others", "--exclude-standard"]);
    let status = git(path, &["status", "--porcelain", "--untracked-files=all"]);
    let changed = git(path, &["diff", "HEAD", "--", "a.txt"]);
    let mode = path.join("run.sh").metadata().expect("a file").permissions().mode() & 0o111;
    let link = path.join("link").read_link().expect("a link");
    format!("{changed}\n{mode:o} {} {}\n{}", link.display(), read(path, "docs"), sorted(&status))
}

/// Paths without the part of the status that says what is staged.
fn sorted(status: &str) -> String {
    let mut paths: Vec<&str> = status.lines().filter_map(|line| line.get(3..)).collect();
    paths.sort_unstable();
    paths.join("\n")
}

#[tokio::test]
async fn a_checkpoint_has_everything_and_changes_nothing() {
    let sandbox = Sandbox::new().await;
    let before = Untouched::at(&sandbox.top);
    let worktree = sandbox.worktree("T1").await;
    work(worktree.path());
    let index = std::path::PathBuf::from(git(worktree.path(), &["rev-parse", "--git-path", "index"]));
    let (status, bytes) = (git(worktree.path(), &["status", "--porcelain"]), std::fs::read(&index));
    let kept = Untouched::at(worktree.path());
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    kept.holds();
    assert_eq!(std::fs::read(&index).expect("an index"), bytes.expect("an index"));
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), status);
    assert_eq!(checkpoint.head, sandbox.head());
    assert_eq!(checkpoint.skipped, Vec::<String>::new());
    let listed = sandbox.git(&["ls-tree", "-r", "--name-only", checkpoint.commit.as_str()]);
    assert_eq!(
        listed.lines().collect::<Vec<_>>(),
        [".gitignore", "a.txt", "deep/er/new.txt", "docs", "link", "new.txt", "run.sh", "staged.txt"]
    );
    assert_eq!(sandbox.shown(&checkpoint.commit, "staged.txt"), "and changed");
    assert_eq!(sandbox.commit(&checkpoint.reference), checkpoint.commit);
    // Without a difference it stays the same.
    let again = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    assert_eq!(again, checkpoint);
    before.holds();
}

#[tokio::test]
async fn changes_that_git_was_told_to_overlook_are_kept() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    for (flag, path) in [("--assume-unchanged", "a.txt"), ("--skip-worktree", "docs/guide.txt")] {
        git(worktree.path(), &["update-index", flag, path]);
        write(worktree.path(), path, "hidden\n");
    }
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    assert_eq!(sandbox.shown(&checkpoint.commit, "a.txt"), "hidden");
    assert_eq!(sandbox.shown(&checkpoint.commit, "docs/guide.txt"), "hidden");
}

#[tokio::test]
async fn a_change_that_only_its_content_shows_is_kept() {
    let sandbox = Sandbox::new().await;
    sandbox.git(&["config", "core.trustctime", "false"]);
    let worktree = sandbox.worktree("T1").await;
    let file = worktree.path().join("a.txt");
    let index = std::path::PathBuf::from(git(worktree.path(), &["rev-parse", "--git-path", "index"]));
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    let date = |path: &Path| {
        let opened = std::fs::File::options().write(true).open(path).expect("a file");
        opened.set_modified(time).expect("a time");
    };
    date(&file);
    git(worktree.path(), &["update-index", "--refresh"]);
    // As long as before, at the very time at which the index was written.
    write(worktree.path(), "a.txt", "ONE\ntwo\nthree\n");
    date(&file);
    date(&index);
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    assert_eq!(sandbox.shown(&checkpoint.commit, "a.txt"), "ONE\ntwo\nthree");
}

#[tokio::test]
async fn overlooked_changes_are_not_replaced() {
    let sandbox = Sandbox::new().await;
    let mut worktree = sandbox.worktree("T1").await;
    git(worktree.path(), &["update-index", "--assume-unchanged", "a.txt"]);
    write(worktree.path(), "a.txt", "hidden\n");
    let target = sandbox.ticket("T2", &sandbox.head(), &[("b.txt", Some("b\n"))]).head;
    let error = sandbox.worktrees.bring_onto(&mut worktree, &target).await;
    assert!(matches!(error, Err(Error::WorktreeDirty { .. })), "{error:?}");
    assert_eq!(read(worktree.path(), "a.txt"), "hidden\n");
    let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
    assert_eq!(sandbox.shown(&head, "a.txt"), "hidden");
}

#[tokio::test]
async fn another_clone_goes_on_from_a_checkpoint() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "done.txt", "committed\n");
    commit_all(worktree.path(), "A first step");
    work(worktree.path());
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");

    let clone = sandbox.dir.path().join("clone");
    let (from, to) = (sandbox.top.to_str().expect("text"), clone.to_str().expect("text"));
    git(sandbox.dir.path(), &["clone", "--quiet", from, to]);
    git(&clone, &["fetch", "--quiet", "origin", "+refs/masque/*:refs/masque/*"]);
    let before = Untouched::at(&clone);
    let other = open(&clone.canonicalize().expect("a clone"), &sandbox.dir.path().join("home2")).await;
    let there = other.create(&track(), &Label::of("T1"), &sandbox.head()).await.expect("a worktree");
    assert_eq!(there.opened(), Opened::Recreated);
    assert_eq!(other.last_checkpoint(&there).await.expect("a look"), Some(checkpoint.commit.clone()));
    other.restore(&there, &checkpoint.commit).await.expect("restored");
    assert_eq!(files(there.path()), files(worktree.path()));
    assert_eq!(there.head().await.expect("a head"), Some(checkpoint.head.clone()));
    assert_eq!(git(there.path(), &["symbolic-ref", "HEAD"]), worktree.branch());
    assert!(!there.path().join("ignored").exists());
    // Once more is harmless, also after the process started anew.
    other.restore(&there, &checkpoint.commit).await.expect("restored");
    let reopened = other.create(&track(), &Label::of("T1"), &sandbox.head()).await.expect("a worktree");
    assert_eq!(reopened.opened(), Opened::Reopened);
    assert_eq!(files(there.path()), files(worktree.path()));
    before.holds();
}

#[tokio::test]
async fn a_checkpoint_never_replaces_other_work() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "new.txt", "first\n");
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint").commit;
    write(worktree.path(), "new.txt", "second\n");
    let error = sandbox.worktrees.restore(&worktree, &checkpoint).await;
    assert!(matches!(error, Err(Error::WorktreeDirty { .. })), "{error:?}");
    assert_eq!(read(worktree.path(), "new.txt"), "second\n");

    // The branch went on elsewhere: both are merged.
    std::fs::remove_file(worktree.path().join("new.txt")).expect("a file");
    write(worktree.path(), "a.txt", "ONE\ntwo\nthree\n");
    let head = commit_all(worktree.path(), "Went on");
    sandbox.worktrees.restore(&worktree, &checkpoint).await.expect("restored");
    assert_eq!(read(worktree.path(), "new.txt"), "first\n");
    assert_eq!(read(worktree.path(), "a.txt"), "ONE\ntwo\nthree\n");
    assert_eq!(worktree.head().await.expect("a head"), Some(head));
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "?? new.txt");
}

#[tokio::test]
async fn what_a_checkpoint_cannot_hold_is_named() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    crate::sandbox::start(&worktree.path().join("nested"));
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    assert_eq!(checkpoint.skipped, ["nested/"]);
    assert_eq!(sandbox.git(&["diff", "HEAD", checkpoint.commit.as_str()]), "");
}

#[tokio::test]
async fn a_deleted_worktree_comes_back_with_its_checkpoint() {
    let sandbox = Sandbox::new().await;
    let worktree: Worktree = sandbox.worktree("T1").await;
    work(worktree.path());
    let expected = files(worktree.path());
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    std::fs::remove_dir_all(worktree.path()).expect("it was there");
    // The first process that opens it is killed before it restores anything.
    sandbox.worktree("T1").await;
    let again = sandbox.worktree("T1").await;
    assert_eq!(again.opened(), Opened::Recreated);
    sandbox.worktrees.restore(&again, &checkpoint.commit).await.expect("restored");
    assert_eq!(files(again.path()), expected);
    assert_eq!(sandbox.worktree("T1").await.opened(), Opened::Reopened);
}
