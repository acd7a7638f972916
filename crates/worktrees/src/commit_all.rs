//! Everything that a worker left in its worktree, as a commit of its branch.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::checkpoint::commit_tree;
use crate::git::{Git, fields};
use crate::refs::{self, Old, Update};
use crate::repository;
use crate::{CommitId, Error, Result, Tree, Worktree, Worktrees, limits};

/// The beginning of a conflict in a file.
const MARKER: &[u8] = b"<<<<<<< ";

impl Worktrees {
    /// Commits everything in a worktree that git does not ignore, moves its branch there and checks it out.
    /// Returns the head, which is the old one if nothing differs from it. A merge under way whose conflicts
    /// are resolved ends as a merge: otherwise the branch would conflict with the same commits again. Killed in
    /// between, it can be repeated.
    ///
    /// A worker may have left its branch. The branch that it went to, perhaps one of the user, stays where
    /// it is; commits that only the ticket's branch has are archived.
    pub async fn commit(&self, worktree: &Worktree, subject: &str) -> Result<CommitId> {
        for _ in 0..limits::COMMIT_TRIES {
            if let Some(commit) = self.try_commit(worktree, subject).await? {
                return Ok(commit);
            }
            tokio::time::sleep(limits::LOCK_PAUSE).await;
        }
        Err(Error::WorktreeBusy { path: worktree.path().to_path_buf() })
    }

    /// `None` if another process moved the branch meanwhile: one that was paused, and has lost its claim.
    async fn try_commit(&self, worktree: &Worktree, subject: &str) -> Result<Option<CommitId>> {
        let (tree, branch) = (worktree.tree(), worktree.branch());
        let git = tree.git();
        let unsound = || Error::WorktreeUnsound { path: tree.path().to_path_buf() };
        let at = repository::head(&git).await?;
        let head = at.commit.ok_or_else(unsound)?;
        let stored = self.store_files(tree).await?;
        let tip = self.repository().reference(&branch).await?;
        let merged = merged_heads(tree, &git, &head).await?;
        let parents: Vec<&CommitId> = [&head].into_iter().chain(&merged).collect();
        let commit = match &tip {
            _ if merged.is_empty() && git.tree_of(&head).await? == stored.tree => head.clone(),
            // A killed call made it.
            Some(tip) if is_above(&git, tip, &parents, &stored.tree).await? => tip.clone(),
            _ => commit_tree(&git, &stored.tree, &parents, subject).await?,
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
            return Ok(None);
        }
        self.settle(worktree, at.branch.as_ref() == Some(&branch)).await?;
        Ok(Some(commit))
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

/// The commits that are being merged with the head, and that it does not have so far. None if a conflict is
/// left: the branch must conflict with them again.
async fn merged_heads(tree: &Tree, git: &Git, head: &CommitId) -> Result<Vec<CommitId>> {
    let Some(note) = tree.note("MERGE_HEAD") else { return Ok(Vec::new()) };
    if !is_resolved(tree, git).await? {
        return Ok(Vec::new());
    }
    let mut merged = Vec::new();
    for id in String::from_utf8_lossy(&note).lines().filter_map(CommitId::parse) {
        if !git.is_ancestor(&id, head).await? {
            merged.push(id);
        }
    }
    Ok(merged)
}

/// True if each conflict in the index was resolved in its file, which need not be staged. A conflict of more
/// than lines has to be staged, because the file does not tell.
async fn is_resolved(tree: &Tree, git: &Git) -> Result<bool> {
    let listed = git.call(["ls-files", "--unmerged", "-z"]).ok().await?;
    let mut sides: BTreeMap<&[u8], usize> = BTreeMap::new();
    for entry in fields(&listed) {
        let Some(at) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let is_side = entry[..at].ends_with(b"2") || entry[..at].ends_with(b"3");
        *sides.entry(&entry[at + 1..]).or_default() += usize::from(is_side);
    }
    let has_markers = |text: &[u8]| {
        text.contains(&0) || text.split(|byte| *byte == b'\n').any(|line| line.starts_with(MARKER))
    };
    Ok(sides.into_iter().all(|(path, sides)| {
        let file = std::fs::read(tree.path().join(OsStr::from_bytes(path)));
        sides == 2 && file.is_ok_and(|text| !has_markers(&text))
    }))
}

/// True if a commit has a tree and these parents.
async fn is_above(git: &Git, commit: &CommitId, parents: &[&CommitId], tree: &CommitId) -> Result<bool> {
    let found = git.call(["rev-parse", &format!("{commit}^@")]).line().await?;
    let is_same = found.lines().eq(parents.iter().map(|parent| parent.as_str()));
    Ok(is_same && git.tree_of(commit).await? == *tree)
}
