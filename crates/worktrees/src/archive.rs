//! What is in a worktree and on no branch, kept in a reference before the worktree is removed.

use crate::checkpoint::{Stored, commit_tree_at};
use crate::git::Git;
use crate::refs::{self, Update};
use crate::{CommitId, Label, Result, Tree, Worktrees, limits};

impl Worktrees {
    /// Keeps files that were stored, the index if it differs from them and from the head, and commits that
    /// only the worktree's reflog has. Returns the reference, or `None` if there is nothing to keep. The
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
        parents.extend(lost.into_iter().filter(|commit| Some(commit) != first.as_ref()));
        let parents: Vec<&CommitId> = parents.iter().collect();
        let commit = commit_tree_at(&git, &files, &parents, "Archive", &date).await?;
        self.keep(track, ticket, &commit).await.map(Some)
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

    /// The tips of commits that only the worktree has: in its head or its reflog, and in no reference.
    pub(crate) async fn lost_commits(&self, tree: &Tree) -> Result<Vec<CommitId>> {
        let git = Git::bare(tree.program(), tree.admin());
        let log = std::fs::read(tree.admin().join("logs/HEAD")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let mut named: Vec<CommitId> = git.commit("HEAD").await?.into_iter().collect();
        for line in log.lines().rev() {
            let mut ids = line.split(' ').map(CommitId::parse);
            let (old, new) = (ids.next().flatten(), ids.next().flatten());
            named.extend([new, old].into_iter().flatten().filter(|id| !id.is_null()));
        }
        let mut seen = std::collections::HashSet::new();
        named.retain(|id| seen.insert(id.clone()));
        named.truncate(limits::ARCHIVED_COMMITS);
        let named = existing(&self.repository().git(), &named).await?;
        if named.is_empty() {
            return Ok(Vec::new());
        }
        // A checkpoint is replaced by the next one, so it keeps nothing. Not `--all`: it counts the heads of
        // all worktrees, also of this one.
        let git = self.repository().git();
        let list = git
            .call(["rev-list"])
            .args(&named)
            .args(["--not", "--exclude=refs/masque/checkpoint/*", "--glob=refs/*"])
            .ok()
            .await?;
        let list = String::from_utf8_lossy(&list);
        let unreachable: std::collections::HashSet<&str> = list.lines().collect();
        let lost: Vec<&CommitId> = named.iter().filter(|id| unreachable.contains(id.as_str())).collect();
        if lost.len() < 2 {
            return Ok(lost.into_iter().cloned().collect());
        }
        let tips = git.call(["merge-base", "--independent"]).args(lost).ok().await?;
        Ok(String::from_utf8_lossy(&tips).lines().filter_map(CommitId::parse).collect())
    }

    /// The index as a tree. `None` if it is that of the head, has conflicts, or is missing.
    async fn staged(&self, tree: &Tree) -> Result<Option<CommitId>> {
        let index = self.temp_file()?;
        if std::fs::copy(tree.admin().join("index"), &index).is_err() {
            return Ok(None);
        }
        // The directory of the worktree may be gone.
        let git = Git::bare(tree.program(), tree.admin());
        let done = git.call(["write-tree"]).env("GIT_INDEX_FILE", &index).done().await?;
        let staged = if done.code == 0 { CommitId::parse(done.text().trim()) } else { None };
        match (staged, git.commit("HEAD").await?) {
            (Some(staged), Some(head)) if git.tree_of(&head).await? == staged => Ok(None),
            (staged, _) => Ok(staged),
        }
    }
}

/// Those of the names that are commits here.
async fn existing(git: &Git, named: &[CommitId]) -> Result<Vec<CommitId>> {
    let input: String = named.iter().map(|id| format!("{id}\n")).collect();
    let format = "--batch-check=%(objectname) %(objecttype)";
    let output = git.call(["cat-file", format]).input(input.into_bytes()).ok().await?;
    let output = String::from_utf8_lossy(&output);
    let commit = |line: &str| CommitId::parse(line.strip_suffix(" commit")?);
    Ok(output.lines().filter_map(commit).collect())
}
