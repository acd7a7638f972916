//! The user's repository, as it is found.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::git::{Git, fields};
use crate::tree::Status;
use crate::{CommitId, Error, GitProgram, Result};

/// A repository of the user.
#[derive(Debug, Clone)]
pub struct Repository {
    program: GitProgram,
    /// The administrative directory of the user's working tree.
    git_dir: PathBuf,
    common_dir: PathBuf,
    top: Option<PathBuf>,
    /// Every working tree of the repository when it was opened.
    checkouts: Vec<PathBuf>,
    head: Head,
}

/// The head of a working tree when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The full name of the branch. `None` if the head is detached.
    pub branch: Option<String>,
    /// `None` if the branch has no commit yet.
    pub commit: Option<CommitId>,
}

/// A working tree that git knows.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) branch: Option<String>,
    /// True for the repository itself, if it has no working tree.
    pub(crate) is_bare: bool,
}

impl Repository {
    /// Finds the repository around a directory. `None` if there is none. Fails if there is one that git
    /// refuses, for example because another user owns it.
    pub async fn open(program: &GitProgram, path: &Path) -> Result<Option<Self>> {
        let path = path.canonicalize().map_err(Error::file(path))?;
        let git = Git::around(program, &path);
        let call = git.call(["rev-parse", "--absolute-git-dir"]);
        let failure = call.failure();
        let done = call.done().await?;
        if done.code != 0 {
            return if has_repository(&path) { Err(failure(done)) } else { Ok(None) };
        }
        let git_dir = canonical(&path_of(&done.output))?;
        let common = git.call(["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok().await?;
        let common_dir = canonical(&path_of(&common))?;
        let inside = git.call(["rev-parse", "--is-inside-work-tree"]).line().await?;
        let top = match inside.as_str() {
            "true" => Some(canonical(&path_of(&git.call(["rev-parse", "--show-toplevel"]).ok().await?))?),
            _ => None,
        };
        let head = head(&git).await?;
        let program = program.clone();
        let mut repository = Self { program, git_dir, common_dir, top, checkouts: Vec::new(), head };
        let listed = repository.listed().await?.into_iter().filter(|it| !it.is_bare);
        // The directory of a worktree may be gone.
        let paths = listed.map(|it| it.path.canonicalize().unwrap_or(it.path));
        repository.checkouts = repository.top.clone().into_iter().chain(paths).collect();
        Ok(Some(repository))
    }

    /// The top level of the user's checkout. `None` for a bare repository.
    pub fn top(&self) -> Option<&Path> {
        self.top.as_deref()
    }

    /// The commit that a track can start from: the head of the user's checkout. Fails if the repository is
    /// bare, or its branch has no commit yet.
    pub fn base(&self) -> Result<&CommitId> {
        match (&self.top, &self.head.commit) {
            (None, _) => Err(Error::BareRepository { path: self.common_dir.clone() }),
            (Some(path), None) => Err(Error::NoCommit { path: path.clone() }),
            (Some(_), Some(commit)) => Ok(commit),
        }
    }

    /// The full name of the branch that the user's checkout is on. Fails if the repository is bare, or the
    /// head is detached.
    pub fn branch(&self) -> Result<&str> {
        match (&self.top, &self.head.branch) {
            (None, _) => Err(Error::BareRepository { path: self.common_dir.clone() }),
            (Some(path), None) => Err(Error::DetachedHead { path: path.clone() }),
            (Some(_), Some(branch)) => Ok(branch),
        }
    }

    /// The directory that all working trees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The working trees of the repository when it was opened: the user's checkouts, and worktrees of
    /// tickets.
    pub(crate) fn checkouts(&self) -> &[PathBuf] {
        &self.checkouts
    }

    /// The head of the user's checkout when the repository was opened.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The commit that a name means, such as a branch, a tag or `HEAD~2`.
    pub async fn commit(&self, name: &str) -> Result<Option<CommitId>> {
        self.users_git().commit(name).await
    }

    /// The commit of a reference by its full name.
    pub async fn reference(&self, name: &str) -> Result<Option<CommitId>> {
        crate::refs::read(&self.git(), name).await
    }

    /// The number of files in the user's checkout that differ from its head, untracked ones included.
    pub async fn uncommitted(&self) -> Result<usize> {
        if self.top.is_none() {
            return Ok(0);
        }
        let Status { changed, untracked } = crate::tree::status(&self.users_git()).await?;
        Ok(changed.len() + untracked.len())
    }

    /// True if a commit is another one, or behind it.
    pub async fn is_ancestor(&self, ancestor: &CommitId, of: &CommitId) -> Result<bool> {
        self.git().is_ancestor(ancestor, of).await
    }

    pub(crate) fn program(&self) -> &GitProgram {
        &self.program
    }

    /// Git for objects and references.
    pub(crate) fn git(&self) -> Git {
        Git::bare(&self.program, &self.common_dir)
    }

    /// Git in the user's checkout, for reading.
    pub(crate) fn users_git(&self) -> Git {
        match &self.top {
            Some(top) => Git::in_tree(&self.program, &self.git_dir, top),
            None => self.git(),
        }
    }

    /// Every working tree that git knows.
    pub(crate) async fn listed(&self) -> Result<Vec<Listed>> {
        let output = self.git().call(["worktree", "list", "--porcelain", "-z"]).ok().await?;
        let mut listed: Vec<Listed> = Vec::new();
        for field in fields(&output) {
            if let Some(path) = field.strip_prefix(b"worktree ") {
                listed.push(Listed { path: path_of(path), branch: None, is_bare: false });
                continue;
            }
            let Some(last) = listed.last_mut() else { continue };
            last.is_bare |= field == b"bare";
            if let Some(branch) = field.strip_prefix(b"branch ") {
                last.branch = Some(String::from_utf8_lossy(branch).into_owned());
            }
        }
        Ok(listed)
    }

    /// The working tree in which a branch is being rebased. Git shows its head as detached.
    pub(crate) async fn rebasing(&self, branch: &str) -> Result<Option<PathBuf>> {
        for listed in self.listed().await? {
            // The directory of a worktree may be gone.
            if !listed.path.is_dir() {
                continue;
            }
            let git = Git::around(&self.program, &listed.path);
            let done = git.call(["rev-parse", "--absolute-git-dir"]).done().await?;
            if done.code != 0 {
                continue;
            }
            let git_dir = path_of(&done.output);
            let is_rebasing = ["rebase-merge", "rebase-apply"].iter().any(|name| {
                let head = std::fs::read_to_string(git_dir.join(name).join("head-name"));
                head.is_ok_and(|head| head.trim_end() == branch)
            });
            if is_rebasing {
                return Ok(Some(listed.path));
            }
        }
        Ok(None)
    }

    /// The working tree other than `except` that has a branch checked out.
    pub(crate) async fn holder_of(&self, branch: &str, except: Option<&Path>) -> Result<Option<PathBuf>> {
        let listed = self.listed().await?;
        let holds = |it: &Listed| it.branch.as_deref() == Some(branch) && Some(it.path.as_path()) != except;
        Ok(listed.into_iter().find(holds).map(|it| it.path))
    }
}

/// The head of the working tree that git runs in.
pub(crate) async fn head(git: &Git) -> Result<Head> {
    let branch = git.call(["symbolic-ref", "--quiet", "HEAD"]).answer().await?;
    Ok(Head { branch, commit: git.commit("HEAD").await? })
}

/// The path that git printed as a line.
pub(crate) fn path_of(output: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(output.strip_suffix(b"\n").unwrap_or(output)))
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(Error::file(path))
}

/// True if a repository is around a directory, whether git likes it or not.
fn has_repository(path: &Path) -> bool {
    let is_bare = |at: &Path| ["HEAD", "objects", "refs"].iter().all(|name| at.join(name).exists());
    path.ancestors().any(|at| at.join(".git").exists() || is_bare(at))
}
