//! Submodules and sparse checkouts, as the user's checkout has them.

use std::path::Path;

use worktrees::{Error, KeptReason, RemovalAction, TestsFrom};

use crate::sandbox::{Sandbox, check, commit_all, git, ignore, read, start, track, write};
use crate::untouched::Untouched;

/// A repository with a submodule whose origin is gone.
async fn with_submodule() -> Sandbox {
    let sandbox = Sandbox::new().await;
    let origin = sandbox.dir.path().join("origin");
    start(&origin);
    sandbox.git(&["submodule", "--quiet", "add", origin.to_str().expect("text"), "libs/sub"]);
    sandbox.commit_all("A submodule");
    std::fs::remove_dir_all(&origin).expect("it was there");
    sandbox
}

async fn removed(sandbox: &Sandbox) -> RemovalAction {
    let removal = sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a removal");
    removal.expect("a worktree").action
}

#[tokio::test]
async fn submodules_come_from_the_users_clones() {
    let sandbox = with_submodule().await;
    let before = Untouched::at(&sandbox.top);
    let worktree = sandbox.worktree("T1").await;
    let inner = worktree.path().join("libs/sub");
    assert_eq!(read(&inner, "a.txt"), "one\ntwo\nthree\n");
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    let origin = sandbox.dir.path().join("origin");
    assert_eq!(Path::new(&git(&inner, &["remote", "get-url", "origin"])), origin);
    let ticket = sandbox.ticket("T2", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    let check = check("test -f libs/sub/a.txt");
    let verified = sandbox.worktrees.verify(&track(), &ticket, &check, TestsFrom::Head, &ignore).await;
    assert!(verified.expect("it ran").passed());
    assert_eq!(removed(&sandbox).await, RemovalAction::Removed);
    before.holds();
}

#[tokio::test]
async fn work_in_a_submodule_keeps_the_worktree() {
    let sandbox = with_submodule().await;
    let kept = RemovalAction::Kept { reason: KeptReason::Submodules };
    let worktree = sandbox.worktree("T1").await;
    let inner = worktree.path().join("libs/sub");
    write(&inner, "draft.txt", "draft\n");
    assert_eq!(removed(&sandbox).await, kept);
    commit_all(&inner, "In the submodule");
    assert_eq!(removed(&sandbox).await, kept);
    // Committed above as well, but the commit of the submodule is nowhere else.
    commit_all(worktree.path(), "The submodule moves");
    assert_eq!(removed(&sandbox).await, kept);
    assert_eq!(read(&inner, "draft.txt"), "draft\n");
}

#[tokio::test]
async fn a_repository_in_a_worktree_is_not_thrown_away() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    start(&worktree.path().join("nested"));
    let unstorable = KeptReason::Unstorable { paths: vec!["nested/".to_owned()] };
    assert_eq!(removed(&sandbox).await, RemovalAction::Kept { reason: unstorable });
    // Committed, git keeps the name of its commit and nothing of its content.
    commit_all(worktree.path(), "With a repository in it");
    assert_eq!(removed(&sandbox).await, RemovalAction::Kept { reason: KeptReason::Submodules });
    assert_eq!(read(worktree.path(), "nested/a.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_repository_among_ignored_files_is_kept_for_its_own_work_only() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let (top, clone) = (sandbox.top.to_str().expect("text"), worktree.path().join("ignored/deep/clone"));
    git(sandbox.dir.path(), &["clone", "--quiet", top, clone.to_str().expect("text")]);
    // Packages have files of this name that lead nowhere.
    write(worktree.path(), "ignored/package/.git", "gitdir: ../../nowhere\n");
    let kept = RemovalAction::Kept { reason: KeptReason::Submodules };
    write(&clone, "draft.txt", "draft\n");
    assert_eq!(removed(&sandbox).await, kept);
    commit_all(&clone, "A commit that no remote has");
    assert_eq!(removed(&sandbox).await, kept);
    // On no branch any more, but in its log.
    git(&clone, &["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(removed(&sandbox).await, kept);
    git(&clone, &["reflog", "expire", "--expire=now", "--all"]);
    git(&clone, &["update-index", "--assume-unchanged", "a.txt"]);
    assert_eq!(removed(&sandbox).await, kept);
    git(&clone, &["update-index", "--no-assume-unchanged", "a.txt"]);
    assert_eq!(removed(&sandbox).await, RemovalAction::Removed);
}

#[tokio::test]
async fn work_in_a_submodule_outlives_its_directory() {
    let sandbox = with_submodule().await;
    let worktree = sandbox.worktree("T1").await;
    commit_all(&worktree.path().join("libs/sub"), "In the submodule");
    git(worktree.path(), &["rm", "--quiet", "-r", "--force", "libs/sub"]);
    commit_all(worktree.path(), "Without the submodule");
    let kept = RemovalAction::Kept { reason: KeptReason::Submodules };
    assert_eq!(removed(&sandbox).await, kept);
    // The repository of the submodule goes with the worktree, not with its directory.
    std::fs::remove_dir_all(worktree.path()).expect("it was there");
    assert_eq!(removed(&sandbox).await, kept);
    let again = sandbox.worktrees.create(&track(), worktree.ticket(), &sandbox.head()).await;
    assert!(matches!(again, Err(Error::WorktreeUnsound { .. })), "{again:?}");
}

#[tokio::test]
async fn a_submodule_that_the_user_did_not_initialise_stays_empty() {
    let sandbox = with_submodule().await;
    sandbox.git(&["submodule", "--quiet", "deinit", "--all", "--force"]);
    let before = Untouched::at(&sandbox.top);
    let worktree = sandbox.worktree("T1").await;
    assert_eq!(std::fs::read_dir(worktree.path().join("libs/sub")).expect("a directory").count(), 0);
    assert_eq!(removed(&sandbox).await, RemovalAction::Removed);
    before.holds();
}

#[tokio::test]
async fn a_sparse_checkout_is_inherited_and_nothing_outside_of_it_is_lost() {
    let sandbox = Sandbox::new().await;
    sandbox.write("src/main.txt", "main\n");
    sandbox.commit_all("Sources");
    sandbox.git(&["sparse-checkout", "set", "src"]);
    let before = Untouched::at(&sandbox.top);
    let base = sandbox.head();
    let worktree = sandbox.worktree("T1").await;
    assert!(worktree.path().join("src/main.txt").exists());
    assert!(!worktree.path().join("docs/guide.txt").exists());

    // Nothing changed: the files that are not checked out are not deleted.
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    assert_eq!(sandbox.git(&["diff", base.as_str(), checkpoint.commit.as_str()]), "");
    // A worker writes where the patterns do not reach: a file that is known, and a new one.
    write(worktree.path(), "docs/guide.txt", "A better guide.\n");
    write(worktree.path(), "docs/new.txt", "new\n");
    write(worktree.path(), "src/main.txt", "better\n");
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    let changed = sandbox.git(&["diff", "--name-only", base.as_str(), checkpoint.commit.as_str()]);
    assert_eq!(changed, "docs/guide.txt\ndocs/new.txt\nsrc/main.txt");
    let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
    assert_eq!(sandbox.shown(&head, "docs/guide.txt"), "A better guide.");
    assert_eq!(sandbox.shown(&head, "docs/new.txt"), "new");
    let facts = sandbox.worktrees.inspect(&base, &head, Some(worktree.tree())).await.expect("facts");
    assert_eq!((facts.uncommitted.len(), facts.changes.len()), (0, 3), "{facts:?}");
    before.holds();
}
