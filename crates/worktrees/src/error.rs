//! Failures of git, of commands and of the places where worktrees are.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use persona::{AsReport, Code, ErrorKind, Remedy, Subject};

/// The oldest git that works: `merge-tree --write-tree` came with it.
pub const LEAST_GIT: (u32, u32) = (2, 38);

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} cannot be started", program.display())]
    NoGit { program: PathBuf, source: io::Error },
    #[error("{found:?} is not a version of git that works, {} is the oldest", least())]
    GitTooOld { found: String },
    #[error("`{command}` failed in {}{}{}", place.display(), if words.is_empty() { "" } else { ": " }, words)]
    GitFailed { command: String, place: PathBuf, code: Option<i32>, words: String },
    #[error("`{command}` took longer than {} s in {}", limit.as_secs(), place.display())]
    GitTimeout { command: String, place: PathBuf, limit: Duration },
    #[error("`{command}` printed more than {most} bytes")]
    GitFlood { command: String, most: usize },
    #[error("`{command}` printed something unexpected")]
    GitUnclear { command: String },
    #[error("{} has no working tree", path.display())]
    BareRepository { path: PathBuf },
    #[error("the branch that is checked out in {} has no commit yet", path.display())]
    NoCommit { path: PathBuf },
    #[error("no branch is checked out in {}", path.display())]
    DetachedHead { path: PathBuf },
    #[error("the repository has no commit {commit}")]
    UnknownCommit { commit: String },
    #[error("the branch {branch} exists, and it does not belong to the track")]
    BranchTaken { branch: String },
    #[error("the branch {branch} is checked out in {}", path.display())]
    BranchCheckedOut { branch: String, path: PathBuf },
    #[error("{} is not the worktree that belongs there", path.display())]
    WorktreeUnsound { path: PathBuf },
    #[error("the worktree {} has changes that are not committed", path.display())]
    WorktreeDirty { path: PathBuf },
    #[error("another process works in {}", path.display())]
    WorktreeBusy { path: PathBuf },
    #[error("worktrees in {} would lie inside of the checkout {}", place.display(), checkout.display())]
    PlaceInCheckout { place: PathBuf, checkout: PathBuf },
    #[error("{} of {} ports are leased or in use", limit, limit)]
    NoPort { limit: u16 },
    #[error("{field}: {pattern:?} is not a pattern of paths")]
    Pattern { field: &'static str, pattern: String, source: Option<Box<globset::Error>> },
    #[error("{field}: at most {most}, not {count}")]
    TooMany { field: &'static str, most: usize, count: usize },
    #[error("{field}: the command line is empty, too long or holds a NUL character")]
    CommandLine { field: &'static str },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

fn least() -> String {
    format!("{}.{}", LEAST_GIT.0, LEAST_GIT.1)
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }

    /// Names the file of a failure.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::NoGit { .. } => Code::NoGit,
            Self::GitTooOld { .. } => Code::GitTooOld,
            Self::GitFailed { .. } | Self::GitFlood { .. } | Self::GitUnclear { .. } => Code::GitFailed,
            Self::GitTimeout { .. } => Code::GitTimeout,
            Self::UnknownCommit { .. } | Self::NoCommit { .. } => Code::UnknownCommit,
            Self::BareRepository { .. } | Self::DetachedHead { .. } => Code::WorktreeUnsound,
            Self::BranchTaken { .. } => Code::BranchTaken,
            Self::BranchCheckedOut { .. } => Code::BranchCheckedOut,
            Self::WorktreeUnsound { .. } => Code::WorktreeUnsound,
            Self::WorktreeDirty { .. } => Code::WorktreeDirty,
            Self::WorktreeBusy { .. } => Code::WorktreeBusy,
            Self::PlaceInCheckout { .. } => Code::PlaceInCheckout,
            Self::NoPort { .. } => Code::NoPort,
            Self::Pattern { .. } | Self::CommandLine { .. } => Code::InvalidValue,
            Self::TooMany { .. } => Code::TooLong,
            Self::File { source, .. } => Code::of_io(source),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::UnknownCommit { commit } => Subject::default().at_revision(commit),
            Self::BranchTaken { branch } => Subject { name: Some(branch.clone()), ..Subject::default() },
            Self::BranchCheckedOut { branch, path } => {
                Subject { name: Some(branch.clone()), ..Subject::file(shown(path)) }
            }
            Self::NoGit { program: path, .. }
            | Self::GitFailed { place: path, .. }
            | Self::GitTimeout { place: path, .. }
            | Self::BareRepository { path }
            | Self::NoCommit { path }
            | Self::DetachedHead { path }
            | Self::WorktreeUnsound { path }
            | Self::WorktreeDirty { path }
            | Self::WorktreeBusy { path }
            | Self::PlaceInCheckout { place: path, .. }
            | Self::File { path, .. } => Subject::file(shown(path)),
            Self::Pattern { field, .. } | Self::TooMany { field, .. } | Self::CommandLine { field } => {
                Subject::field(*field)
            }
            Self::GitTooOld { .. }
            | Self::GitFlood { .. }
            | Self::GitUnclear { .. }
            | Self::NoPort { .. } => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::NoGit { .. } | Self::GitTooOld { .. } => vec![Remedy::InstallGit { least: least() }],
            Self::GitTimeout { .. } | Self::WorktreeBusy { .. } => vec![Remedy::TryLater],
            Self::BranchTaken { .. } => vec![Remedy::OtherName],
            Self::BranchCheckedOut { path, .. } => vec![Remedy::LeaveBranch { path: shown(path) }],
            Self::PlaceInCheckout { .. } => vec![Remedy::OtherDirectory],
            Self::CommandLine { .. } => vec![Remedy::Shorten],
            Self::File { source, .. } => match Code::of_io(source) {
                Code::FileFull => vec![Remedy::MakeRoom],
                Code::FileDenied => vec![Remedy::CheckRights],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
