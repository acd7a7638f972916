//! Settings, environments and repositories that nobody expects.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use worktrees::{Error, GitProgram, Repository};

use crate::sandbox::{Sandbox, git, run, start, write};
use crate::whole_life::{AGAIN, live};

/// Settings of a user who signs, hooks and rewrites everything.
const SETTINGS: &[(&str, &str)] = &[
    ("commit.gpgSign", "true"),
    ("tag.gpgSign", "true"),
    ("gpg.program", "/bin/false"),
    ("commit.template", "/nonexistent"),
    ("commit.cleanup", "scissors"),
    ("commit.verbose", "true"),
    ("merge.ff", "only"),
    ("merge.conflictStyle", "zdiff3"),
    ("merge.renames", "false"),
    ("pull.rebase", "true"),
    ("rebase.autoStash", "true"),
    ("user.useConfigOnly", "true"),
    ("core.autocrlf", "true"),
    ("core.safecrlf", "true"),
    ("core.quotePath", "true"),
    ("core.splitIndex", "true"),
    ("core.untrackedCache", "true"),
    ("core.fsmonitor", "/bin/false"),
    ("core.pager", "/bin/false"),
    ("core.editor", "/bin/false"),
    ("core.logAllRefUpdates", "false"),
    ("index.version", "4"),
    ("feature.manyFiles", "true"),
    ("diff.noprefix", "true"),
    ("diff.external", "/bin/false"),
    ("diff.renames", "copies"),
    ("diff.orderFile", "/nonexistent"),
    ("color.ui", "always"),
    ("column.ui", "always"),
    ("status.showUntrackedFiles", "no"),
    ("status.relativePaths", "true"),
    ("status.branch", "true"),
    ("status.short", "true"),
    ("log.showSignature", "true"),
    ("log.date", "relative"),
    ("format.pretty", "oneline"),
    ("i18n.commitEncoding", "ISO-8859-1"),
    ("i18n.logOutputEncoding", "ISO-8859-1"),
    ("branch.autoSetupMerge", "always"),
    ("checkout.defaultRemote", "nowhere"),
    ("checkout.guess", "true"),
    ("worktree.guessRemote", "true"),
    ("submodule.recurse", "true"),
    ("protocol.allow", "never"),
    ("gc.auto", "1"),
    ("fetch.prune", "true"),
    ("rerere.enabled", "false"),
    ("receive.denyCurrentBranch", "refuse"),
    ("alias.status", "!exit 1"),
    ("alias.worktree", "!exit 1"),
];

/// Every hook of a repository, failing and leaving a trace.
fn hook_everything(sandbox: &Sandbox) {
    let trace = sandbox.dir.path().join("hooked");
    let hooks = [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "pre-rebase",
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "post-rewrite",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
    ];
    let own = sandbox.dir.path().join("hooks");
    for directory in [&sandbox.top.join(".git/hooks"), &own] {
        for hook in hooks {
            write(directory, hook, format!("#!/bin/sh\necho {hook} >> '{}'\nexit 1\n", trace.display()));
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory.join(hook), mode).expect("a mode");
        }
    }
}

#[tokio::test]
async fn the_users_settings_change_nothing() {
    let sandbox = Sandbox::new().await;
    for (name, value) in SETTINGS {
        sandbox.git(&["config", name, value]);
    }
    live(&sandbox).await;
}

#[tokio::test]
async fn no_hook_of_the_user_runs() {
    for is_set in [false, true] {
        let sandbox = Sandbox::new().await;
        hook_everything(&sandbox);
        let own = sandbox.dir.path().join("hooks");
        // What the sandbox does with git on its own is not the subject.
        let trace = sandbox.dir.path().join("hooked");
        if is_set {
            sandbox.git(&["config", "core.hooksPath", own.to_str().expect("text")]);
        }
        let worktree = sandbox.worktree("T0").await;
        write(worktree.path(), "work.txt", "work\n");
        sandbox.worktrees.checkpoint(&worktree).await.expect("a checkpoint");
        let head = sandbox.worktrees.commit(&worktree, "Work").await.expect("a commit");
        let into = sandbox.integration().await;
        let ticket = worktrees::Ticket { label: worktree.ticket().clone(), base: into.base().clone(), head };
        let check =
            crate::sandbox::check("git commit --quiet --allow-empty -m x && git checkout --quiet HEAD~1");
        let done = sandbox.worktrees.integrate(&into, &ticket, Some(&check), &crate::sandbox::ignore).await;
        let done = done.expect("an end");
        assert!(matches!(done, worktrees::Integrated::Merged { .. }), "{done:?}");
        sandbox.worktrees.finish(&crate::sandbox::track(), "main").await.expect("an end");
        sandbox.worktrees.remove(&Sandbox::ended("T0"), false).await.expect("a removal");
        assert!(!trace.exists(), "{}", std::fs::read_to_string(&trace).unwrap_or_default());
    }
}

