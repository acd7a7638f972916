//! One ticket after the other comes into the integration branch, and each tree is checked before it counts.

use worktrees::{CommitId, Error, Integrated, Integration, Label, Onto, Ticket};

use crate::sandbox::{Sandbox, check, git, ignore, read, track, write};
use crate::untouched::Untouched;

async fn integrate(sandbox: &Sandbox, into: &Integration, ticket: &Ticket, line: Option<&str>) -> Integrated {
    let check = line.map(check);
    sandbox.worktrees.integrate(into, ticket, check.as_ref(), &ignore).await.expect("an end")
}

fn merged(end: &Integrated) -> &CommitId {
    match end {
        Integrated::Merged { commit, .. } => commit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn tickets_come_in_one_commit_each() {
    let sandbox = Sandbox::new().await;
    let base = sandbox.head();
    let before = Untouched::at(&sandbox.top);
    let into = sandbox.integration().await;
    assert_eq!((into.branch().as_str(), into.base()), ("refs/heads/masque/track/integration", &base));
    let one = sandbox.ticket("T1", &base, &[("b.txt", Some("b\n"))]);
    let two = sandbox.ticket("T2", &base, &[("c.txt", Some("c\n"))]);
    let more = sandbox.ticket("T2", &two.head, &[("d.txt", Some("d\n"))]);
    let two = Ticket { base: base.clone(), ..more };

    let end = integrate(&sandbox, &into, &one, Some("test -f b.txt")).await;
    assert_eq!(merged(&end), &one.head, "nothing to replay");
    let end = integrate(&sandbox, &into, &two, Some("test -f b.txt && test -f c.txt && test -f d.txt")).await;
    let commit = merged(&end).clone();
    assert_eq!(sandbox.target().await, commit);
    assert_eq!(sandbox.commit(&format!("{commit}^")), one.head);
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%an <%ae> %at|%cn|%B", commit.as_str()]),
        "Worker <worker@x> 1700000000|Masque|T2: Work on T2\n\n- Work on T2\n- Work on T2"
    );
    let files = sandbox.git(&["ls-tree", "--name-only", commit.as_str()]);
    assert_eq!(files, ".gitignore\na.txt\nb.txt\nc.txt\nd.txt\ndocs");
    // Again, by another process: nothing is brought in twice.
    let end = sandbox.again().await.integrate(&into, &two, None, &ignore).await.expect("an end");
    assert_eq!(end, Integrated::Merged { commit: commit.clone(), already: true, verified: None });
    assert_eq!(sandbox.git(&["rev-list", "--count", &format!("{base}..{}", into.branch())]), "2");
    // The same change by another ticket.
    let same = sandbox.ticket("T3", &base, &[("b.txt", Some("b\n"))]);
    let end = integrate(&sandbox, &into, &same, None).await;
    assert_eq!(end, Integrated::Unchanged { target: commit });
    before.holds();
}

#[tokio::test]
async fn two_green_branches_that_are_red_together_are_stopped() {
    let sandbox = Sandbox::new().await;
    // Every call has to name a function that is defined.
    let line = "for call in $(cat calls/*); do grep -qx \"$call\" defined.txt || exit 1; done";
    let files = [("defined.txt", Some("old_name\n")), ("calls/a", Some("old_name\n"))];
    let base = sandbox.ticket("base", &sandbox.head(), &files).head;
    let into = sandbox.worktrees.integration(&track(), &base).await.expect("a branch");
    let renames = [("defined.txt", Some("new_name\n")), ("calls/a", Some("new_name\n"))];
    let renames = sandbox.ticket("rename", &base, &renames);
    let adds = sandbox.ticket("add", &base, &[("calls/b", Some("old_name\n"))]);
    let tests = worktrees::TestsFrom::Head;
    for ticket in [&renames, &adds] {
        let verified = sandbox.worktrees.verify(&track(), ticket, &check(line), tests, &ignore).await;
        assert!(verified.expect("it ran").passed());
    }
    let first = merged(&integrate(&sandbox, &into, &renames, Some(line)).await).clone();
    let end = integrate(&sandbox, &into, &adds, Some(line)).await;
    let Integrated::RedTogether { target, verified, with } = end else { panic!("{end:?}") };
    assert_eq!((target, with), (first.clone(), vec![Label::of("rename")]));
    assert!(!verified.passed());
    assert_eq!(sandbox.commit(&into.branch()), first);
    assert!(!sandbox.has_ref("refs/masque/merged/track/add"));
    // Mended on top, it comes in.
    let mended = sandbox.ticket("add", &first, &[("calls/b", Some("new_name\n"))]);
    merged(&integrate(&sandbox, &into, &mended, Some(line)).await);
}

#[tokio::test]
async fn exactly_the_tree_that_comes_in_is_checked() {
    let sandbox = Sandbox::new().await;
    let base = sandbox.head();
    let into = sandbox.integration().await;
    integrate(&sandbox, &into, &sandbox.ticket("T1", &base, &[("b.txt", Some("b\n"))]), None).await;
    let seen = sandbox.dir.path().join("seen");
    let line =
        format!("git rev-parse HEAD HEAD^{{tree}} > '{0}'; git status --porcelain >> '{0}'", seen.display());
    let two = sandbox.ticket("T2", &base, &[("c.txt", Some("c\n"))]);
    let end = integrate(&sandbox, &into, &two, Some(&line)).await;
    let Integrated::Merged { commit, verified: Some(verified), .. } = &end else { panic!("{end:?}") };
    assert_eq!(std::fs::read_to_string(&seen).expect("it ran"), format!("{commit}\n{}\n", verified.tree));
    // The next one has nothing of what this check leaves, but files that git ignores.
    let line = "test ! -e left && test -e ignored/cache || test -e first; touch left; mkdir -p ignored; \
                touch ignored/cache";
    let first = sandbox.ticket("T3", &base, &[("first", Some("x\n"))]);
    merged(&integrate(&sandbox, &into, &first, Some(&format!("{line}; rm a.txt"))).await);
    let next = sandbox.ticket("T4", &base, &[("e.txt", Some("e\n"))]);
    let line = "test ! -e left && test -e ignored/cache && test -e a.txt";
    merged(&integrate(&sandbox, &into, &next, Some(line)).await);
}

#[tokio::test]
async fn the_targets_definition_of_a_check_counts() {
    let sandbox = Sandbox::new().await;
    let files = [("check.sh", Some("grep -q good state.txt\n")), ("state.txt", Some("good\n"))];
    let base = sandbox.ticket("base", &sandbox.head(), &files).head;
    let into = sandbox.worktrees.integration(&track(), &base).await.expect("a branch");
    let files = [("check.sh", Some("true\n")), ("state.txt", Some("bad\n"))];
    let ticket = sandbox.ticket("T1", &base, &files);
    let check = worktrees::Check { files: vec!["check.sh".to_owned()], ..check("sh check.sh") };
    let end = sandbox.worktrees.integrate(&into, &ticket, Some(&check), &ignore).await.expect("an end");
    let Integrated::RedTogether { verified, .. } = end else { panic!("{end:?}") };
    assert_eq!(verified.restored, ["check.sh"]);
    assert_eq!(sandbox.target().await, base);
}

#[tokio::test]
async fn a_branch_that_moved_during_the_check_is_merged_with() {
    let sandbox = Sandbox::new().await;
    let base = sandbox.head();
    let into = sandbox.integration().await;
    let other = sandbox.ticket("other", &base, &[("other.txt", Some("o\n"))]).head;
    let once = sandbox.dir.path().join("once");
    let line = format!(
        "test -e '{0}' && exec test -f other.txt; touch '{0}'; git update-ref {1} {other} {base}",
        once.display(),
        into.branch()
    );
    let ticket = sandbox.ticket("T1", &base, &[("b.txt", Some("b\n"))]);
    let end = integrate(&sandbox, &into, &ticket, Some(&line)).await;
    let commit = merged(&end).clone();
    assert_eq!(sandbox.commit(&format!("{commit}^")), other);
    let files = sandbox.git(&["ls-tree", "--name-only", commit.as_str()]);
    assert_eq!(files, ".gitignore\na.txt\nb.txt\ndocs\nother.txt");
}

#[tokio::test]
async fn a_branch_that_the_user_checked_out_is_not_moved() {
    let sandbox = Sandbox::new().await;
    let into = sandbox.integration().await;
    let ticket = sandbox.ticket("T1", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    sandbox.git(&["checkout", "--quiet", "masque/track/integration"]);
    let (before, target) = (Untouched::at(&sandbox.top), sandbox.target().await);
    let end = sandbox.worktrees.integrate(&into, &ticket, None, &ignore).await;
    assert!(matches!(end, Err(Error::BranchCheckedOut { .. })), "{end:?}");
    assert_eq!(sandbox.target().await, target);
    before.holds();
    sandbox.git(&["checkout", "--quiet", "main"]);
    merged(&integrate(&sandbox, &into, &ticket, None).await);
}

#[tokio::test]
async fn a_killed_check_moves_nothing_and_is_repeated() {
    let sandbox = Sandbox::new().await;
    let into = sandbox.integration().await;
    let base = sandbox.head();
    let ticket = sandbox.ticket("T1", &base, &[("b.txt", Some("b\n"))]);
    let started = tokio::sync::Notify::new();
    let beat = |_| started.notify_one();
    let hangs = check("touch left; sleep 1000");
    tokio::select! {
        end = sandbox.worktrees.integrate(&into, &ticket, Some(&hangs), &beat) => panic!("{end:?}"),
        () = started.notified() => {}
    }
    assert_eq!(sandbox.target().await, base);
    merged(&integrate(&sandbox, &into, &ticket, Some("test ! -e left")).await);
    assert_eq!(sandbox.git(&["rev-list", "--count", &format!("{base}..{}", into.branch())]), "1");
}

#[tokio::test]
async fn a_worktree_follows_its_target() {
    let sandbox = Sandbox::new().await;
    let (into, base) = (sandbox.integration().await, sandbox.head());
    let mut worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "mine.txt", "mine\n");
    sandbox.worktrees.commit(&worktree, "Mine").await.expect("a commit");
    let other = sandbox.ticket("T2", &base, &[("b.txt", Some("b\n"))]);
    let target = merged(&integrate(&sandbox, &into, &other, None).await).clone();
    write(worktree.path(), "draft.txt", "draft\n");
    let error = sandbox.worktrees.bring_onto(&mut worktree, &target).await;
    assert!(matches!(error, Err(Error::WorktreeDirty { .. })), "{error:?}");
    std::fs::remove_file(worktree.path().join("draft.txt")).expect("a file");
    let moved = sandbox.worktrees.bring_onto(&mut worktree, &target).await.expect("an end");
    let Onto::Moved { base: now, head } = moved else { panic!("{moved:?}") };
    assert_eq!(
        (&now, worktree.base(), sandbox.commit(&format!("{head}^"))),
        (&target, &target, target.clone())
    );
    assert_eq!(
        (read(worktree.path(), "b.txt"), read(worktree.path(), "mine.txt")),
        ("b\n".into(), "mine\n".into())
    );
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    let base_now = sandbox.worktrees.base_of(&track(), worktree.ticket()).await.expect("a look");
    assert_eq!(base_now, Some(target.clone()));
    let again = sandbox.worktrees.bring_onto(&mut worktree, &target).await.expect("an end");
    assert_eq!(again, Onto::Moved { base: target.clone(), head });

    let clash = sandbox.ticket("T3", &target, &[("mine.txt", Some("theirs\n"))]);
    let target = merged(&integrate(&sandbox, &into, &clash, None).await).clone();
    let before = Untouched::at(worktree.path());
    let end = sandbox.worktrees.bring_onto(&mut worktree, &target).await.expect("an end");
    let Onto::Conflicted { preflight } = end else { panic!("{end:?}") };
    assert_eq!((preflight.conflicts[0].path.as_str(), preflight.with()), ("mine.txt", vec![Label::of("T3")]));
    before.holds();
}

#[tokio::test]
async fn an_empty_track_starts_anew_and_another_does_not() {
    let sandbox = Sandbox::new().await;
    let (mut into, base) = (sandbox.integration().await, sandbox.head());
    sandbox.write("mended.txt", "mended\n");
    let newer = sandbox.commit_all("Mended by a person");
    sandbox.worktrees.start_anew(&mut into, &newer).await.expect("an end");
    assert_eq!((into.base(), sandbox.target().await), (&newer, newer.clone()));
    sandbox.worktrees.start_anew(&mut into, &base).await.expect("an end");
    assert_eq!(sandbox.target().await, newer);
    let ticket = sandbox.ticket("T1", &newer, &[("b.txt", Some("b\n"))]);
    let commit = merged(&integrate(&sandbox, &into, &ticket, None).await).clone();
    sandbox.write("later.txt", "later\n");
    let later = sandbox.commit_all("Later");
    sandbox.worktrees.start_anew(&mut into, &later).await.expect("an end");
    assert_eq!(sandbox.target().await, commit);
}
