//! Worktrees are made in their own place, on their own branch, or not at all.

use std::os::unix::fs::symlink;

use worktrees::{CommitId, Error, Label, Opened, Worktrees};

use crate::sandbox::{Sandbox, commit_all, git, open, read, repository, track, write};
use crate::untouched::Untouched;

#[tokio::test]
async fn a_worktree_has_a_branch_and_a_place_of_its_own() {
    let sandbox = Sandbox::new().await;
    sandbox.write("a.txt", "changed by the user\n");
    sandbox.write("new.txt", "untracked\n");
    let before = Untouched::at(&sandbox.top);
    let base = sandbox.head();
    let worktree = sandbox.worktree("T1").await;
    assert_eq!(worktree.opened(), Opened::Created);
    assert_eq!(worktree.branch(), "refs/heads/masque/track/T1");
    assert_eq!((worktree.base(), worktree.head().await.expect("a head")), (&base, Some(base.clone())));
    assert_eq!(worktree.path(), sandbox.worktrees.place(&track(), &Label::of("T1")));
    assert_eq!(read(worktree.path(), "a.txt"), "one\ntwo\nthree\n");
    assert_eq!(git(worktree.path(), &["symbolic-ref", "HEAD"]), worktree.branch());
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");

    // Another base changes nothing: the branch started from the first one.
    write(worktree.path(), "mine.txt", "work\n");
    let again = sandbox.again().await;
    let later = sandbox.ticket("other", &base, &[("z.txt", Some("z\n"))]).head;
    let reopened = again.create(&track(), &Label::of("T1"), &later).await.expect("a worktree");
    assert_eq!((reopened.opened(), reopened.base()), (Opened::Reopened, &base));
    assert_eq!(read(reopened.path(), "mine.txt"), "work\n");
    before.holds();
}

#[tokio::test]
async fn a_branch_of_somebody_else_is_never_taken_over() {
    let sandbox = Sandbox::new().await;
    for branch in ["masque/track/T1", "masque", "masque/track", "masque/track/T1/deeper"] {
        sandbox.git(&["branch", branch]);
        let before = Untouched::at(&sandbox.top);
        let error = sandbox.worktrees.create(&track(), &Label::of("T1"), &sandbox.head()).await;
        let Err(Error::BranchTaken { branch: taken }) = error else { panic!("{branch}: {error:?}") };
        assert_eq!(taken, branch);
        assert!(!sandbox.worktrees.place(&track(), &Label::of("T1")).exists());
        before.holds();
        sandbox.git(&["branch", "-D", branch]);
    }
    sandbox.worktree("T1").await;
}

#[tokio::test]
async fn a_branch_that_the_user_has_checked_out_stays_with_the_user() {
    let sandbox = Sandbox::new().await;
    sandbox.worktree("T1").await;
    sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a removal");
    sandbox.git(&["checkout", "--quiet", "masque/track/T1"]);
    let before = Untouched::at(&sandbox.top);
    let error = sandbox.worktrees.create(&track(), &Label::of("T1"), &sandbox.head()).await;
    let Err(Error::BranchCheckedOut { branch, path }) = error else { panic!("{error:?}") };
    assert_eq!((branch.as_str(), path), ("masque/track/T1", sandbox.top.clone()));
    before.holds();
}

#[tokio::test]
async fn a_place_inside_of_any_checkout_is_refused() {
    let sandbox = Sandbox::new().await;
    let linked = sandbox.dir.path().join("linked");
    sandbox.git(&["worktree", "add", "--quiet", linked.to_str().expect("text"), "-b", "side"]);
    let link = sandbox.dir.path().join("link");
    symlink(&sandbox.top, &link).expect("a link");
    let places = [
        sandbox.top.join("trees"),
        sandbox.top.clone(),
        sandbox.top.join(".git/trees/deep"),
        link.join("trees"),
        sandbox.top.join("docs/../trees"),
        linked.join("trees"),
        sandbox.worktree("T1").await.path().join("trees"),
    ];
    for from in [&sandbox.top, &linked] {
        for place in &places {
            let opened = Worktrees::open(repository(from).await, place);
            let is_refused = matches!(opened, Err(Error::PlaceInCheckout { .. }));
            assert!(is_refused, "{} from {}: {opened:?}", place.display(), from.display());
            assert!(!place.ends_with("trees") || !place.exists());
        }
    }
}

#[tokio::test]
async fn whatever_else_is_in_the_place_stays_there() {
    let sandbox = Sandbox::new().await;
    let before = Untouched::at(&sandbox.top);
    let create =
        async |ticket: &str| sandbox.worktrees.create(&track(), &Label::of(ticket), &sandbox.head()).await;
    let place = |ticket: &str| sandbox.worktrees.place(&track(), &Label::of(ticket));

    write(&place("full"), "notes.txt", "of somebody\n");
    assert!(matches!(create("full").await, Err(Error::WorktreeUnsound { .. })));
    assert_eq!(read(&place("full"), "notes.txt"), "of somebody\n");
    assert!(!sandbox.has_ref("refs/heads/masque/track/full"));

    symlink(&sandbox.top, place("link")).expect("a link");
    assert!(matches!(create("link").await, Err(Error::WorktreeUnsound { .. })));
    assert!(place("link").is_symlink());

    symlink(sandbox.dir.path().join("nowhere"), place("dangling")).expect("a link");
    assert!(matches!(create("dangling").await, Err(Error::WorktreeUnsound { .. })));

    std::fs::create_dir(place("empty")).expect("a directory");
    create("empty").await.expect("a worktree");
    before.holds();
}