#[tokio::test]
async fn the_environment_of_the_users_git_changes_nothing() {
    let sandbox = Sandbox::new().await;
    let decoy = sandbox.dir.path().join("decoy");
    start(&decoy);
    let settings = sandbox.dir.path().join("settings");
    write(sandbox.dir.path(), "settings", "[commit]\n\tgpgSign = true\n[merge]\n\tff = only\n");
    let mut again = std::process::Command::new(std::env::current_exe().expect("this program"));
    again.args(["--exact", "whole_life::a_ticket_lives", "--nocapture"]).env(AGAIN, "1");
    again.env("GIT_DIR", decoy.join(".git")).env("GIT_WORK_TREE", &decoy);
    again.env("GIT_INDEX_FILE", decoy.join("index")).env("GIT_CONFIG_GLOBAL", &settings);
    again.env("GIT_OBJECT_DIRECTORY", decoy.join(".git/objects")).env("GIT_COMMON_DIR", decoy.join(".git"));
    again.envs([
        ("GIT_NAMESPACE", "elsewhere"),
        ("GIT_PREFIX", "docs/"),
        ("GIT_EDITOR", "false"),
        ("GIT_EXTERNAL_DIFF", "false"),
        ("GIT_PAGER", "false"),
        ("GIT_TRACE", "2"),
        ("GIT_AUTHOR_DATE", "never"),
        ("GIT_COMMITTER_DATE", "never"),
        ("GIT_AUTHOR_NAME", ""),
        ("GIT_DEFAULT_HASH", "sha256"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_ICASE_PATHSPECS", "1"),
        ("GIT_CONFIG_PARAMETERS", "'core.bare'='true'"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.bare"),
        ("GIT_CONFIG_VALUE_0", "true"),
        ("LANG", "de_DE.UTF-8"),
        ("LANGUAGE", "de"),
    ]);
    let done = again.output().expect("it runs");
    let text = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && text.contains("1 passed"), "{text}{errors}");
    let refs = git(&decoy, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!((refs.as_str(), git(&decoy, &["status", "--porcelain"])), ("refs/heads/main", String::new()));
}

#[tokio::test]
async fn odd_names_of_directories_change_nothing() {
    for name in ["-rf $(touch x) quote'\"s", "line\nfeed ünï:cödé"] {
        live(&Sandbox::named(name).await).await;
    }
}

#[tokio::test]
async fn a_directory_and_a_file_without_utf_8_change_nothing() {
    let sandbox = Sandbox::named(std::ffi::OsStr::from_bytes(b"re\xffpo")).await;
    std::fs::write(sandbox.top.join(std::ffi::OsStr::from_bytes(b"od\xfed.txt")), "odd\n").expect("a file");
    sandbox.commit_all("An odd name");
    let sandbox = Sandbox { worktrees: sandbox.again().await, ..sandbox };
    live(&sandbox).await;
    assert!(sandbox.top.join(std::ffi::OsStr::from_bytes(b"od\xfed.txt")).exists());
}

#[tokio::test]
async fn a_linked_worktree_of_the_user_is_a_checkout_like_any_other() {
    let sandbox = Sandbox::new().await;
    let linked = sandbox.dir.path().join("linked");
    sandbox.git(&["worktree", "add", "--quiet", linked.to_str().expect("text"), "-b", "side"]);
    let main =
        crate::untouched::Untouched::except(&sandbox.top, &["refs/heads/side", "logs/refs/heads/side"]);
    let Sandbox { dir, top, .. } = sandbox;
    live(&Sandbox::around(dir, &linked).await).await;
    drop(top);
    drop(main);
}

#[tokio::test]
async fn a_bare_repository_has_worktrees_through_a_checkout_of_it() {
    let sandbox = Sandbox::new().await;
    let bare = sandbox.dir.path().join("bare.git");
    let (from, to) = (sandbox.top.to_str().expect("text"), bare.to_str().expect("text"));
    git(sandbox.dir.path(), &["clone", "--quiet", "--bare", from, to]);
    let repository = crate::sandbox::repository(&bare).await;
    assert_eq!(repository.top(), None);
    assert!(matches!(repository.base(), Err(Error::BareRepository { .. })));
    assert!(matches!(repository.branch(), Err(Error::BareRepository { .. })));
    let linked = sandbox.dir.path().join("linked");
    git(&bare, &["worktree", "add", "--quiet", linked.to_str().expect("text"), "main"]);
    live(&Sandbox::around(sandbox.dir, &linked).await).await;
}

#[tokio::test]
async fn a_shallow_clone_is_enough() {
    let sandbox = Sandbox::new().await;
    for number in 0..3 {
        sandbox.write("a.txt", format!("{number}\n"));
        sandbox.commit_all("More");
    }
    let clone = sandbox.dir.path().join("clone");
    let from = format!("file://{}", sandbox.top.display());
    let to = clone.to_str().expect("text");
    git(sandbox.dir.path(), &["clone", "--quiet", "--depth=1", &from, to]);
    assert_eq!(git(&clone, &["rev-list", "--count", "HEAD"]), "1");
    live(&Sandbox::around(sandbox.dir, &clone).await).await;
}

#[tokio::test]
async fn a_repository_without_a_commit_or_a_branch_says_so() {
    let sandbox = Sandbox::new().await;
    let empty = sandbox.dir.path().join("empty");
    std::fs::create_dir(&empty).expect("a directory");
    let program = GitProgram::find().await.expect("git");
    assert!(Repository::open(&program, &empty).await.expect("a look").is_none());
    git(&empty, &["init", "--quiet", "--initial-branch=main"]);
    let repository = crate::sandbox::repository(&empty).await;
    assert!(matches!(repository.base(), Err(Error::NoCommit { .. })));
    assert_eq!(repository.branch().expect("a branch"), "refs/heads/main");
    sandbox.git(&["checkout", "--quiet", "--detach"]);
    let repository = crate::sandbox::repository(&sandbox.top.join("docs")).await;
    assert!(matches!(repository.branch(), Err(Error::DetachedHead { .. })));
    assert_eq!(repository.top(), Some(&*sandbox.top));
    assert!(Repository::open(&program, Path::new("/nonexistent")).await.is_err());
    // One that git cannot read is not taken for none.
    write(&empty, ".git/HEAD", "nonsense\n");
    assert!(Repository::open(&program, &empty).await.is_err());
}

#[tokio::test]
async fn words_of_other_encodings_survive() {
    let sandbox = Sandbox::new().await;
    for name in ["i18n.commitEncoding", "i18n.logOutputEncoding"] {
        sandbox.git(&["config", name, "ISO-8859-1"]);
    }
    let (into, base) = (sandbox.integration().await, sandbox.head());
    let first = sandbox.ticket("T1", &base, &[("b.txt", Some("b\n"))]);
    sandbox.worktrees.integrate(&into, &first, None, &crate::sandbox::ignore).await.expect("an end");
    // Two commits, so that they become one, the first of them at the beginning of time.
    let mut stream = String::new();
    for (number, when) in [(1, "1700000000 +0000"), (2, "7 +0000")] {
        stream.push_str(&format!(
            "commit refs/test/old\ncommitter Jürgen <j@x> {when}\ndata 8\nGrüße {number}\n"
        ));
        if number == 1 {
            stream.push_str(&format!("from {base}\n"));
        }
        stream.push_str(&format!("M 100644 inline {number}.txt\ndata 2\nx\n\n"));
    }
    let stream = stream.replace("data 8\n", &format!("data {}\n", "Grüße 1\n".len()));
    let done = run(&sandbox.top, &["fast-import", "--quiet"], stream.as_bytes());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let head = sandbox.commit("refs/test/old");
    let ticket = worktrees::Ticket { label: worktrees::Label::of("T2"), base, head };
    let end =
        sandbox.worktrees.integrate(&into, &ticket, None, &crate::sandbox::ignore).await.expect("an end");
    let worktrees::Integrated::Merged { commit, .. } = end else { panic!("{end:?}") };
    let text = sandbox.git(&[
        "-c",
        "i18n.logOutputEncoding=UTF-8",
        "log",
        "-1",
        "--format=%an %at %s",
        commit.as_str(),
    ]);
    assert_eq!(text, "Jürgen 7 T2: Grüße 2");
}
