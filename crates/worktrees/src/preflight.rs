//! A merge that is tried without a working tree.

use serde::Serialize;

use crate::{CommitId, Label, Result, Worktrees};

mod conflicts;

mod history;
pub(crate) use history::tickets_since;

mod merge;
pub(crate) use merge::merge;

/// What came of trying to merge a head with a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preflight {
    pub target: CommitId,
    pub head: CommitId,
    /// The merged tree. `None` if there are conflicts.
    pub tree: Option<CommitId>,
    /// At most [`limits::CONFLICTS`].
    pub conflicts: Vec<Conflict>,
    /// Conflicts that are not listed.
    pub conflicts_left_out: usize,
}

/// A path that cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    pub path: String,
    /// As the common ancestor has it. `None` on a side that lacks the path.
    pub base: Option<Side>,
    pub target: Option<Side>,
    pub head: Option<Side>,
    /// The conflicting parts of the merged file, with markers. Empty if the conflict is not one of lines.
    pub marked: String,
    /// Tickets of the track that changed the path in the target since the common ancestor.
    pub with: Vec<Label>,
}

/// One side of a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    pub blob: CommitId,
    /// The beginning of the file. Empty if it is not text.
    pub text: String,
    /// Bytes behind the text that are left out.
    pub bytes_left_out: u64,
    pub is_binary: bool,
}

impl Preflight {
    pub fn is_clean(&self) -> bool {
        self.tree.is_some()
    }

    /// The tickets that conflicts are with, each once.
    pub fn with(&self) -> Vec<Label> {
        let mut labels: Vec<Label> = self.conflicts.iter().flat_map(|it| it.with.clone()).collect();
        labels.sort();
        labels.dedup();
        labels
    }
}

impl Worktrees {
    /// Tries to merge a head with a target, usually the head of the track's integration branch. Writes
    /// objects only.
    pub async fn preflight(&self, track: &Label, target: &CommitId, head: &CommitId) -> Result<Preflight> {
        let git = self.repository().git();
        git.require(target).await?;
        git.require(head).await?;
        let merge = merge(&git, target, head).await?;
        let (tree, conflicts, conflicts_left_out) = match merge.is_clean {
            true => (Some(merge.tree), Vec::new(), 0),
            false => {
                let (conflicts, left_out) = conflicts::read(&git, track, target, head, &merge).await?;
                (None, conflicts, left_out)
            }
        };
        Ok(Preflight { target: target.clone(), head: head.clone(), tree, conflicts, conflicts_left_out })
    }
}
