//! Setups: files that git ignores, ports, a command.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use worktrees::{Error, Setup, SetupOutcome, SkipReason, Worktree};

use crate::sandbox::{Sandbox, command, ignore, open, read, start, track, write};
use crate::untouched::Untouched;

async fn copy(sandbox: &Sandbox, worktree: &Worktree, patterns: &[&str]) -> SetupOutcome {
    let copy = patterns.iter().map(|it| (*it).to_owned()).collect();
    let setup = Setup { copy, ..Setup::default() };
    sandbox.worktrees.setup(worktree, &setup, &ignore).await.expect("a setup")
}

fn skipped(outcome: &SetupOutcome) -> Vec<(&str, SkipReason)> {
    outcome.skipped.iter().map(|it| (it.path.as_str(), it.reason)).collect()
}

#[tokio::test]
async fn ignored_files_are_copied_and_nothing_is_overwritten() {
    let sandbox = Sandbox::new().await;
    sandbox.write("ignored/deep/tool", "a tool\n");
    let tool = sandbox.top.join("ignored/deep/tool");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o750)).expect("a mode");
    sandbox.write("ignored/there", "of the user\n");
    sandbox.write("untracked.txt", "not ignored\n");
    symlink("/etc/passwd", sandbox.top.join("ignored/link")).expect("a link");
    symlink("/etc", sandbox.top.join("ignored/directory")).expect("a link");
    let before = Untouched::at(&sandbox.top);
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "ignored/there", "of the worker\n");
    let outcome = copy(&sandbox, &worktree, &["ignored/**", "untracked.txt", "a.txt"]).await;
    assert_eq!(outcome.copied, ["ignored/deep/tool"]);
    assert_eq!(
        skipped(&outcome),
        [
            ("ignored/directory", SkipReason::Link),
            ("ignored/link", SkipReason::Link),
            ("ignored/there", SkipReason::Exists)
        ]
    );
    assert_eq!(read(worktree.path(), "ignored/there"), "of the worker\n");
    let copied = worktree.path().join("ignored/deep/tool");
    assert_eq!(copied.metadata().expect("a file").permissions().mode() & 0o777, 0o750);
    // A copy, not the user's own file under a second name.
    std::fs::write(&copied, "changed\n").expect("a file");
    before.holds();
    assert_eq!(copy(&sandbox, &worktree, &["ignored/**"]).await.copied, Vec::<String>::new());
    assert_eq!(read(worktree.path(), "ignored/deep/tool"), "changed\n");
}

#[tokio::test]
async fn a_secret_is_copied_only_by_its_exact_path() {
    let sandbox = Sandbox::new().await;
    sandbox.write(".env", "KEY=1\n");
    sandbox.write("sub/.env", "KEY=2\n");
    let worktree = sandbox.worktree("T1").await;
    let outcome = copy(&sandbox, &worktree, &["**/.env", "**"]).await;
    assert_eq!(skipped(&outcome), [(".env", SkipReason::Secret), ("sub/.env", SkipReason::Secret)]);
    assert_eq!(copy(&sandbox, &worktree, &["/.env"]).await.copied, [".env"]);
    assert_eq!(copy(&sandbox, &worktree, &["./sub/.env"]).await.copied, ["sub/.env"]);
    assert_eq!(read(worktree.path(), ".env"), "KEY=1\n");
}

#[tokio::test]
async fn a_file_that_could_be_committed_is_not_copied() {
    let sandbox = Sandbox::new().await;
    sandbox.write(".gitignore", "/ignored/\n.env\n*.log\n/local.txt\n");
    sandbox.write("local.txt", "private\n");
    sandbox.write("ignored/x", "x\n");
    // The worktree has the committed patterns, which do not name the file.
    let worktree = sandbox.worktree("T1").await;
    let outcome = copy(&sandbox, &worktree, &["local.txt", "ignored/x"]).await;
    assert_eq!(skipped(&outcome), [("local.txt", SkipReason::NotIgnored)]);
    assert_eq!(outcome.copied, ["ignored/x"]);
}

#[tokio::test]
async fn nothing_is_copied_out_of_the_worktree() {
    let sandbox = Sandbox::new().await;
    let outside = sandbox.dir.path().join("outside");
    std::fs::create_dir(&outside).expect("a directory");
    symlink(&outside, sandbox.top.join("cache")).expect("a link");
    sandbox.commit_all("A link");
    std::fs::remove_file(sandbox.top.join("cache")).expect("a link");
    sandbox.write("cache/x.log", "x\n");
    sandbox.write("zz.log", "z\n");
    let worktree = sandbox.worktree("T1").await;
    let outcome = copy(&sandbox, &worktree, &["cache/**", "*.log"]).await;
    assert_eq!(skipped(&outcome), [("cache/x.log", SkipReason::Outside)]);
    assert_eq!(outcome.copied, ["zz.log"]);
    assert_eq!(std::fs::read_dir(&outside).expect("a directory").count(), 0);

    // Of a submodule, another repository decides what is ignored.
    sandbox.git(&["rm", "--quiet", "--cached", "cache"]);
    let link = format!("160000,{},cache", sandbox.head());
    sandbox.git(&["update-index", "--add", "--cacheinfo", &link]);
    sandbox.git(&["commit", "--quiet", "-m", "A submodule"]);
    sandbox.git(&["rm", "--quiet", "--cached", "cache"]);
    let worktree = sandbox.worktree("T2").await;
    let outcome = copy(&sandbox, &worktree, &["cache/**", "*.log"]).await;
    assert_eq!(skipped(&outcome), [("cache/x.log", SkipReason::Outside)]);
    assert_eq!(outcome.copied, ["zz.log"]);

    for pattern in ["../outside/**", "ignored/../../x", "//etc/passwd", "", "/", "a\0b"] {
        let setup = Setup { copy: vec![pattern.to_owned()], ..Setup::default() };
        let error = sandbox.worktrees.setup(&worktree, &setup, &ignore).await;
        assert!(matches!(error, Err(Error::Pattern { .. })), "{pattern:?}: {error:?}");
    }
    let setup = Setup { copy: vec!["x".to_owned(); 1_000], ..Setup::default() };
    let error = sandbox.worktrees.setup(&worktree, &setup, &ignore).await;
    assert!(matches!(error, Err(Error::TooMany { .. })), "{error:?}");
}

