//! The life of a ticket from its worktree to the user's branch, in any repository.

use worktrees::{Finished, Integrated, Label, RemovalAction, Setup, TestsFrom, Ticket, TicketStanding};

use crate::sandbox::{Sandbox, check, command, git, ignore, read, track, write};
use crate::untouched::Untouched;

/// Set by a test that runs this one again, in an environment of its own.
pub(crate) const AGAIN: &str = "MASQUE_TEST_ENVIRONMENT";

#[tokio::test]
async fn a_ticket_lives() {
    live(&Sandbox::new().await).await;
}

/// Everything from the first worktree to the removal. The user's checkout stays as it is until the end, and
/// is then brought forward.
pub(crate) async fn live(sandbox: &Sandbox) {
    let (base, branch) = (sandbox.head(), sandbox.git(&["symbolic-ref", "HEAD"]));
    sandbox.write("untracked.txt", "of the user\n");
    sandbox.write(".env", "KEY=1\n");
    let before = Untouched::at(&sandbox.top);
    let repository = sandbox.worktrees.repository();
    assert_eq!(repository.base().expect("a base"), &base);
    assert_eq!(repository.branch().expect("a branch"), branch);

    let worktree = sandbox.worktree("T1").await;
    let line = "test -f .env && test -f a.txt && git rev-parse --verify HEAD";
    let setup = Setup { copy: vec![".env".into()], command: Some(command(line)), ports: 1 };
    let ready = sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("a setup");
    assert!(ready.passed(), "{ready:?}");
    write(worktree.path(), "work.txt", "work\n");
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    assert_eq!(sandbox.shown(&checkpoint.commit, "work.txt"), "work");
    let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
    let ticket = Ticket { label: worktree.ticket().clone(), base: base.clone(), head: head.clone() };
    let facts = sandbox.worktrees.inspect(&base, &head, Some(worktree.tree())).await.expect("facts");
    assert!(facts.is_clean() && facts.descends, "{facts:?}");
    assert_eq!(facts.paths().collect::<Vec<_>>(), ["work.txt"]);
    let check = check("test -f work.txt && test ! -e untracked.txt");
    let verified = sandbox.worktrees.verify(&track(), &ticket, &check, TestsFrom::Base, &ignore).await;
    assert!(verified.expect("it ran").passed());

    let into = sandbox.integration().await;
    let other = sandbox.ticket("T2", &base, &[("other.txt", Some("other\n"))]);
    for ticket in [&other, &ticket] {
        let check = (ticket.head == head).then_some(&check);
        let end = sandbox.worktrees.integrate(&into, ticket, check, &ignore).await.expect("an end");
        assert!(matches!(end, Integrated::Merged { .. }), "{end:?}");
    }
    before.holds();

    let finished = sandbox.worktrees.finish(&track(), &branch).await.expect("an end");
    let to = sandbox.target().await;
    assert_eq!(finished, Finished::Forwarded { checkout: sandbox.top.clone(), from: base, to: to.clone() });
    assert_eq!(sandbox.head(), to);
    assert_eq!(read(&sandbox.top, "untracked.txt"), "of the user\n");
    let integration = TicketStanding { ticket: Label::integration(), ..Sandbox::ended("T1") };
    let cleaned = sandbox.worktrees.clean(&[Sandbox::ended("T1"), integration], false).await;
    let removals = cleaned.expect("a look").removals;
    assert_eq!(removals.len(), 2);
    assert!(removals.iter().all(|it| it.action == RemovalAction::Removed), "{removals:?}");
    // Named, because the user's settings may say otherwise.
    let status = git(&sandbox.top, &["status", "--porcelain", "--untracked-files=all"]);
    assert_eq!(status, "?? untracked.txt");
}
