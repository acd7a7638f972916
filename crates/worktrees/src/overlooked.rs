//! Files that an index tells git to overlook. A worker, or a setting of the user, may have told it so, and
//! no status shows their changes; what Masque stores has them, and what it removes or replaces counts them.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::git::{Git, fields};
use crate::tree::Status;
use crate::{Error, Result, Tree};

/// Paths that are overlooked, each with a NUL byte behind it.
#[derive(Debug, Default)]
pub(crate) struct Overlooked {
    assumed: Vec<u8>,
    /// Those that are there. A sparse checkout lacks the others.
    skipped: Vec<u8>,
}

impl Overlooked {
    /// The paths in the index that git uses, below the top of a working tree.
    pub(crate) async fn find(git: &Git, top: &Path) -> Result<Self> {
        let mut found = Self::default();
        let listed = git.call(["ls-files", "-v", "-z"]).slow().ok().await?;
        for entry in fields(&listed) {
            let (Some(tag), Some(path)) = (entry.first(), entry.get(2..)) else { continue };
            let mut add = |to: fn(&mut Self) -> &mut Vec<u8>| {
                to(&mut found).extend_from_slice(path);
                to(&mut found).push(0);
            };
            if tag.is_ascii_lowercase() {
                add(|it| &mut it.assumed);
            }
            let is_there = || top.join(std::ffi::OsStr::from_bytes(path)).symlink_metadata().is_ok();
            if tag.eq_ignore_ascii_case(&b'S') && is_there() {
                add(|it| &mut it.skipped);
            }
        }
        Ok(found)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.assumed.is_empty() && self.skipped.is_empty()
    }

    /// Makes an index see them again.
    async fn reveal(self, git: &Git) -> Result<()> {
        for (flag, paths) in [("--no-assume-unchanged", self.assumed), ("--no-skip-worktree", self.skipped)] {
            if !paths.is_empty() {
                git.call(["update-index", flag, "-z", "--stdin"]).input(paths).slow().ok().await?;
            }
        }
        Ok(())
    }
}

impl Tree {
    /// What differs from the head, overlooked files included.
    pub(crate) async fn status(&self) -> Result<Status> {
        let overlooked = Overlooked::find(&self.git(), self.path()).await?;
        if overlooked.is_empty() {
            return crate::tree::status(&self.git()).await;
        }
        let failed = Error::file(self.admin());
        let index = tempfile::NamedTempFile::new_in(self.admin()).map_err(failed)?.into_temp_path();
        let git = self.git_with_copied_index(&index).await?;
        crate::tree::status(&git).await
    }

    /// Git with an index of our own, which knows which files are unchanged and which are not checked out,
    /// and overlooks none.
    pub(crate) async fn git_with_copied_index(&self, index: &Path) -> Result<Git> {
        let git = self.git().with_index(index);
        if copy_index(self, index)? {
            Overlooked::find(&git, self.path()).await?.reveal(&git).await?;
        } else {
            git.call(["read-tree", "HEAD"]).ok().await?;
        }
        Ok(git)
    }
}

/// Copies the index of a working tree. Returns false if it has none.
pub(crate) fn copy_index(tree: &Tree, to: &Path) -> Result<bool> {
    let own = tree.admin().join("index");
    let copy = || {
        std::fs::copy(&own, to)?;
        // Git reads a file again that changed when the index was written, however little: a later time
        // would hide such a change.
        File::options().write(true).open(to)?.set_modified(own.metadata()?.modified()?)
    };
    match copy() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::file(&own)(error)),
    }
}
