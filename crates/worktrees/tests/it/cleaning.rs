//! Worktrees are removed with proof, or what is in them is kept first.

use worktrees::{KeptReason, Label, Lease, RemovalAction, TicketStanding};

use crate::sandbox::{Sandbox, check, commit_all, git, ignore, read, run, track, write};
use crate::untouched::Untouched;

async fn remove(sandbox: &Sandbox, ticket: &str, dry_run: bool) -> RemovalAction {
    let removal = sandbox.worktrees.remove(&Sandbox::ended(ticket), dry_run).await.expect("a look");
    removal.expect("a worktree").action
}

#[track_caller]
fn reference(action: RemovalAction) -> String {
    match action {
        RemovalAction::Archived { reference } => reference,
        other => panic!("{other:?}"),
    }
}

fn kept(reason: KeptReason) -> RemovalAction {
    RemovalAction::Kept { reason }
}

/// Every reference with its commit.
fn references(sandbox: &Sandbox) -> String {
    sandbox.git(&["for-each-ref"])
}

#[tokio::test]
async fn work_that_is_committed_needs_no_archive() {
    let sandbox = Sandbox::new().await;
    let before = Untouched::at(&sandbox.top);
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "work.txt", "work\n");
    write(worktree.path(), "ignored/built", "built\n");
    let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
    assert_eq!(remove(&sandbox, "T1", true).await, RemovalAction::Removed);
    assert!(worktree.path().exists());
    assert_eq!(remove(&sandbox, "T1", false).await, RemovalAction::Removed);
    assert!(!worktree.path().exists());
    assert_eq!(sandbox.commit(&worktree.branch()), head);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(sandbox.git(&["worktree", "prune", "--dry-run", "--verbose"]), "");
    // Nothing is left to do.
    assert_eq!(sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a look"), None);
    before.holds();
}

#[tokio::test]
async fn changes_staged_and_untracked_files_are_archived() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "a.txt", "staged\n");
    git(worktree.path(), &["add", "a.txt"]);
    write(worktree.path(), "a.txt", "changed\n");
    write(worktree.path(), "new dir/new.txt", "untracked\n");
    std::fs::remove_file(worktree.path().join("docs/guide.txt")).expect("a file");
    let archive = reference(remove(&sandbox, "T1", false).await);
    assert!(archive.starts_with("refs/masque/archive/track/T1/") && !worktree.path().exists());
    let commit = sandbox.commit(&archive);
    assert_eq!(sandbox.shown(&commit, "a.txt"), "changed");
    assert_eq!(sandbox.shown(&commit, "new dir/new.txt"), "untracked");
    assert_eq!(sandbox.git(&["ls-tree", "-r", "--name-only", &archive, "docs"]), "");
    assert_eq!(sandbox.shown(&sandbox.commit(&format!("{archive}^2")), "a.txt"), "staged");
    assert_eq!(sandbox.commit(&format!("{archive}^1")), sandbox.head());
}

#[tokio::test]
async fn commits_that_no_branch_has_are_archived() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let commit = |name: &str| {
        write(worktree.path(), name, "work\n");
        commit_all(worktree.path(), name)
    };
    // One that was reset, one beside the branch, one that only a rebase under way knows.
    let reset = commit("reset.txt");
    git(worktree.path(), &["reset", "--quiet", "--hard", "HEAD~1"]);
    git(worktree.path(), &["checkout", "--quiet", "--detach"]);
    let beside = commit("beside.txt");
    git(worktree.path(), &["checkout", "--quiet", "masque/track/T1"]);
    // A checkpoint is replaced by the next one, so it keeps nothing for good.
    sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
    let dry = references(&sandbox);
    assert_eq!(reference(remove(&sandbox, "T1", true).await), "refs/masque/archive/track/T1");
    assert_eq!(references(&sandbox), dry);
    let archive = reference(remove(&sandbox, "T1", false).await);
    git(&sandbox.top, &["reflog", "expire", "--expire=now", "--all"]);
    git(&sandbox.top, &["gc", "--quiet", "--prune=now"]);
    for lost in [&reset, &beside] {
        let is_kept = run(&sandbox.top, &["merge-base", "--is-ancestor", lost.as_str(), &archive], b"");
        assert!(is_kept.status.success(), "{lost}");
    }
}

#[tokio::test]
async fn what_only_the_worktrees_own_references_name_is_archived() {
    archives_own_references(&Sandbox::new().await).await;
    // In another format, which older versions of git lack.
    let dir = tempfile::tempdir().expect("a directory");
    let top = dir.path().join("repo");
    let init = ["init", "--quiet", "--initial-branch=main", "--ref-format=reftable", "repo"];
    if run(dir.path(), &init, b"").status.success() {
        crate::sandbox::start(&top);
        archives_own_references(&Sandbox::around(dir, &top).await).await;
    }
}