#[tokio::test]
async fn a_worktree_that_points_elsewhere_is_not_used() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    let file = worktree.path().join(".git");
    std::fs::remove_file(&file).expect("it was there");
    std::fs::write(&file, format!("gitdir: {}/.git\n", sandbox.top.display())).expect("a file");
    let before = Untouched::at(&sandbox.top);
    let error = sandbox.worktrees.create(&track(), &Label::of("T1"), &sandbox.head()).await;
    assert!(matches!(error, Err(Error::WorktreeUnsound { .. })), "{error:?}");
    assert!(sandbox.worktrees.existing(&track(), &Label::of("T1")).await.expect("a look").is_none());
    let removal = sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a look");
    let kept = worktrees::RemovalAction::Kept { reason: worktrees::KeptReason::Foreign };
    assert_eq!(removal.expect("a worktree").action, kept);
    before.holds();
}

#[tokio::test]
async fn a_deleted_directory_is_made_again_with_its_commits() {
    let sandbox = Sandbox::new().await;
    let worktree = sandbox.worktree("T1").await;
    write(worktree.path(), "work.txt", "work\n");
    let head = commit_all(worktree.path(), "Work");
    std::fs::remove_dir_all(worktree.path()).expect("it was there");
    let again = sandbox.worktree("T1").await;
    assert_eq!((again.opened(), again.head().await.expect("a head")), (Opened::Recreated, Some(head)));
    assert_eq!(again.base(), &sandbox.head());
    assert_eq!(read(again.path(), "work.txt"), "work\n");
}

#[tokio::test]
async fn names_that_could_mean_something_else_do_not() {
    let sandbox = Sandbox::new().await;
    let first = sandbox.head();
    sandbox.write("a.txt", "later\n");
    let later = sandbox.commit_all("Second");
    sandbox.git(&["tag", "masque/track/T1", first.as_str()]);
    let worktree = sandbox.worktree("T1").await;
    assert_eq!(worktree.head().await.expect("a head"), Some(later));
    assert_eq!(git(worktree.path(), &["symbolic-ref", "HEAD"]), "refs/heads/masque/track/T1");
    // A ticket of the name of the integration branch is another place.
    let other = sandbox.worktree("integration").await;
    sandbox.integration().await;
    assert_ne!(other.branch(), "refs/heads/masque/track/integration");
}

#[tokio::test]
async fn an_unknown_base_makes_nothing() {
    let sandbox = Sandbox::new().await;
    let unknown = CommitId::parse(&"a".repeat(40)).expect("a name");
    let error = sandbox.worktrees.create(&track(), &Label::of("T1"), &unknown).await;
    assert!(matches!(error, Err(Error::UnknownCommit { .. })), "{error:?}");
    assert!(!sandbox.has_ref("refs/heads/masque/track/T1"));
    assert!(!sandbox.worktrees.place(&track(), &Label::of("T1")).exists());
}

#[tokio::test]
async fn two_at_once_get_one_worktree() {
    let sandbox = Sandbox::new().await;
    let (other, head) = (sandbox.again().await, sandbox.head());
    let (track, label) = (track(), Label::of("T1"));
    let (one, two) =
        tokio::join!(sandbox.worktrees.create(&track, &label, &head), other.create(&track, &label, &head));
    let (one, two) = (one.expect("a worktree"), two.expect("a worktree"));
    assert_eq!(one.path(), two.path());
    let mut opened = [one.opened(), two.opened()].map(|it| format!("{it:?}"));
    opened.sort();
    assert_eq!(opened, ["Created", "Reopened"]);
}

#[tokio::test]
async fn a_half_made_worktree_is_made_again_unless_it_holds_something() {
    let sandbox = Sandbox::new().await;
    for (ticket, file) in [("T1", None), ("T2", Some("notes.txt"))] {
        let worktree = sandbox.worktree(ticket).await;
        let admin = git(worktree.path(), &["rev-parse", "--absolute-git-dir"]);
        std::fs::remove_file(format!("{admin}/masque.json")).expect("a marker");
        if let Some(file) = file {
            write(worktree.path(), file, "of somebody\n");
        }
        let created = sandbox.worktrees.create(&track(), &Label::of(ticket), &sandbox.head()).await;
        match file {
            None => assert_eq!(git(created.expect("a worktree").path(), &["status", "--porcelain"]), ""),
            Some(file) => {
                assert!(matches!(created, Err(Error::WorktreeUnsound { .. })), "{created:?}");
                assert_eq!(read(worktree.path(), file), "of somebody\n");
            }
        }
    }
}

#[tokio::test]
async fn repositories_share_a_home_without_meeting() {
    let sandbox = Sandbox::new().await;
    let other = sandbox.dir.path().join("other");
    crate::sandbox::start(&other);
    let others = open(&other, &sandbox.home()).await;
    let head = crate::sandbox::commit(&other, "HEAD");
    let theirs = others.create(&track(), &Label::of("T1"), &head).await.expect("a worktree");
    let ours = sandbox.worktree("T1").await;
    assert_ne!(ours.path(), theirs.path());
    sandbox.worktrees.remove(&Sandbox::ended("T1"), false).await.expect("a removal");
    assert!(theirs.path().exists() && !ours.path().exists());
}
