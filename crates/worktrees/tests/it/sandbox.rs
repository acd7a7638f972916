//! A user's repository in a temporary directory, and the worktrees of tickets beside it.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use tempfile::TempDir;
use worktrees::{
    Beat, Check, Command, CommitId, GitProgram, Integration, Label, Lease, Repository, Setup, Ticket,
    TicketStanding, Variables, Worktree, Worktrees,
};

/// Far more than any command of a test needs.
pub(crate) const LONG: Duration = Duration::from_secs(300);

/// A file's path and its new text; none removes it.
pub(crate) type Change<'a> = (&'a str, Option<&'a str>);

pub(crate) struct Sandbox {
    pub(crate) dir: TempDir,
    /// The user's checkout.
    pub(crate) top: PathBuf,
    pub(crate) worktrees: Worktrees,
}

pub(crate) fn track() -> Label {
    Label::of("track")
}

pub(crate) fn ignore(_: Beat) {}

impl Sandbox {
    /// A repository with one commit.
    pub(crate) async fn new() -> Self {
        Self::named("repo").await
    }

    pub(crate) async fn named(name: impl AsRef<OsStr>) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let top = dir.path().join(name.as_ref());
        start(&top);
        Self::around(dir, &top).await
    }

    /// Worktrees for a repository that is there.
    pub(crate) async fn around(dir: TempDir, top: &Path) -> Self {
        let top = top.canonicalize().expect("a checkout");
        let worktrees = open(&top, &dir.path().join("home")).await;
        Self { dir, top, worktrees }
    }

    /// The same repository as another process sees it, later.
    pub(crate) async fn again(&self) -> Worktrees {
        open(&self.top, &self.home()).await
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.top, args)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.top, path, text);
    }

    /// Everything in the user's checkout as a commit of its branch.
    pub(crate) fn commit_all(&self, message: &str) -> CommitId {
        commit_all(&self.top, message)
    }

    pub(crate) fn head(&self) -> CommitId {
        self.commit("HEAD")
    }

    pub(crate) fn commit(&self, name: &str) -> CommitId {
        commit(&self.top, name)
    }

    pub(crate) fn has_ref(&self, name: &str) -> bool {
        run(&self.top, &["rev-parse", "--verify", "--quiet", name], b"").status.success()
    }

    /// The file of a commit.
    pub(crate) fn shown(&self, commit: &CommitId, path: &str) -> String {
        self.git(&["show", &format!("{commit}:{path}")])
    }

    /// A new worktree, from the head of the user's checkout.
    pub(crate) async fn worktree(&self, ticket: &str) -> Worktree {
        let created = self.worktrees.create(&track(), &Label::of(ticket), &self.head()).await;
        created.expect("a worktree")
    }

    pub(crate) async fn integration(&self) -> Integration {
        self.worktrees.integration(&track(), &self.head()).await.expect("an integration branch")
    }

    pub(crate) async fn target(&self) -> CommitId {
        let integration = self.integration().await;
        self.worktrees.integration_head(&integration).await.expect("a target")
    }

    /// The work of a ticket as one commit above a base, made without a worktree. `None` deletes a file.
    pub(crate) fn ticket(&self, name: &str, base: &CommitId, files: &[Change<'_>]) -> Ticket {
        let mut stream = format!("commit refs/test/{name}\ncommitter Worker <worker@x> 1700000000 +0200\n");
        let message = format!("Work on {name}\n");
        stream.push_str(&format!("data {}\n{message}\nfrom {base}\n", message.len()));
        for (path, text) in files {
            match text {
                Some(text) => {
                    let mode = if path.ends_with(".sh") { "100755" } else { "100644" };
                    stream.push_str(&format!("M {mode} inline {path}\ndata {}\n{text}\n", text.len()));
                }
                None => stream.push_str(&format!("D {path}\n")),
            }
        }
        let done = run(&self.top, &["fast-import", "--quiet", "--force"], stream.as_bytes());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let head = self.commit(&format!("refs/test/{name}"));
        Ticket { label: Label::of(name), base: base.clone(), head }
    }

    /// A ticket that has ended and has no worker.
    pub(crate) fn ended(ticket: &str) -> TicketStanding {
        TicketStanding { track: track(), ticket: Label::of(ticket), ended: true, lease: Lease::Free }
    }
}

/// A new repository with a commit.
pub(crate) fn start(top: &Path) {
    std::fs::create_dir_all(top).expect("a directory");
    git(top, &["init", "--quiet", "--initial-branch=main"]);
    write(top, "a.txt", "one\ntwo\nthree\n");
    write(top, "docs/guide.txt", "A guide.\n");
    write(top, ".gitignore", "/ignored/\n.env\n*.log\n");
    commit_all(top, "First");
}

pub(crate) async fn open(top: &Path, home: &Path) -> Worktrees {
    Worktrees::open(repository(top).await, home).expect("a place for worktrees")
}

pub(crate) async fn repository(top: &Path) -> Repository {
    let git = GitProgram::find().await.expect("git");
    Repository::open(&git, top).await.expect("git likes it").expect("a repository")
}

/// The output of a git command that must succeed.
pub(crate) fn git(place: &Path, args: &[&str]) -> String {
    let done = run(place, args, b"");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
}

/// Git with an environment of its own, and without the settings of whoever runs the tests.
pub(crate) fn run(place: &Path, args: &[&str], input: &[u8]) -> Output {
    // By its path, a program starts without a copy of this process.
    static GIT: LazyLock<PathBuf> = LazyLock::new(|| {
        let path = std::env::var_os("PATH").expect("a search path");
        let found = std::env::split_paths(&path).map(|it| it.join("git")).find(|it| it.is_file());
        found.expect("git")
    });
    let mut command = std::process::Command::new(&*GIT);
    command.args(["-c", "protocol.file.allow=always"]).args(args).current_dir(place).env_clear();
    command.envs(["PATH", "HOME"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_EDITOR", "true")]);
    command.envs([("GIT_AUTHOR_NAME", "User"), ("GIT_AUTHOR_EMAIL", "user@x")]);
    command.envs([("GIT_COMMITTER_NAME", "User"), ("GIT_COMMITTER_EMAIL", "user@x")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("git starts");
    child.stdin.take().expect("an input").write_all(input).expect("git reads");
    child.wait_with_output().expect("git ends")
}

pub(crate) fn write(place: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = place.join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

pub(crate) fn read(place: &Path, path: &str) -> String {
    std::fs::read_to_string(place.join(path)).expect("a file")
}

pub(crate) fn commit_all(place: &Path, message: &str) -> CommitId {
    git(place, &["add", "--all"]);
    git(place, &["commit", "--quiet", "--allow-empty", "-m", message]);
    commit(place, "HEAD")
}

pub(crate) fn commit(place: &Path, name: &str) -> CommitId {
    CommitId::parse(&git(place, &["rev-parse", &format!("{name}^{{commit}}")])).expect("a name")
}

/// A command for `sh` that has time enough.
pub(crate) fn command(line: &str) -> Command {
    Command { line: line.to_owned(), time: LONG, variables: Variables::default() }
}

pub(crate) fn check(line: &str) -> Check {
    Check { command: command(line), setup: Setup::default(), files: Vec::new(), tests: Vec::new() }
}
