//! A track comes to the user's branch by a fast-forward, or not at all.

use worktrees::{CommitId, Finished, Obstacle};

use crate::sandbox::{Sandbox, commit_all, git, ignore, read, run, track, write};
use crate::untouched::Untouched;

/// A repository with a track that has one ticket.
async fn with_track() -> (Sandbox, CommitId) {
    let sandbox = Sandbox::new().await;
    let into = sandbox.integration().await;
    let files = [("a.txt", Some("one\ntwo\nthree\nfour\n")), ("new.txt", Some("new\n"))];
    let ticket = sandbox.ticket("T1", &sandbox.head(), &files);
    sandbox.worktrees.integrate(&into, &ticket, None, &ignore).await.expect("an end");
    let to = sandbox.target().await;
    (sandbox, to)
}

async fn finish(sandbox: &Sandbox, branch: &str) -> Finished {
    sandbox.worktrees.finish(&track(), branch).await.expect("an end")
}

#[track_caller]
fn obstacle(finished: Finished) -> (Obstacle, Vec<String>) {
    match finished {
        Finished::Left { obstacle, command, .. } => (obstacle, command),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_clean_checkout_is_brought_forward_once() {
    let (sandbox, to) = with_track().await;
    let from = sandbox.head();
    sandbox.write("notes.txt", "untracked, and not in the way\n");
    // Hostile settings do not change what happens.
    for (name, value) in [
        ("merge.ff", "false"),
        ("branch.main.mergeOptions", "--no-ff --squash --no-commit --autostash"),
        ("merge.autoStash", "true"),
        ("commit.gpgSign", "true"),
        ("gpg.program", "/bin/false"),
    ] {
        sandbox.git(&["config", name, value]);
    }
    let checkout = sandbox.top.clone();
    assert_eq!(finish(&sandbox, "main").await, Finished::Forwarded { checkout, from, to: to.clone() });
    assert_eq!(sandbox.head(), to);
    assert_eq!(
        (read(&sandbox.top, "new.txt"), sandbox.git(&["status", "--porcelain"])),
        ("new\n".into(), "?? notes.txt".into())
    );
    assert_eq!(finish(&sandbox, "refs/heads/main").await, Finished::Already { commit: to });
}

#[tokio::test]
async fn a_branch_that_is_checked_out_nowhere_is_moved() {
    let (sandbox, to) = with_track().await;
    let from = sandbox.head();
    sandbox.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    // Only the branch and its log are written.
    let before = Untouched::except(&sandbox.top, &["refs/heads/main", "logs/refs/heads/main"]);
    assert_eq!(finish(&sandbox, "main").await, Finished::Moved { from, to: to.clone() });
    assert_eq!(sandbox.commit("main"), to);
    before.holds();
    let (obstacle, command) = obstacle(finish(&sandbox, "no-such-branch").await);
    assert_eq!(obstacle, Obstacle::NoBranch);
    assert_eq!(command, ["git", "branch", "no-such-branch", "masque/track/integration"]);
    assert!(!sandbox.has_ref("refs/heads/no-such-branch"));
}

#[tokio::test]
async fn a_branch_that_went_on_is_left() {
    let (sandbox, _) = with_track().await;
    sandbox.write("b.txt", "b\n");
    sandbox.commit_all("The user went on");
    let before = Untouched::at(&sandbox.top);
    let (obstacle, command) = obstacle(finish(&sandbox, "main").await);
    assert_eq!(obstacle, Obstacle::Diverged { commits: 1 });
    assert_eq!(command, ["git", "merge", "masque/track/integration"]);
    before.holds();
}

#[tokio::test]
async fn a_checkout_with_changes_is_left() {
    let (sandbox, _) = with_track().await;
    let left = async |sandbox: &Sandbox| {
        let before = Untouched::at(&sandbox.top);
        let (obstacle, command) = obstacle(finish(sandbox, "main").await);
        assert_eq!(command, ["git", "merge", "--ff-only", "masque/track/integration"]);
        before.holds();
        obstacle
    };
    // Changed, in a file that the track does not touch.
    sandbox.write("docs/guide.txt", "Better.\n");
    let Obstacle::Uncommitted { paths, .. } = left(&sandbox).await else { panic!("uncommitted") };
    assert_eq!(paths, ["docs/guide.txt"]);
    sandbox.git(&["add", "docs/guide.txt"]);
    assert!(matches!(left(&sandbox).await, Obstacle::Uncommitted { .. }));
    sandbox.git(&["reset", "--quiet", "--hard"]);
    // Untracked, and in the way.
    sandbox.write("new.txt", "of the user\n");
    assert!(matches!(left(&sandbox).await, Obstacle::Refused { .. }));
    // Ignored, and in the way.
    sandbox.write(".git/info/exclude", "new.txt\n");
    assert!(matches!(left(&sandbox).await, Obstacle::Refused { .. }));
    assert_eq!(read(&sandbox.top, "new.txt"), "of the user\n");
    // A stash is nobody else's.
    std::fs::remove_file(sandbox.top.join("new.txt")).expect("a file");
    sandbox.write("a.txt", "stashed\n");
    sandbox.git(&["stash", "--quiet"]);
    let stash = sandbox.commit("refs/stash");
    assert!(matches!(finish(&sandbox, "main").await, Finished::Forwarded { .. }));
    assert_eq!((sandbox.commit("refs/stash"), sandbox.git(&["stash", "list"]).lines().count()), (stash, 1));
}

#[tokio::test]
async fn a_rebase_or_a_merge_of_the_user_is_not_disturbed() {
    let (sandbox, _) = with_track().await;
    let base = sandbox.head();
    sandbox.git(&["checkout", "--quiet", "-b", "upstream"]);
    sandbox.write("docs/guide.txt", "Theirs.\n");
    sandbox.commit_all("Theirs");
    // Rebasing `main`, with its head detached.
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["commit", "--quiet", "--allow-empty", "-m", "Mine"]);
    let rebase = run(&sandbox.top, &["rebase", "--quiet", "--exec", "exit 1", "upstream"], b"");
    assert!(!rebase.status.success());
    git(&sandbox.top, &["update-ref", "refs/heads/main", base.as_str()]);
    let before = Untouched::at(&sandbox.top);
    let (obstacle_now, _) = obstacle(finish(&sandbox, "main").await);
    assert_eq!(obstacle_now, Obstacle::Busy { checkout: sandbox.top.clone() });
    before.holds();
    sandbox.git(&["rebase", "--quit"]);
    sandbox.git(&["checkout", "--quiet", "--force", "main"]);
    // A merge that waits for its commit, without a change so far.
    sandbox.git(&["merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", "upstream"]);
    let before = Untouched::at(&sandbox.top);
    let (obstacle, _) = obstacle(finish(&sandbox, "main").await);
    assert_eq!(obstacle, Obstacle::Busy { checkout: sandbox.top.clone() });
    before.holds();
}

#[tokio::test]
async fn a_linked_worktree_of_the_user_is_brought_forward_like_any_other() {
    let (sandbox, to) = with_track().await;
    let linked = sandbox.dir.path().canonicalize().expect("a directory").join("linked");
    sandbox.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    sandbox.git(&["worktree", "add", "--quiet", linked.to_str().expect("text"), "main"]);
    let before = Untouched::except(&sandbox.top, &["refs/heads/main", "logs/refs/heads/main"]);
    write(&linked, "a.txt", "changed\n");
    let (obstacle, _) = obstacle(finish(&sandbox, "main").await);
    assert!(matches!(obstacle, Obstacle::Uncommitted { checkout, .. } if checkout == linked));
    git(&linked, &["checkout", "--quiet", "--", "a.txt"]);
    let finished = finish(&sandbox, "main").await;
    assert!(matches!(&finished, Finished::Forwarded { checkout, .. } if *checkout == linked), "{finished:?}");
    assert_eq!(read(&linked, "new.txt"), "new\n");
    assert_eq!(crate::sandbox::commit(&linked, "HEAD"), to);
    before.holds();
}

#[tokio::test]
async fn a_track_without_tickets_has_nothing_to_bring() {
    let sandbox = Sandbox::new().await;
    let error = sandbox.worktrees.finish(&track(), "main").await;
    assert!(matches!(error, Err(worktrees::Error::UnknownCommit { .. })), "{error:?}");
    sandbox.integration().await;
    let commit = sandbox.head();
    assert_eq!(finish(&sandbox, "main").await, Finished::Already { commit });
    commit_all(&sandbox.top, "The user went on");
    let commit = sandbox.head();
    assert_eq!(finish(&sandbox, "main").await, Finished::Already { commit });
}
