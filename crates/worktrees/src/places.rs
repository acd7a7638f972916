//! The places of worktrees, below one directory that the caller hands in.

use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::lock::FileLock;
use crate::{Error, Label, Repository, Result};

/// The worktrees of one repository.
#[derive(Debug, Clone)]
pub struct Worktrees {
    repository: Repository,
    /// Canonical, and never inside of a checkout of the repository.
    home: PathBuf,
    /// Below the home, the part of this repository.
    root: PathBuf,
}

impl Worktrees {
    /// The worktrees of a repository below a directory, which is made if it is missing. Fails if it is
    /// inside of any checkout of the repository, or of the repository's own directory.
    pub fn open(repository: Repository, home: &Path) -> Result<Self> {
        let intended = intended(home)?;
        let checkouts = repository.checkouts().iter().map(PathBuf::as_path);
        for checkout in checkouts.chain([repository.common_dir()]) {
            if intended.starts_with(checkout) {
                let checkout = checkout.to_path_buf();
                return Err(Error::PlaceInCheckout { place: intended, checkout });
            }
        }
        make_directory(&intended)?;
        let home = intended.canonicalize().map_err(Error::file(&intended))?;
        let digest = Sha256::digest(repository.common_dir().as_os_str().as_bytes());
        let key: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let root = home.join(key);
        for name in ["trees", "checkouts", "locks", "logs", "checks", "temp"] {
            make_directory(&root.join(name))?;
        }
        make_directory(&home.join("ports"))?;
        Ok(Self { repository, home, root })
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The directory of a ticket's worktree, whether it exists or not.
    pub fn place(&self, track: &Label, ticket: &Label) -> PathBuf {
        self.trees().join(track.as_str()).join(ticket.as_str())
    }

    pub(crate) fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    pub(crate) fn checkouts(&self) -> PathBuf {
        self.root.join("checkouts")
    }

    pub(crate) fn checks(&self) -> PathBuf {
        self.root.join("checks")
    }

    pub(crate) fn temp(&self) -> PathBuf {
        self.root.join("temp")
    }

    pub(crate) fn ports(&self) -> PathBuf {
        self.home.join("ports")
    }

    /// The log of a step of a ticket.
    pub(crate) fn log(&self, track: &Label, ticket: &Label, step: &str) -> Result<PathBuf> {
        let directory = self.root.join("logs").join(track.as_str()).join(ticket.as_str());
        make_directory(&directory)?;
        Ok(directory.join(format!("{step}.txt")))
    }

    fn lock_path(&self, track: &Label, ticket: &Label) -> Result<PathBuf> {
        let directory = self.root.join("locks").join(track.as_str());
        make_directory(&directory)?;
        Ok(directory.join(ticket.as_str()))
    }

    /// The lock of a ticket's checkout, beside that of its worktree. No label has a tilde.
    pub(crate) fn checkout_lock(&self, track: &Label, ticket: &Label) -> Result<PathBuf> {
        Ok(self.lock_path(track, ticket)?.with_file_name(format!("{ticket}~checkout")))
    }

    /// Keeps other processes of this machine out of a ticket's place.
    pub(crate) async fn lock(&self, track: &Label, ticket: &Label) -> Result<FileLock> {
        FileLock::take(&self.lock_path(track, ticket)?).await
    }

    /// The same without waiting.
    pub(crate) fn try_lock(&self, track: &Label, ticket: &Label) -> Result<Option<FileLock>> {
        FileLock::try_take(&self.lock_path(track, ticket)?)
    }
}

/// The canonical path of a directory that may not exist yet.
fn intended(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(Error::file(path))?;
    let mut missing = Vec::new();
    let mut at = absolute.as_path();
    loop {
        match (at.canonicalize(), at.parent(), at.file_name()) {
            (Ok(existing), ..) => {
                return Ok(missing.iter().rev().fold(existing, |path, name| path.join(name)));
            }
            (Err(source), Some(parent), Some(name)) if source.kind() == std::io::ErrorKind::NotFound => {
                missing.push(name.to_owned());
                at = parent;
            }
            (Err(source), ..) => return Err(Error::File { path: at.to_path_buf(), source }),
        }
    }
}

/// Makes a directory, and those above it, for this user alone: worktrees hold copies of private files.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::file(path))
}
