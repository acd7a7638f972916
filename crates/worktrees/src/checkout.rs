//! Fresh checkouts, in which checks run: files of a commit, and nothing that a worker left.

use std::path::Path;

use crate::lock::FileLock;
use crate::tree::Marker;
use crate::{CommitId, Label, Result, Tree, Worktrees};

/// A fresh checkout of a commit. Call [`Checkout::remove`] at the end; what a killed process leaves is
/// removed by the next checkout for the same ticket, or by [`Worktrees::clean`].
#[derive(Debug)]
pub struct Checkout {
    tree: Tree,
    _lock: FileLock,
}

impl Checkout {
    pub fn path(&self) -> &Path {
        self.tree.path()
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub async fn remove(self) -> Result<()> {
        self.tree.remove().await
    }
}

impl Worktrees {
    /// Checks a commit out in a new directory, for a ticket.
    pub async fn checkout(&self, track: &Label, ticket: &Label, commit: &CommitId) -> Result<Checkout> {
        let lock = self.checkout_lock(track, ticket)?;
        let lock = FileLock::take(&lock).await?;
        self.repository().git().require(commit).await?;
        let path = self.checkouts().join(track.as_str()).join(ticket.as_str());
        self.discard(&path).await?;
        let marker = Marker::new(track, ticket, commit);
        let tree = self.add(&path, &["--detach", commit.as_str()], &marker).await?;
        Ok(Checkout { tree, _lock: lock })
    }

    /// Removes a checkout that a killed process left. Checkouts hold nothing of value.
    pub(crate) async fn discard(&self, path: &Path) -> Result<()> {
        match self.registered(path)? {
            Some(tree) => tree.remove().await,
            None => crate::tree::remove_directory(path),
        }
    }
}
