//! A process that dies at any call of git. Whoever comes after it reaches the same end.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use worktrees::{GitProgram, Integrated, Label, Onto, Repository, Ticket, Worktrees};

use crate::sandbox::{Sandbox, check, git, ignore, read, run, track, write};
use crate::untouched::Untouched;

/// When git dies, and every git after it with it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Death {
    Before,
    After,
}

/// A git that dies at a call.
struct Mortal {
    directory: PathBuf,
    worktrees: Worktrees,
}

impl Mortal {
    async fn new(sandbox: &Sandbox) -> Self {
        let directory = sandbox.dir.path().join("mortal");
        std::fs::create_dir(&directory).expect("a directory");
        let script = format!(
            "#!/bin/sh\ncd_={0}\nread n < $cd_/count; n=$((n + 1)); echo $n > $cd_/count; echo \" $* \" >> $cd_/calls\n\
             read at < $cd_/at\nif [ $n -lt $at ]; then exec git \"$@\"; fi\n\
             if [ $n -eq $at ] && [ -e $cd_/after ]; then git \"$@\" > /dev/null 2>&1; fi\nkill -9 $$\n",
            directory.display()
        );
        let path = directory.join("git");
        std::fs::write(&path, script).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        Self::dies(&directory, NEVER, Death::Before);
        let program = GitProgram::at(&path).await.expect("a git");
        let repository = Repository::open(&program, &sandbox.top).await.expect("a look").expect("one");
        let worktrees = Worktrees::open(repository, &sandbox.home()).expect("a place");
        Self { directory, worktrees }
    }

    fn dies(directory: &std::path::Path, at: usize, death: Death) {
        std::fs::write(directory.join("count"), "0\n").expect("a file");
        std::fs::write(directory.join("calls"), "").expect("a file");
        std::fs::write(directory.join("at"), format!("{at}\n")).expect("a file");
        match death {
            Death::After => std::fs::write(directory.join("after"), "").expect("a file"),
            Death::Before => drop(std::fs::remove_file(directory.join("after"))),
        }
    }

    fn at(&self, call: usize, death: Death) -> &Worktrees {
        Self::dies(&self.directory, call, death);
        &self.worktrees
    }

    /// Every death that leaves something else behind: before and after each call that changes something, and
    /// before the calls that follow one, because files may be written between. `life` says whether the call
    /// that it is handed was survived. Returns the number of calls.
    async fn each(&self, mut life: impl AsyncFnMut(usize, Death) -> bool) -> usize {
        assert!(life(NEVER, Death::Before).await, "nothing died");
        let calls = std::fs::read_to_string(self.directory.join("calls")).expect("calls");
        let is_reading = |line: &str| READING.iter().any(|name| line.contains(&format!(" {name} ")));
        let mut after_reading = false;
        let mut survived = false;
        for (call, line) in (1..).zip(calls.lines()) {
            let is_reading = is_reading(line);
            if !(is_reading && after_reading) {
                survived |= life(call, Death::Before).await;
            }
            if !is_reading {
                life(call, Death::After).await;
            }
            after_reading = is_reading;
        }
        assert!(!survived, "a call without git succeeded");
        calls.lines().count()
    }
}

/// A call that is never reached.
const NEVER: usize = usize::MAX >> 1;

/// Commands of git that change nothing, as they are used here.
const READING: &[&str] = &[
    "cat-file",
    "config",
    "diff-tree",
    "for-each-ref",
    "log",
    "ls-files",
    "merge-base",
    "rev-list",
    "rev-parse",
    "status",
    "worktree list",
];

fn clean(worktree: &worktrees::Worktree) {
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(git(worktree.path(), &["symbolic-ref", "HEAD"]), worktree.branch());
}

#[tokio::test]
async fn a_worktree_is_made() {
    let sandbox = Sandbox::new().await;
    let before = Untouched::at(&sandbox.top);
    let (mortal, base) = (Mortal::new(&sandbox).await, sandbox.head());
    let tried = mortal
        .each(async |call, death| {
            let label = Label::of(&format!("{death:?}-{call}"));
            let made = mortal.at(call, death).create(&track(), &label, &base).await;
            let worktree = sandbox.worktrees.create(&track(), &label, &base).await.expect("a worktree");
            assert_eq!(worktree.head().await.expect("a head"), Some(base.clone()));
            clean(&worktree);
            made.is_ok()
        })
        .await;
    assert!((4..50).contains(&tried), "{tried}");
    before.holds();
}