async fn archives_own_references(sandbox: &Sandbox) {
    let worktree = sandbox.worktree("T1").await;
    let at = |name: &str| crate::sandbox::commit(worktree.path(), name);
    let head = sandbox.head();
    let made = |message: &str| {
        let made = git(worktree.path(), &["commit-tree", "HEAD^{tree}", "-p", head.as_str(), "-m", message]);
        worktrees::CommitId::parse(&made).expect("a name")
    };
    let (private, original) = (made("private"), made("original"));
    git(worktree.path(), &["update-ref", "refs/worktree/mine", private.as_str()]);
    git(worktree.path(), &["update-ref", "ORIG_HEAD", original.as_str()]);
    assert_eq!(at("refs/worktree/mine"), private);
    // A rebase that stopped, with changes of the worker put aside.
    write(worktree.path(), "b.txt", "b\n");
    commit_all(worktree.path(), "A commit to move");
    let other = sandbox.ticket("other", &head, &[("b.txt", Some("theirs\n"))]).head;
    write(worktree.path(), "a.txt", "put aside\n");
    let rebase = run(worktree.path(), &["rebase", "--quiet", "--autostash", other.as_str()], b"");
    assert!(!rebase.status.success());
    git(worktree.path(), &["update-ref", "ORIG_HEAD", original.as_str()]);
    let archive = reference(remove(sandbox, "T1", false).await);
    let all = sandbox.git(&["log", "--format=%H %s", "-m", "--name-only", &archive]);
    assert!(all.contains(private.as_str()) && all.contains(original.as_str()), "{all}");
    let stashed = sandbox.git(&["log", "--format=%H", "-Sput aside", "-m", &archive]);
    assert!(!stashed.is_empty(), "the stash of the rebase is gone");
}

#[tokio::test]
async fn hidden_changes_are_archived_too() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    git(worktree.path(), &["update-index", "--assume-unchanged", "a.txt"]);
    git(worktree.path(), &["update-index", "--skip-worktree", "docs/guide.txt"]);
    write(worktree.path(), "a.txt", "hidden\n");
    write(worktree.path(), "docs/guide.txt", "hidden\n");
    reference(remove(&sandbox, "T1", true).await);
    let archive = sandbox.commit(&reference(remove(&sandbox, "T1", false).await));
    assert_eq!(sandbox.shown(&archive, "a.txt"), "hidden");
    assert_eq!(sandbox.shown(&archive, "docs/guide.txt"), "hidden");
}

#[tokio::test]
async fn an_archive_that_was_made_is_not_made_again() {
    let sandbox = Sandbox::new().await;
    let remove_again = async |draft: &str| {
        write(sandbox.worktree("T1").await.path(), "draft.txt", draft);
        reference(remove(&sandbox, "T1", false).await)
    };
    let first = remove_again("draft\n").await;
    assert_eq!(remove_again("draft\n").await, first);
    let other = remove_again("another\n").await;
    assert_ne!(other, first);
    assert!(sandbox.has_ref(&first) && sandbox.has_ref(&other));
}

