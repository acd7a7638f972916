//! Everything that a worker left in its worktree, as a commit of its branch.

use crate::checkpoint::commit_tree;
use crate::git::Git;
use crate::refs::{self, Old, Update};
use crate::repository;
use crate::{CommitId, Error, Result, Worktree, Worktrees};

impl Worktrees {
    /// Commits everything in a worktree that git does not ignore, moves its branch there and checks it out.
    /// Returns the head, which is the old one if nothing differs from it. Killed in between, it can be
    /// repeated.
    ///
    /// A worker may have left its branch. The branch that it went to, perhaps one of the user, stays where
    /// it is; commits that only the ticket's branch has are archived.
    pub async fn commit(&self, worktree: &Worktree, subject: &str) -> Result<CommitId> {
        let (tree, branch) = (worktree.tree(), worktree.branch());
        let git = tree.git();
        let unsound = || Error::WorktreeUnsound { path: tree.path().to_path_buf() };
        let at = repository::head(&git).await?;
        let head = at.commit.ok_or_else(unsound)?;
        let stored = self.store_files(tree).await?;
        let tip = self.repository().reference(&branch).await?;
        let commit = match &tip {
            _ if git.tree_of(&head).await? == stored.tree => head.clone(),
            // A killed call made it.
            Some(tip) if is_above(&git, tip, &head, &stored.tree).await? => tip.clone(),
            _ => commit_tree(&git, &stored.tree, &[&head], subject).await?,
        };
        if let Some(tip) = &tip
            && !git.is_ancestor(tip, &commit).await?
        {
            self.keep(worktree.track(), worktree.ticket(), tip).await?;
        }
        // The commit has everything that a checkpoint could have.
        let checkpoint = refs::checkpoint(worktree.track(), worktree.ticket());
        let mut updates = vec![match &tip {
            Some(tip) => Update::swap(branch.clone(), &commit, tip),
            None => Update::create(branch.clone(), &commit),
        }];
        if self.last_checkpoint(worktree).await?.is_some() {
            updates.push(Update { name: checkpoint, new: None, old: Old::Any });
        }
        if !refs::change(self.repository(), &updates).await? {
            return Err(Error::WorktreeBusy { path: tree.path().to_path_buf() });
        }
        self.settle(worktree, at.branch.as_ref() == Some(&branch)).await?;
        Ok(commit)
    }

    /// Brings head and index of a worktree to its branch, whose files it has.
    async fn settle(&self, worktree: &Worktree, is_on_branch: bool) -> Result<()> {
        let tree = worktree.tree();
        let git = tree.git();
        tree.remove_stale_locks();
        if tree.is_busy() {
            self.quit(tree).await?;
        }
        if !is_on_branch {
            git.call(["symbolic-ref", "-m", "commit", "HEAD", &worktree.branch()]).ok().await?;
        }
        git.call(["reset", "--quiet", "--mixed"]).slow().ok().await?;
        tree.has_checkpoint()
    }
}

/// True if a commit has a tree and one parent.
async fn is_above(git: &Git, commit: &CommitId, parent: &CommitId, tree: &CommitId) -> Result<bool> {
    let parents = git.call(["rev-parse", &format!("{commit}^@")]).line().await?;
    Ok(parents == parent.as_str() && git.tree_of(commit).await? == *tree)
}
