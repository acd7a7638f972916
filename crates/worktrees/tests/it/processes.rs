//! What commands leave running.

use std::path::Path;

use tokio::sync::Notify;
use worktrees::{Beat, Setup};

use crate::sandbox::{Sandbox, check, command, ignore, read, track};

/// The living processes that have a worktree's path in their environment.
pub(crate) fn living(path: &Path) -> usize {
    let mark = format!("MASQUE_WORKTREE={}", path.display());
    let entries = std::fs::read_dir("/proc").expect("Linux").flatten();
    let is_marked = |entry: &std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes())
    };
    entries.filter(is_marked).count()
}

/// Starts processes in groups and sessions of their own, then hangs.
const HANGS: &str = "sleep 1000 & setsid sleep 1000 & (trap '' TERM INT HUP; sleep 1000) & sleep 1000";

#[tokio::test]
async fn a_command_over_its_limit_ends_with_everything_that_it_started() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let mut hangs = command(HANGS);
    hangs.time = std::time::Duration::from_millis(700);
    let setup = Setup { command: Some(hangs.clone()), ..Setup::default() };
    let outcome = sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran");
    assert!(!outcome.passed());
    assert_eq!(outcome.command.expect("an outcome").exit, worktrees::Exit::TimedOut);
    assert_eq!(living(worktree.path()), 0);

    let ticket = sandbox.ticket("T2", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    let check = worktrees::Check { command: hangs, ..check("true") };
    let verified = sandbox
        .worktrees
        .verify(&track(), &ticket, &check, worktrees::TestsFrom::Head, &ignore)
        .await
        .expect("it ran");
    assert!(!verified.passed());
    assert_eq!(verified.outcome.expect("an outcome").exit, worktrees::Exit::TimedOut);
    let checkouts = std::fs::read_dir(sandbox.home()).expect("a home").flatten();
    for repository in checkouts {
        assert_eq!(living(&repository.path().join("checkouts/track/T2")), 0);
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_killed_and_reported() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let line = "sleep 1000 & setsid sleep 1000 & echo started";
    let setup = Setup { command: Some(command(line)), ..Setup::default() };
    let outcome = sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran");
    let outcome = outcome.command.expect("an outcome");
    assert_eq!((outcome.exit, outcome.left_running), (worktrees::Exit::Code(0), true));
    assert_eq!(outcome.tail, "started\n");
    assert_eq!(living(worktree.path()), 0);
}

#[tokio::test]
async fn a_chatty_process_that_is_left_behind_does_not_hide_the_end_of_the_command() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let setup = Setup { command: Some(command("yes & yes & yes & exit 3")), ..Setup::default() };
    let outcome = sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran");
    let outcome = outcome.command.expect("an outcome");
    assert_eq!((outcome.exit, outcome.left_running), (worktrees::Exit::Code(3), true));
    assert_eq!(living(worktree.path()), 0);
}

#[tokio::test]
async fn a_caller_that_gives_up_takes_the_command_with_it() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let started = Notify::new();
    let setup = Setup { command: Some(command(HANGS)), ..Setup::default() };
    let beat = |beat: Beat| {
        assert!(beat.processes > 0);
        started.notify_one();
    };
    tokio::select! {
        outcome = sandbox.worktrees.setup(&worktree, &setup, &beat) => panic!("{outcome:?}"),
        () = started.notified() => {}
    }
    assert_eq!(living(worktree.path()), 0);
    // The lock is free again.
    let setup = Setup { command: Some(command("true")), ..Setup::default() };
    assert!(sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran").passed());
}

#[tokio::test]
async fn a_removed_worktree_leaves_no_process() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    // A worker's tool started it, and its worker died.
    let mut server = std::process::Command::new("sleep")
        .arg("1000")
        .current_dir(worktree.path())
        .env("MASQUE_WORKTREE", worktree.path())
        .spawn()
        .expect("a process");
    let removal = sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a removal");
    let ended = server.wait().expect("an end");
    assert_eq!(removal.expect("a worktree").action, worktrees::RemovalAction::Removed);
    assert!(!ended.success());
    assert!(!worktree.path().exists());
}

#[tokio::test]
async fn a_command_sees_its_worktree_and_no_secret() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let mut shows = command(
        "git rev-parse --show-toplevel > seen; pwd >> seen; echo \"[$HOME] [$KEY] [$OTHER]\" >> seen; \
         git config core.hooksPath >> seen; git config rerere.enabled >> seen",
    );
    shows.variables.withheld = vec!["HOME".to_owned(), "KEY".to_owned()];
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    shows.variables.added = vec![pair("KEY", "secret"), pair("OTHER", "plain")];
    let setup = Setup { command: Some(shows), ..Setup::default() };
    let outcome = sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran");
    assert!(outcome.passed(), "{outcome:?}");
    let path = worktree.path().display();
    assert_eq!(read(worktree.path(), "seen"), format!("{path}\n{path}\n[] [] [plain]\n/dev/null\ntrue\n"));
}