#[tokio::test]
async fn without_knowledge_nothing_is_removed() {
    let sandbox = Sandbox::new().await;
    let before = Untouched::at(&sandbox.top);
    let names = ["unknown", "silent", "held", "open", "clean"];
    for name in names {
        write(sandbox.worktree(name).await.path(), "draft.txt", name);
    }
    let standing = |ticket: &str, ended, lease| TicketStanding {
        track: track(),
        ticket: Label::of(ticket),
        ended,
        lease,
    };
    let standings = [
        standing("silent", true, Lease::Unknown),
        standing("held", true, Lease::Held),
        standing("open", false, Lease::Free),
        standing("never made", true, Lease::Free),
    ];
    // The database is down: nothing is known at all.
    for standings in [&[][..], &standings] {
        let trees: Vec<Untouched> = names
            .iter()
            .map(|name| Untouched::at(&sandbox.worktrees.place(&track(), &Label::of(name))))
            .collect();
        let refs = references(&sandbox);
        let cleaned = sandbox.worktrees.clean(standings, false).await.expect("a look");
        assert_eq!(cleaned.removals.len(), 5);
        for removal in &cleaned.removals {
            let expected = match removal.ticket.as_str() {
                "held" if !standings.is_empty() => KeptReason::Leased,
                "open" if !standings.is_empty() => KeptReason::NotEnded,
                _ => KeptReason::Unknown,
            };
            assert_eq!(removal.action, kept(expected), "{}", removal.ticket);
        }
        trees.iter().for_each(Untouched::holds);
        assert_eq!(references(&sandbox), refs);
    }
    before.holds();
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_says_what_a_real_one_does() {
    let sandbox = Sandbox::new().await;
    let names = ["clean", "dirty", "gone", "lost"];
    for name in names {
        let worktree = sandbox.worktree(name).await;
        match name {
            "dirty" => write(worktree.path(), "draft.txt", "draft\n"),
            "gone" => {
                write(worktree.path(), "draft.txt", "draft\n");
                sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
                std::fs::remove_dir_all(worktree.path()).expect("it was there");
            }
            "lost" => {
                write(worktree.path(), "draft.txt", "draft\n");
                commit_all(worktree.path(), "Lost");
                git(worktree.path(), &["reset", "--quiet", "--hard", "HEAD~1"]);
            }
            _ => {}
        }
    }
    let standings: Vec<TicketStanding> = names.iter().map(|name| Sandbox::ended(name)).collect();
    let kinds = |cleaned: &worktrees::Cleaned| -> Vec<(String, bool)> {
        let is_archived = |action: &RemovalAction| matches!(action, RemovalAction::Archived { .. });
        cleaned.removals.iter().map(|it| (it.ticket.clone(), is_archived(&it.action))).collect()
    };
    let (home, refs) = (Untouched::at(&sandbox.top), references(&sandbox));
    let admin = sandbox.top.join(".git/worktrees");
    let listed = || {
        let mut names: Vec<_> =
            std::fs::read_dir(&admin).expect("a directory").flatten().map(|it| it.path()).collect();
        names.sort();
        names
    };
    let registered = listed();
    let dirty = Untouched::at(&sandbox.worktrees.place(&track(), &Label::of("dirty")));
    let dry = sandbox.worktrees.clean(&standings, true).await.expect("a look");
    assert!(dry.dry_run);
    dirty.holds();
    home.holds();
    assert_eq!((references(&sandbox), listed()), (refs, registered));

    let checkpoint = sandbox.commit("refs/masque/checkpoint/track/gone");
    let real = sandbox.worktrees.clean(&standings, false).await.expect("a look");
    assert_eq!(kinds(&real), kinds(&dry));
    let archived: Vec<String> = kinds(&real).into_iter().filter(|it| it.1).map(|it| it.0).collect();
    assert_eq!(archived, ["dirty", "lost"]);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    // The work of the one whose directory was deleted is in its checkpoint still.
    assert_eq!(sandbox.commit("refs/masque/checkpoint/track/gone"), checkpoint);
    // Twice is harmless.
    let refs = references(&sandbox);
    let again = sandbox.worktrees.clean(&standings, false).await.expect("a look");
    assert_eq!((again.removals.len(), references(&sandbox)), (0, refs));
    home.holds();
}

#[tokio::test]
async fn a_worktree_that_is_being_worked_in_is_busy() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let started = tokio::sync::Notify::new();
    let beat = |_| started.notify_one();
    let fifo = sandbox.dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let line = format!("cat '{}'", fifo.display());
    let setup = worktrees::Setup { command: Some(crate::sandbox::command(&line)), ..Default::default() };
    let look = async {
        started.notified().await;
        let action = remove(&sandbox, "T1", false).await;
        std::fs::write(&fifo, "go on\n").expect("a reader");
        action
    };
    let (outcome, action) = tokio::join!(sandbox.worktrees.setup(&worktree, &setup, &beat), look);
    assert_eq!(action, kept(KeptReason::Busy));
    assert!(outcome.expect("it ran").passed());
    assert_eq!(remove(&sandbox, "T1", false).await, RemovalAction::Removed);
}

#[tokio::test]
async fn what_is_not_ours_stays() {
    let sandbox = Sandbox::new().await;
    let place = sandbox.worktrees.place(&track(), &Label::of("notes"));
    write(&place, "notes.txt", "of somebody\n");
    write(place.parent().expect("a parent"), "file.txt", "of somebody\n");
    let standings = [Sandbox::ended("notes"), Sandbox::ended("file.txt")];
    let cleaned = sandbox.worktrees.clean(&standings, false).await.expect("a look");
    assert_eq!(cleaned.removals.len(), 2);
    assert!(cleaned.removals.iter().all(|it| it.action == kept(KeptReason::Foreign)), "{cleaned:?}");
    assert_eq!(read(&place, "notes.txt"), "of somebody\n");
}

#[tokio::test]
async fn checkouts_and_the_integration_tree_go_with_their_track() {
    let sandbox = Sandbox::new().await;
    let into = sandbox.integration().await;
    let ticket = sandbox.ticket("T1", &sandbox.head(), &[("b.txt", Some("b\n"))]);
    let line = "mkdir -p ignored/locked && touch ignored/locked/x && chmod 500 ignored/locked";
    let end = sandbox.worktrees.integrate(&into, &ticket, Some(&check(line)), &ignore).await;
    assert!(matches!(end.expect("an end"), worktrees::Integrated::Merged { .. }));
    // A process that was killed in a check leaves its checkout.
    let checkout = sandbox.worktrees.checkout(&track(), &Label::of("T1"), &ticket.head).await.expect("one");
    let (path, target) = (checkout.path().to_path_buf(), sandbox.target().await);
    let integration = TicketStanding { ticket: Label::integration(), ..Sandbox::ended("T1") };
    let standings = [Sandbox::ended("T1"), integration];
    sandbox.worktrees.clean(&standings[..1], false).await.expect("a look");
    assert!(path.exists(), "its process is alive");
    drop(checkout);
    let cleaned = sandbox.worktrees.clean(&standings, false).await.expect("a look");
    assert_eq!(cleaned.removals.len(), 1);
    assert_eq!(cleaned.removals[0].action, RemovalAction::Removed, "{cleaned:?}");
    assert!(!path.exists());
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(sandbox.target().await, target);
}
