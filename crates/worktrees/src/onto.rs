//! A ticket's worktree, brought onto a newer head of its target.

use serde::Serialize;

use crate::refs::{self, Update};
use crate::replay::replay;
use crate::tree::Marker;
use crate::{CommitId, Error, Label, Preflight, Result, Ticket, Tree, Worktree, Worktrees};

/// Names the head that a worktree is being moved to, and its new base, until it is there.
const MOVING: &str = "masque-moving";

/// What came of bringing a worktree onto a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Onto {
    /// The branch has the target behind it. The target is the new base.
    Moved { base: CommitId, head: CommitId },
    /// Nothing was changed: its commits conflict with the target.
    Conflicted { preflight: Preflight },
}

impl Worktrees {
    /// Rebases the branch of a worktree onto a target. Fails if it has changes that are not committed.
    /// Killed in between, it can be repeated; [`Worktrees::create`] finishes it, too.
    pub async fn bring_onto(&self, worktree: &mut Worktree, target: &CommitId) -> Result<Onto> {
        let (track, label) = (worktree.track().clone(), worktree.ticket().clone());
        let _lock = self.lock(&track, &label).await?;
        let tree = worktree.tree.clone();
        if let Some(base) = self.finish_moving(&tree, &track, &label).await? {
            worktree.set_base(base);
        }
        let git = self.repository().git();
        git.require(target).await?;
        if tree.is_busy() || !tree.status().await?.is_clean() {
            return Err(Error::WorktreeDirty { path: tree.path().to_path_buf() });
        }
        let head = self.own_head(&tree, &worktree.branch()).await?;
        if git.is_ancestor(target, worktree.base()).await? {
            return Ok(Onto::Moved { base: worktree.base().clone(), head });
        }
        let preflight = self.preflight(&track, target, &head).await?;
        let Some(merged) = &preflight.tree else { return Ok(Onto::Conflicted { preflight }) };
        let ticket = Ticket { label: label.clone(), base: worktree.base().clone(), head };
        let head = replay(&git, &ticket, target, merged).await?;
        tree.write_note(MOVING, format!("{head} {target}").as_bytes())?;
        self.finish_moving(&tree, &track, &label).await?;
        worktree.set_base(target.clone());
        Ok(Onto::Moved { base: target.clone(), head })
    }

    /// Ends a move that was begun; the new base, if there was one.
    pub(crate) async fn finish_moving(
        &self,
        tree: &Tree,
        track: &Label,
        ticket: &Label,
    ) -> Result<Option<CommitId>> {
        let Some(note) = tree.note(MOVING) else { return Ok(None) };
        let note = String::from_utf8_lossy(&note).into_owned();
        let (head, base) = note.split_once(' ').unwrap_or_default();
        let (Some(head), Some(base)) = (CommitId::parse(head), CommitId::parse(base)) else {
            return Err(Error::WorktreeUnsound { path: tree.path().to_path_buf() });
        };
        tree.remove_stale_locks();
        self.check_out_branch(tree, &refs::branch(track, ticket), &head).await?;
        refs::change(self.repository(), &[Update::set(refs::base(track, ticket), &base)]).await?;
        let marker = Marker::new(track, ticket, &base);
        tree.write_marker(&marker)?;
        tree.remove_note(MOVING);
        Ok(Some(base))
    }

    /// True if a move or a restoration did not end.
    pub(crate) fn is_half_way(tree: &Tree) -> bool {
        [MOVING, crate::checkpoint::RESTORING].iter().any(|note| tree.note(note).is_some())
    }

    /// The head of a worktree. Fails if its own branch has commits that the head lacks, because the
    /// worker left the branch: moving it would lose them.
    pub(crate) async fn own_head(&self, tree: &Tree, branch: &str) -> Result<CommitId> {
        let unsound = || Error::WorktreeUnsound { path: tree.path().to_path_buf() };
        let head = tree.git().commit("HEAD").await?.ok_or_else(unsound)?;
        match self.repository().reference(branch).await? {
            Some(tip) if !self.repository().is_ancestor(&tip, &head).await? => Err(unsound()),
            _ => Ok(head),
        }
    }

    /// Moves the branch of a worktree to a commit, and its files with it. A worker may have checked out
    /// another branch, perhaps one of the user: that one stays where it is.
    pub(crate) async fn check_out_branch(&self, tree: &Tree, branch: &str, commit: &CommitId) -> Result<()> {
        let git = tree.git();
        git.call(["checkout", "--quiet", "--force", "-B", refs::short(branch)])
            .arg(commit)
            .slow()
            .ok()
            .await?;
        git.call(["reset", "--quiet", "--hard"]).slow().ok().await?;
        self.fill_submodules(tree).await
    }
}