#[tokio::test]
async fn a_ticket_comes_in_once() {
    let sandbox = Sandbox::new().await;
    let before = Untouched::at(&sandbox.top);
    let (mortal, base, into) = (Mortal::new(&sandbox).await, sandbox.head(), sandbox.integration().await);
    let mut expected = 0;
    let tried = mortal
        .each(async |call, death| {
            let name = format!("{death:?}-{call}");
            let ticket = sandbox.ticket(&name, &base, &[(&name, Some("work\n"))]);
            let died = mortal.at(call, death).integrate(&into, &ticket, None, &ignore).await;
            let end = sandbox.worktrees.integrate(&into, &ticket, None, &ignore).await.expect("an end");
            let Integrated::Merged { commit, .. } = end else { panic!("{name}: {end:?}") };
            expected += 1;
            assert_eq!(sandbox.target().await, commit);
            died.is_ok()
        })
        .await;
    assert!((8..60).contains(&tried), "{tried}");
    let count = sandbox.git(&["rev-list", "--count", &format!("{base}..{}", into.branch())]);
    assert_eq!(count, expected.to_string(), "a commit came in twice");
    before.holds();
}

#[tokio::test]
async fn a_checked_ticket_comes_in_once() {
    let sandbox = Sandbox::new().await;
    let (mortal, base, into) = (Mortal::new(&sandbox).await, sandbox.head(), sandbox.integration().await);
    let (mut expected, mut call) = (0, 2);
    loop {
        let name = format!("T{call}");
        let ticket = sandbox.ticket(&name, &base, &[(&name, Some("work\n"))]);
        let check = check(&format!("test -f {name} && test ! -e left && test -f a.txt && touch left"));
        let died = mortal.at(call, Death::Before).integrate(&into, &ticket, Some(&check), &ignore).await;
        let end = sandbox.worktrees.integrate(&into, &ticket, Some(&check), &ignore).await.expect("an end");
        assert!(matches!(end, Integrated::Merged { .. }), "{name}: {end:?}");
        expected += 1;
        if died.is_ok() {
            break;
        }
        call += 3;
    }
    let count = sandbox.git(&["rev-list", "--count", &format!("{base}..{}", into.branch())]);
    assert_eq!(count, expected.to_string(), "a commit came in twice");
}

#[tokio::test]
async fn work_is_committed() {
    let sandbox = Sandbox::new().await;
    let (mortal, base) = (Mortal::new(&sandbox).await, sandbox.head());
    let worktree = sandbox.worktree("T1").await;
    let mut expected = 0;
    mortal
        .each(async |call, death| {
            write(worktree.path(), "work.txt", format!("{death:?} {call}\n"));
            let died = mortal.at(call, death).commit(&worktree, "Work").await;
            let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
            expected += 1;
            assert_eq!(sandbox.commit(&worktree.branch()), head);
            assert_eq!(sandbox.shown(&head, "work.txt"), format!("{death:?} {call}"));
            clean(&worktree);
            died.is_ok()
        })
        .await;
    let count = sandbox.git(&["rev-list", "--count", &format!("{base}..{}", worktree.branch())]);
    assert_eq!(count, expected.to_string());
    assert_eq!(sandbox.git(&["for-each-ref", "refs/masque/archive"]), "");
}

#[tokio::test]
async fn a_checkpoint_is_restored() {
    let sandbox = Sandbox::new().await;
    let (mortal, base) = (Mortal::new(&sandbox).await, sandbox.head());
    mortal
        .each(async |call, death| {
            let label = Label::of(&format!("{death:?}-{call}"));
            let worktree = sandbox.worktrees.create(&track(), &label, &base).await.expect("a worktree");
            write(worktree.path(), "draft.txt", "draft\n");
            write(worktree.path(), "a.txt", "changed\n");
            let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint").commit;
            std::fs::remove_dir_all(worktree.path()).expect("it was there");
            sandbox.worktrees.create(&track(), &label, &base).await.expect("a worktree");
            let died = mortal.at(call, death).restore(&worktree, &checkpoint).await;
            // The next process opens the worktree first.
            let again = sandbox.worktrees.create(&track(), &label, &base).await.expect("a worktree");
            sandbox.worktrees.restore(&again, &checkpoint).await.expect("restored");
            assert_eq!(read(again.path(), "draft.txt"), "draft\n", "{death:?} {call}");
            assert_eq!(read(again.path(), "a.txt"), "changed\n");
            assert_eq!(again.head().await.expect("a head"), Some(base.clone()));
            died.is_ok()
        })
        .await;
}

