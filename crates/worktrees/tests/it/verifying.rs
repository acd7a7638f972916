//! Checks run in fresh checkouts, as the base defines them.

use worktrees::{Check, Command, CommitId, Exit, Setup, TestsFrom, Ticket, Verified, Watcher};

use crate::sandbox::{Change, Sandbox, check, command, commit_all, git, ignore, track, write};
use crate::untouched::Untouched;

const SCRIPT: &str = "#!/bin/sh\ngrep -q good state.txt\n";

async fn verify(sandbox: &Sandbox, ticket: &Ticket, check: &Check, tests: TestsFrom) -> Verified {
    let watcher: Watcher<'_> = &ignore;
    sandbox.worktrees.verify(&track(), ticket, check, tests, watcher).await.expect("it ran")
}

/// A repository with a check that a bad state fails.
async fn with_script() -> (Sandbox, CommitId, Check) {
    let sandbox = Sandbox::new().await;
    sandbox.ticket("base", &sandbox.head(), &[("ci/check.sh", Some(SCRIPT)), ("state.txt", Some("good\n"))]);
    sandbox.git(&["merge", "--quiet", "--ff-only", "refs/test/base"]);
    let check = Check { files: vec!["ci/**".to_owned()], ..check("ci/check.sh") };
    let base = sandbox.head();
    (sandbox, base, check)
}

#[tokio::test]
async fn a_claim_counts_for_nothing_and_the_run_for_everything() {
    let (sandbox, base, check) = with_script().await;
    let before = Untouched::at(&sandbox.top);
    let good = sandbox.ticket("good", &base, &[("b.txt", Some("b\n"))]);
    let bad = sandbox.ticket("bad", &base, &[("state.txt", Some("all tests pass\n"))]);
    let verified = verify(&sandbox, &good, &check, TestsFrom::Head).await;
    assert!(verified.passed() && !verified.is_cached && verified.restored.is_empty());
    assert!(!verify(&sandbox, &bad, &check, TestsFrom::Head).await.passed());
    assert_eq!(verified.tree.as_str(), sandbox.git(&["rev-parse", &format!("{}^{{tree}}", good.head)]));
    let baseline = sandbox.worktrees.baseline(&track(), &bad, &check, &ignore).await.expect("it ran");
    assert!(baseline.passed());
    before.holds();
}

