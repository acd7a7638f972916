//! Conflicts name paths, sides and the tickets behind them.

use worktrees::{Integrated, Label, Preflight, Setup};

use crate::sandbox::{Sandbox, command, ignore, read, run, write};
use crate::untouched::Untouched;

async fn conflicted(sandbox: &Sandbox, ticket: &worktrees::Ticket) -> Preflight {
    let into = sandbox.integration().await;
    let end = sandbox.worktrees.integrate(&into, ticket, None, &ignore).await.expect("an end");
    match end {
        Integrated::Conflicted { preflight } => preflight,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_conflict_has_paths_sides_and_tickets() {
    let sandbox = Sandbox::new().await;
    sandbox.write("binary", [0, 1, 2]);
    let base = sandbox.commit_all("More");
    let before = Untouched::at(&sandbox.top);
    let into = sandbox.integration().await;
    for (name, path, text) in [
        ("T1", "a.txt", "one\nTWO\nthree\n"),
        ("T2", "docs/guide.txt", "Another guide.\n"),
        ("T3", "quiet.txt", "no part in it\n"),
    ] {
        let ticket = sandbox.ticket(name, &base, &[(path, Some(text))]);
        let end = sandbox.worktrees.integrate(&into, &ticket, None, &ignore).await.expect("an end");
        assert!(matches!(end, Integrated::Merged { .. }), "{end:?}");
    }
    let target = sandbox.target().await;
    let files = [("a.txt", Some("one\n2\nthree\n")), ("docs/guide.txt", None), ("ok.txt", Some("ok\n"))];
    let ticket = sandbox.ticket("T4", &base, &files);
    let preflight = conflicted(&sandbox, &ticket).await;
    assert!(!preflight.is_clean() && preflight.conflicts_left_out == 0);
    assert_eq!(preflight.with(), [Label::of("T1"), Label::of("T2")]);
    let [lines, deleted] = &preflight.conflicts[..] else { panic!("{preflight:?}") };
    assert_eq!((lines.path.as_str(), &lines.with[..]), ("a.txt", &[Label::of("T1")][..]));
    let text = |side: &Option<worktrees::Side>| side.as_ref().map(|side| side.text.clone());
    assert_eq!(text(&lines.base).expect("a side"), "one\ntwo\nthree\n");
    assert_eq!(text(&lines.target).expect("a side"), "one\nTWO\nthree\n");
    assert_eq!(text(&lines.head).expect("a side"), "one\n2\nthree\n");
    assert!(lines.marked.contains("<<<<<<<") && lines.marked.contains("TWO\n=======\n2\n"));
    assert_eq!((deleted.path.as_str(), &deleted.with[..]), ("docs/guide.txt", &[Label::of("T2")][..]));
    assert_eq!((text(&deleted.head), deleted.marked.as_str()), (None, ""));
    assert_eq!(sandbox.target().await, target);
    before.holds();
}

#[tokio::test]
async fn every_kind_of_conflict_is_reported() {
    let sandbox = Sandbox::new().await;
    sandbox.write("binary", [0, 1, 2]);
    sandbox.write("huge.txt", "line\n".repeat(20_000));
    let base = sandbox.commit_all("More");
    let into = sandbox.integration().await;
    let work = async |name: &str, binary: u8, huge: &str| {
        let worktree = sandbox.worktree(name).await;
        write(worktree.path(), "binary", [0, binary]);
        write(worktree.path(), "huge.txt", huge.repeat(20_000));
        write(worktree.path(), "both added.txt", name);
        let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
        worktrees::Ticket { label: Label::of(name), base: base.clone(), head }
    };
    let one = work("T1", 7, "left\n").await;
    let two = work("T2", 8, "right\n").await;
    sandbox.worktrees.integrate(&into, &one, None, &ignore).await.expect("an end");
    let preflight = conflicted(&sandbox, &two).await;
    let paths: Vec<&str> = preflight.conflicts.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["binary", "both added.txt", "huge.txt"]);
    let [binary, added, huge] = &preflight.conflicts[..] else { panic!("{preflight:?}") };
    let target = binary.target.as_ref().expect("a side");
    assert!(target.is_binary && target.text.is_empty() && target.bytes_left_out == 2);
    assert!(added.base.is_none() && added.target.is_some());
    let side = huge.head.as_ref().expect("a side");
    assert!(side.text.len() <= 16 * 1024 && side.bytes_left_out > 100_000);
    assert!(huge.marked.len() <= 17 * 1024);
}

#[tokio::test]
async fn a_resolution_is_learned() {
    let sandbox = Sandbox::new().await;
    let base = sandbox.head();
    let theirs = sandbox.ticket("theirs", &base, &[("a.txt", Some("one\ntheirs\nthree\n"))]).head;
    let before = Untouched::at(&sandbox.top);
    for (name, is_known) in [("T1", false), ("T2", true)] {
        let worktree = sandbox.worktree(name).await;
        write(worktree.path(), "a.txt", "one\nmine\nthree\n");
        sandbox.worktrees.commit(&worktree, "Mine").await.expect("a commit");
        // As a worker's shell has it.
        let merge = format!("git -c user.name=x -c user.email=x@x merge --quiet {theirs} || true");
        let setup = Setup { command: Some(command(&merge)), ..Setup::default() };
        sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran");
        let text = read(worktree.path(), "a.txt");
        assert_eq!(text == "one\nboth\nthree\n", is_known, "{text}");
        if !is_known {
            write(worktree.path(), "a.txt", "one\nboth\nthree\n");
            let line = "git add a.txt && git -c user.name=x -c user.email=x@x commit --quiet --no-edit";
            let setup = Setup { command: Some(command(line)), ..Setup::default() };
            assert!(sandbox.worktrees.setup(&worktree, &setup, &ignore).await.expect("it ran").passed());
        }
        assert!(run(&sandbox.top, &["fsck", "--connectivity-only"], b"").status.success());
    }
    before.holds();
}
