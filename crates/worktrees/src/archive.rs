//! What is in a worktree and on no branch, kept in a reference before the worktree is removed.

use crate::checkpoint::{Stored, commit_tree_at};
use crate::git::Git;
use crate::overlooked::copy_index;
use crate::refs::{self, Update};
use crate::{CommitId, Label, Result, Tree, Worktrees};

impl Worktrees {
    /// Keeps files that were stored, the index if it differs from them and from the head, and commits that
    /// only the worktree names. Returns the reference, or `None` if there is nothing to keep. The
    /// same content gives the same reference, so that it can be repeated.
    pub(crate) async fn archive(
        &self,
        tree: &Tree,
        track: &Label,
        ticket: &Label,
        stored: Option<Stored>,
    ) -> Result<Option<String>> {
        let git = Git::bare(tree.program(), tree.admin());
        let lost = self.lost_commits(tree).await?;
        let index =
            self.staged(tree).await?.filter(|index| stored.as_ref().is_none_or(|it| it.tree != *index));
        if lost.is_empty() && stored.is_none() && index.is_none() {
            return Ok(None);
        }
        // A worker may have left a branch without a commit.
        let first = git.commit("HEAD").await?.or_else(|| lost.first().cloned());
        let date = match &first {
            Some(first) => git.call(["log", "-1", "--format=%ct"]).arg(first).line().await?,
            None => "0".to_owned(),
        };
        let date = format!("@{date} +0000");
        let files = match (stored, &first, &index) {
            (Some(stored), ..) => stored.tree,
            (None, Some(first), _) => git.tree_of(first).await?,
            (None, None, Some(index)) => index.clone(),
            (None, None, None) => return Ok(None),
        };
        let mut parents: Vec<CommitId> = first.iter().cloned().collect();
        if let Some(index) = &index {
            let above: Vec<&CommitId> = first.iter().collect();
            parents.push(commit_tree_at(&git, index, &above, "Index", &date).await?);
        }
        if lost.is_empty()
            && let Some(reference) = self.archived(track, ticket, &files, &parents).await?
        {
            return Ok(Some(reference));
        }
        parents.extend(lost.into_iter().filter(|commit| Some(commit) != first.as_ref()));
        let parents: Vec<&CommitId> = parents.iter().collect();
        let commit = commit_tree_at(&git, &files, &parents, "Archive", &date).await?;
        self.keep(track, ticket, &commit).await.map(Some)
    }

    /// The archive that an earlier call made of the same files above the same commits. Commits that it kept
    /// are not lost any more.
    async fn archived(
        &self,
        track: &Label,
        ticket: &Label,
        files: &CommitId,
        parents: &[CommitId],
    ) -> Result<Option<String>> {
        let git = self.repository().git();
        let call = git.call(["for-each-ref", "--format=%(refname) %(tree) %(parent)"]);
        let listed = call.arg(format!("{}/", refs::archive(track, ticket))).line().await?;
        let reference = |line: &str| {
            let mut words = line.split(' ');
            let (name, tree) = (words.next()?, words.next()?);
            let is_same =
                tree == files.as_str() && parents.iter().all(|it| words.next() == Some(it.as_str()));
            is_same.then(|| name.to_owned())
        };
        Ok(listed.lines().find_map(reference))
    }

    /// Keeps a commit among the archives of a ticket. Returns the reference.
    pub(crate) async fn keep(&self, track: &Label, ticket: &Label, commit: &CommitId) -> Result<String> {
        let reference = format!("{}/{}", refs::archive(track, ticket), &commit.as_str()[..12]);
        refs::change(self.repository(), &[Update::set(reference.clone(), commit)]).await?;
        Ok(reference)
    }

    /// True if a worktree whose files are those of its head has something to archive.
    pub(crate) async fn needs_archive(&self, tree: &Tree) -> Result<bool> {
        Ok(!self.lost_commits(tree).await?.is_empty() || self.staged(tree).await?.is_some())
    }

    /// The index as a tree. `None` if it is that of the head, has conflicts, or is missing.
    async fn staged(&self, tree: &Tree) -> Result<Option<CommitId>> {
        let index = self.temp_file()?;
        if !copy_index(tree, &index)? {
            return Ok(None);
        }
        // The directory of the worktree may be gone.
        let git = Git::bare(tree.program(), tree.admin()).with_index(&index);
        let is_whole = git.call(["ls-files", "--unmerged"]).ok().await?.is_empty();
        let staged = if is_whole { Some(git.call(["write-tree"]).id().await?) } else { None };
        match (staged, git.commit("HEAD").await?) {
            (Some(staged), Some(head)) if git.tree_of(&head).await? == staged => Ok(None),
            (staged, _) => Ok(staged),
        }
    }
}