#[tokio::test]
async fn odd_names_are_copied_too() {
    let sandbox = Sandbox::new().await;
    let names: [&[u8]; 4] = [b"\xff\xfe", b"with space", b"quote\"'", b"line\nfeed"];
    std::fs::create_dir(sandbox.top.join("ignored")).expect("a directory");
    for name in names {
        let path = sandbox.top.join("ignored").join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, name).expect("a file");
    }
    let worktree = sandbox.worktree("T1").await;
    let outcome = copy(&sandbox, &worktree, &["ignored"]).await;
    assert_eq!((outcome.copied.len(), outcome.skipped.len()), (4, 0), "{outcome:?}");
    for name in names {
        let path = worktree.path().join("ignored").join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(std::fs::read(path).expect("a file"), name);
    }
}

#[tokio::test]
async fn a_setup_that_succeeded_is_not_run_again() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let run = async |line: &str| {
        let setup = Setup { command: Some(command(line)), ports: 2, ..Setup::default() };
        sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("a setup")
    };
    let red = run("echo run >> runs.log; exit 4").await;
    assert!(!red.passed());
    assert!(!run("echo run >> runs.log; exit 4").await.passed());
    assert_eq!(read(worktree.path(), "runs.log"), "run\nrun\n");
    let green = run("echo $MASQUE_PORT $MASQUE_PORT_2 > ports.log").await;
    assert!(green.passed() && green.command.is_some());
    assert_eq!(read(worktree.path(), "ports.log"), format!("{} {}\n", green.ports[0], green.ports[1]));
    let again = run("echo $MASQUE_PORT $MASQUE_PORT_2 > ports.log").await;
    assert!(again.passed() && again.command.is_none());
    assert_eq!(again.ports, green.ports);
    assert!(run("echo another > other.log").await.command.is_some());

    for line in ["", "  ", "a\0b", &"x".repeat(20_000)] {
        let setup = Setup { command: Some(command(line)), ..Setup::default() };
        let error = sandbox.worktrees.setup(&worktree, &setup, &ignore).await;
        assert!(matches!(error, Err(Error::CommandLine { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn two_worktrees_never_share_a_port() {
    let sandbox = Sandbox::new().await;
    let other = sandbox.dir.path().join("other");
    start(&other);
    let others = open(&other, &sandbox.home()).await;
    let head = crate::sandbox::commit(&other, "HEAD");
    let foreign = others.create(&track(), &worktrees::Label::of("T1"), &head).await.expect("a worktree");
    let (one, two) = (sandbox.worktree("T1").await, sandbox.worktree("T2").await);
    let setup = Setup { ports: 16, ..Setup::default() };
    let (one, two, three) = tokio::join!(
        sandbox.worktrees.setup(&one, &setup, &ignore),
        sandbox.worktrees.setup(&two, &setup, &ignore),
        others.setup(&foreign, &setup, &ignore)
    );
    let leased = [one, two, three].map(|it| it.expect("a setup").ports);
    let all: BTreeSet<u16> = leased.iter().flatten().copied().collect();
    assert_eq!(all.len(), 48, "{leased:?}");

    let setup = Setup { ports: 17, ..Setup::default() };
    let error = sandbox.worktrees.setup(&sandbox.worktree("T1").await, &setup, &ignore).await;
    assert!(matches!(error, Err(Error::TooMany { .. })), "{error:?}");
}

#[tokio::test]
async fn a_port_that_is_in_use_is_not_leased_and_an_ended_lease_is_free() {
    let sandbox = Sandbox::new().await;
    let setup = Setup { ports: 1, ..Setup::default() };
    let lease = async || {
        let worktree = sandbox.worktree("T1").await;
        sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("a setup").ports[0]
    };
    let first = lease().await;
    sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a removal");
    assert!(!sandbox.home().join("ports").join(first.to_string()).exists());
    let server = std::net::TcpListener::bind(("127.0.0.1", first)).expect("a free port");
    assert_ne!(lease().await, first);
    drop(server);
    // The worktree keeps the one that it has.
    assert_ne!(lease().await, first);
}
