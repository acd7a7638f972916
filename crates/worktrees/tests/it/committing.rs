//! Whatever a worker leaves in its worktree becomes a commit of its branch.

use worktrees::Integrated;

use crate::sandbox::{Sandbox, commit, git, ignore, read, run, write};

#[tokio::test]
async fn everything_is_committed_on_the_tickets_branch() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let base = sandbox.head();
    assert_eq!(sandbox.worktrees.commit(&worktree, "Nothing").await.expect("a head"), base);
    write(worktree.path(), "new.txt", "new\n");
    std::fs::remove_file(worktree.path().join("a.txt")).expect("a file");
    sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
    assert_eq!(sandbox.commit(&worktree.branch()), head);
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%s|%an|%P", head.as_str()]),
        format!("Work|Masque|{base}")
    );
    assert_eq!(sandbox.git(&["ls-tree", "--name-only", head.as_str()]), ".gitignore\ndocs\nnew.txt");
    // The commit has what the checkpoint had.
    assert_eq!(sandbox.worktrees.last_checkpoint(&worktree).await.expect("a look"), None);
    assert_eq!(sandbox.worktrees.commit(&worktree, "Work").await.expect("a head"), head);
}

#[tokio::test]
async fn a_worker_that_left_its_branch_moves_no_other_one() {
    let sandbox = Sandbox::new().await;
    sandbox.git(&["branch", "side"]);
    let side = sandbox.commit("side");
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "first.txt", "1\n");
    let first = sandbox.worktrees.commit(&worktree, "First").await.expect("a commit");
    git(worktree.path(), &["checkout", "--quiet", "side"]);
    write(worktree.path(), "second.txt", "2\n");
    let second = sandbox.worktrees.commit(&worktree, "Second").await.expect("a commit");
    assert_eq!(sandbox.commit("side"), side);
    assert_eq!(sandbox.commit(&worktree.branch()), second);
    assert_eq!(git(worktree.path(), &["symbolic-ref", "HEAD"]), worktree.branch());
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    // What only the branch had is kept.
    let kept = sandbox.git(&["for-each-ref", "--format=%(objectname)", "refs/masque/archive/track/T1"]);
    assert_eq!(kept, first.as_str());
}

#[tokio::test]
async fn a_merge_that_was_not_committed_is_one_afterwards() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let integration = sandbox.integration().await;
    write(worktree.path(), "a.txt", "one\nmine\nthree\n");
    let base = sandbox.head();
    sandbox.worktrees.commit(&worktree, "Mine").await.expect("a commit");
    let other = sandbox.ticket("T2", &base, &[("a.txt", Some("one\ntheirs\nthree\n"))]);
    let merged = sandbox.worktrees.integrate(&integration, &other, None, &ignore).await.expect("an end");
    assert!(matches!(merged, Integrated::Merged { .. }));
    let target = sandbox.target().await;
    let conflict = run(worktree.path(), &["merge", "--quiet", target.as_str()], b"");
    assert!(!conflict.status.success());
    assert!(read(worktree.path(), "a.txt").contains("<<<<<<<"));
    write(worktree.path(), "a.txt", "one\nboth\nthree\n");

    let head = sandbox.worktrees.commit(&worktree, "Resolved").await.expect("a commit");
    assert_eq!(commit(&sandbox.top, &format!("{head}^2")), target);
    assert_eq!(sandbox.worktrees.commit(&worktree, "Resolved").await.expect("a head"), head);
    let ticket = worktrees::Ticket { label: worktree.ticket().clone(), base, head };
    let end = sandbox.worktrees.integrate(&integration, &ticket, None, &ignore).await.expect("an end");
    let Integrated::Merged { commit, .. } = end else { panic!("{end:?}") };
    assert_eq!(sandbox.shown(&commit, "a.txt"), "one\nboth\nthree");
    assert_eq!(sandbox.git(&["rev-list", "--count", &format!("{target}..{commit}")]), "1");
}

#[tokio::test]
async fn a_merge_with_a_conflict_left_is_none() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "a.txt", "mine\n");
    let mine = sandbox.worktrees.commit(&worktree, "Mine").await.expect("a commit");
    let other = sandbox.ticket("T2", &sandbox.head(), &[("a.txt", Some("theirs\n"))]).head;
    let merge = |strategy: &[&str]| {
        let args = [&["merge", "--quiet", "--no-commit"], strategy, &[other.as_str()]].concat();
        run(worktree.path(), &args, b"").status.success()
    };
    assert!(!merge(&[]));
    let head = sandbox.worktrees.commit(&worktree, "Given up").await.expect("a commit");
    assert_eq!(sandbox.git(&["rev-parse", &format!("{head}^@")]), mine.as_str());
    assert!(read(worktree.path(), "a.txt").contains("<<<<<<<"));
    // Resolved without a change of the files.
    assert!(merge(&["--strategy=ours"]));
    let merged = sandbox.worktrees.commit(&worktree, "Ours").await.expect("a commit");
    assert_eq!(sandbox.git(&["rev-parse", &format!("{merged}^@")]), format!("{head}\n{other}"));
}

#[tokio::test]
async fn conflicts_and_half_a_rebase_are_committed_as_they_are() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "a.txt", "mine\n");
    sandbox.worktrees.commit(&worktree, "Mine").await.expect("a commit");
    let other = sandbox.ticket("T2", &sandbox.head(), &[("a.txt", Some("theirs\n"))]);
    assert!(!run(worktree.path(), &["rebase", "--quiet", other.head.as_str()], b"").status.success());
    write(worktree.path(), "a.txt", "both\n");
    let head = sandbox.worktrees.commit(&worktree, "Given up").await.expect("a commit");
    assert_eq!(sandbox.shown(&head, "a.txt"), "both");
    assert_eq!(sandbox.commit(&worktree.branch()), head);
    assert_eq!(git(worktree.path(), &["symbolic-ref", "HEAD"]), worktree.branch());
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    assert!(!run(worktree.path(), &["rebase", "--show-current-patch"], b"").status.success());
}