#[tokio::test]
async fn a_worker_cannot_change_its_own_check() {
    let (sandbox, base, check) = with_script().await;
    let bad = ("state.txt", Some("bad\n"));
    let green = Some("#!/bin/sh\nexit 0\n");
    let cases: [(&str, &[Change<'_>]); 4] = [
        ("changed", &[bad, ("ci/check.sh", green)]),
        ("moved", &[bad, ("ci/check.sh", None), ("ci/other.sh", Some(SCRIPT))]),
        ("file", &[bad, ("ci/check.sh", None), ("ci", green)]),
        ("directory", &[bad, ("ci/check.sh", None), ("ci/check.sh/x", green)]),
    ];
    for (name, files) in cases {
        let ticket = sandbox.ticket(name, &base, files);
        let verified = verify(&sandbox, &ticket, &check, TestsFrom::Head).await;
        let outcome = verified.outcome.as_ref().expect("it ran");
        assert_eq!(outcome.exit, Exit::Code(1), "{name}: {}", outcome.tail);
        assert!(verified.restored.contains(&"ci/check.sh".to_owned()), "{name}: {verified:?}");
    }
    // A link, a mode, and an addition that the script of the base would find.
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "state.txt", "bad\n");
    write(worktree.path(), "mine/check.sh", "#!/bin/sh\nexit 0\n");
    std::fs::remove_dir_all(worktree.path().join("ci")).expect("it was there");
    std::os::unix::fs::symlink("mine", worktree.path().join("ci")).expect("a link");
    let linked = commit_all(worktree.path(), "A link");
    git(worktree.path(), &["checkout", "--quiet", base.as_str(), "--", "state.txt"]);
    git(worktree.path(), &["rm", "--quiet", "ci"]);
    git(worktree.path(), &["checkout", "--quiet", base.as_str(), "--", "ci/check.sh"]);
    git(worktree.path(), &["update-index", "--chmod=-x", "ci/check.sh"]);
    write(worktree.path(), "ci/added.sh", "x\n");
    git(worktree.path(), &["add", "ci/added.sh", "state.txt"]);
    git(worktree.path(), &["commit", "--quiet", "-m", "A mode"]);
    let plain = crate::sandbox::commit(worktree.path(), "HEAD");
    let ticket = |head| Ticket { label: worktree.ticket().clone(), base: base.clone(), head };
    let verified = verify(&sandbox, &ticket(linked), &check, TestsFrom::Head).await;
    assert_eq!(verified.outcome.expect("it ran").exit, Exit::Code(1));
    let verified = verify(&sandbox, &ticket(plain), &check, TestsFrom::Head).await;
    assert!(verified.passed(), "{verified:?}");
    assert_eq!(verified.restored, ["ci/added.sh", "ci/check.sh"]);
}

#[tokio::test]
async fn the_tests_of_the_base_run_again() {
    let sandbox = Sandbox::new().await;
    let line = "for it in tests/*.sh tests/deep/*.sh; do test ! -f $it || sh $it || exit 1; done";
    let tests = [("tests/state.sh", Some("grep -q good state.txt\n")), ("tests/deep/b.sh", Some("true\n"))];
    let base =
        sandbox.ticket("base", &sandbox.head(), &[&tests[..], &[("state.txt", Some("good\n"))]].concat());
    let bad = ("state.txt", Some("bad\n"));
    let cases: [(&str, &[Change<'_>], &[&str]); 3] = [
        ("deleted", &[bad, ("tests/state.sh", None)], &["tests/state.sh"]),
        ("weakened", &[bad, ("tests/state.sh", Some("true\n"))], &["tests/state.sh"]),
        (
            "moved",
            &[bad, ("tests/state.sh", None), ("tests/off/state.sh", Some("grep -q good state.txt\n"))],
            &["tests/off/state.sh", "tests/state.sh"],
        ),
    ];
    for (name, files, restored) in cases {
        let ticket = sandbox.ticket(name, &base.head, files);
        assert!(verify(&sandbox, &ticket, &check(line), TestsFrom::Head).await.passed(), "{name}");
        let again = verify(&sandbox, &ticket, &check(line), TestsFrom::Base).await;
        assert_eq!(again.restored, restored, "{name}");
        assert!(!again.passed(), "{name}");
    }
    // A new test of the worker stays, and its own globs replace the usual ones.
    let added = sandbox.ticket("added", &base.head, &[("tests/new.sh", Some("exit 1\n"))]);
    assert!(!verify(&sandbox, &added, &check(line), TestsFrom::Base).await.passed());
    let own = Check { tests: vec!["state.txt".to_owned()], ..check(line) };
    let ticket = sandbox.ticket("own", &base.head, &[bad]);
    let verified = verify(&sandbox, &ticket, &own, TestsFrom::Base).await;
    assert!(verified.passed() && verified.restored == ["state.txt"]);
}

#[tokio::test]
async fn a_check_sees_nothing_of_what_the_worker_left() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let base = sandbox.head();
    write(worktree.path(), "b.txt", "b\n");
    let head = commit_all(worktree.path(), "Work");
    write(worktree.path(), "untracked.txt", "x\n");
    write(worktree.path(), "ignored/built", "x\n");
    write(worktree.path(), "a.txt", "uncommitted\n");
    let ticket = Ticket { label: worktree.ticket().clone(), base, head };
    let line = "test -f b.txt && test ! -e untracked.txt && test ! -e ignored && grep -q two a.txt \
                && echo dirt > a.txt && echo dirt > dirt.txt";
    let verified = verify(&sandbox, &ticket, &check(line), TestsFrom::Head).await;
    assert!(verified.passed(), "{verified:?}");
    assert!(!worktree.path().join("dirt.txt").exists());
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 2);
}

#[tokio::test]
async fn the_worst_output_is_kept_within_limits() {
    let sandbox = Sandbox::new().await;
    let ticket = sandbox.ticket("T1", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    let line = "echo 'test result: ok. 4 passed; 1 failed; 2 ignored; 0 measured'; \
                head -c 5000000 /dev/zero | tr '\\0' '\\377'; head -c 100000 /dev/zero; \
                printf '\\n\\303'; echo end >&2; kill -9 $$";
    let verified = verify(&sandbox, &ticket, &check(line), TestsFrom::Head).await;
    let outcome = verified.outcome.expect("it ran");
    assert_eq!(outcome.exit, Exit::Signal(9));
    assert!(outcome.tail.ends_with("\n\u{fffd}end\n"));
    assert!(outcome.left_out > 5_000_000 && outcome.tail.len() <= 3 * 64 * 1024);
    let counts = outcome.tests.expect("counts");
    assert_eq!((counts.passed, counts.failed, counts.skipped), (4, 1, 2));
}

#[tokio::test]
async fn lower_counts_show() {
    let sandbox = Sandbox::new().await;
    let result = "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let base = sandbox.ticket("base", &sandbox.head(), &[("result.txt", Some(result))]).head;
    let lower = result.replace("9 passed", "7 passed").replace("0 ignored", "1 ignored");
    let ticket = sandbox.ticket("T1", &base, &[("result.txt", Some(&lower))]);
    let check = check("cat result.txt");
    let before = sandbox.worktrees.baseline(&track(), &ticket, &check, &ignore).await.expect("it ran");
    let after = verify(&sandbox, &ticket, &check, TestsFrom::Head).await;
    let counts = |verified: Verified| verified.outcome.expect("it ran").tests.expect("counts");
    let (before, after) = (counts(before), counts(after));
    assert_eq!((before.ran(), after.ran(), after.skipped), (9, 7, 1));
}

#[tokio::test]
async fn a_pass_is_remembered_for_exactly_that_tree_and_check() {
    let sandbox = Sandbox::new().await;
    let runs = sandbox.dir.path().join("runs");
    let count = || std::fs::read_to_string(&runs).map_or(0, |text| text.lines().count());
    let line = format!("echo run >> '{}'; test -f b.txt", runs.display());
    let base = sandbox.head();
    let (green, red) = (
        sandbox.ticket("green", &base, &[("b.txt", Some("b\n"))]),
        sandbox.ticket("red", &base, &[("c.txt", Some("c\n"))]),
    );
    let once = verify(&sandbox, &green, &check(&line), TestsFrom::Head).await;
    let twice = verify(&sandbox, &green, &check(&line), TestsFrom::Base).await;
    assert!(once.passed() && !once.is_cached && twice.passed() && twice.is_cached);
    assert_eq!((count(), once.tree == twice.tree), (1, true));
    for _ in 0..2 {
        let verified = verify(&sandbox, &red, &check(&line), TestsFrom::Head).await;
        assert!(!verified.passed() && !verified.is_cached);
    }
    assert_eq!(count(), 3);
    // Another line, another variable or another setup is another check.
    let mut variable = check(&line);
    variable.command.variables.added = vec![("MODE".to_owned(), "1".to_owned())];
    let mut setup = check(&line);
    setup.setup.command = Some(command("true"));
    for other in [check(&format!("{line} # other")), variable, setup] {
        assert!(!verify(&sandbox, &green, &other, TestsFrom::Head).await.is_cached);
    }
}

#[tokio::test]
async fn a_red_setup_is_no_pass_and_a_green_one_is_seen_by_the_check() {
    let sandbox = Sandbox::new().await;
    sandbox.write(".env", "KEY=1\n");
    let ticket = sandbox.ticket("T1", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    let with = |line: &str| {
        let setup = Setup { copy: vec![".env".to_owned()], command: Some(command(line)), ports: 1 };
        let line = "grep -q KEY .env && test -f built && test -n \"$MASQUE_PORT\"";
        Check { setup, ..check(line) }
    };
    let red = verify(&sandbox, &ticket, &with("exit 1"), TestsFrom::Head).await;
    assert!(!red.passed() && red.outcome.is_none());
    let green = verify(&sandbox, &ticket, &with("touch built"), TestsFrom::Head).await;
    assert!(green.passed(), "{green:?}");
    let bad = Check { command: Command { line: " ".to_owned(), ..command("") }, ..check("true") };
    let error = sandbox.worktrees.verify(&track(), &ticket, &bad, TestsFrom::Head, &ignore).await;
    assert!(matches!(error, Err(worktrees::Error::CommandLine { .. })), "{error:?}");
}