#[tokio::test]
async fn a_worktree_is_moved() {
    let sandbox = Sandbox::new().await;
    let (mortal, base) = (Mortal::new(&sandbox).await, sandbox.head());
    let target = sandbox.ticket("target", &base, &[("b.txt", Some("b\n"))]).head;
    mortal
        .each(async |call, death| {
            let label = Label::of(&format!("{death:?}-{call}"));
            let mut worktree = sandbox.worktrees.create(&track(), &label, &base).await.expect("a worktree");
            write(worktree.path(), "mine.txt", "mine\n");
            crate::sandbox::commit_all(worktree.path(), "Mine");
            let died = mortal.at(call, death).bring_onto(&mut worktree, &target).await;
            let mut again = sandbox.worktrees.create(&track(), &label, &base).await.expect("a worktree");
            let end = sandbox.worktrees.bring_onto(&mut again, &target).await.expect("an end");
            let Onto::Moved { head, .. } = end else { panic!("{end:?}") };
            assert_eq!(sandbox.commit(&format!("{head}^")), target, "{death:?} {call}");
            assert_eq!((again.base(), sandbox.commit(&again.branch())), (&target, head));
            assert_eq!(read(again.path(), "mine.txt"), "mine\n");
            clean(&again);
            died.is_ok()
        })
        .await;
}

#[tokio::test]
async fn nothing_is_lost_in_a_removal() {
    let sandbox = Sandbox::new().await;
    let mortal = Mortal::new(&sandbox).await;
    mortal
        .each(async |call, death| {
            let name = format!("{death:?}-{call}");
            let worktree = sandbox.worktree(&name).await;
            write(worktree.path(), "work.txt", "work\n");
            let lost = crate::sandbox::commit_all(worktree.path(), &name);
            git(worktree.path(), &["reset", "--quiet", "--hard", "HEAD~1"]);
            write(worktree.path(), "draft.txt", &name);
            let standing = Sandbox::ended(&name);
            let died = mortal.at(call, death).remove(&standing, false).await.expect("a look");
            sandbox.worktrees.remove(&standing, false).await.expect("a look");
            assert!(!worktree.path().exists());
            let prefix = format!("refs/masque/archive/track/{name}");
            let archives = sandbox.git(&["for-each-ref", "--format=%(refname)", &prefix]);
            assert_eq!(archives.lines().count(), 1, "{name}: {archives}");
            let archive = sandbox.commit(&archives);
            assert_eq!(sandbox.shown(&archive, "draft.txt"), name);
            let has = run(&sandbox.top, &["merge-base", "--is-ancestor", lost.as_str(), &archives], b"");
            assert!(has.status.success(), "{name}");
            let is_kept = |action| matches!(action, worktrees::RemovalAction::Kept { .. });
            died.is_some_and(|removal| !is_kept(removal.action))
        })
        .await;
}

#[tokio::test]
async fn a_git_without_an_answer_is_no_answer() {
    let sandbox = Sandbox::new().await;
    let (mortal, into) = (Mortal::new(&sandbox).await, sandbox.integration().await);
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "draft.txt", "draft\n");
    let checkpoint = sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint").commit;
    let ticket: Ticket = sandbox.ticket("T2", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    sandbox.worktrees.integrate(&into, &ticket, None, &ignore).await.expect("an end");
    let dead = || mortal.at(1, Death::Before);
    assert!(dead().last_checkpoint(&worktree).await.is_err());
    assert!(dead().base_of(&track(), worktree.ticket()).await.is_err());
    assert!(dead().repository().commit("HEAD").await.is_err());
    assert!(dead().finish(&track(), "main").await.is_err());
    assert!(dead().integration_head(&into).await.is_err());
    assert!(dead().inspect(&ticket.base, &ticket.head, Some(worktree.tree())).await.is_err());
    assert!(matches!(
        dead().integration_head(&into).await,
        Err(worktrees::Error::GitFailed { code: None, .. })
    ));
    assert_eq!(sandbox.worktrees.last_checkpoint(&worktree).await.expect("a look"), Some(checkpoint));
}
