//! Work in progress in a reference, so that another machine can go on.

use std::os::unix::ffi::OsStrExt as _;

use serde::Serialize;

use crate::changes::shown;
use crate::git::{Call, Git, fields};
use crate::preflight::merge;
use crate::refs::{self, Update};
use crate::{CommitId, Error, Result, Tree, Worktree, Worktrees, limits};

/// Names the checkpoint that is being restored, until it is.
pub(crate) const RESTORING: &str = "masque-restoring";

/// The work in progress of a worktree as a commit above its head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    pub commit: CommitId,
    pub tree: CommitId,
    /// The head that it is based on.
    pub head: CommitId,
    pub reference: String,
    /// Untracked paths that are not in it: repositories of their own, and files over
    /// [`limits::UNTRACKED_BYTES`].
    pub skipped: Vec<String>,
}

/// The files of a working tree, stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) tree: CommitId,
    pub(crate) skipped: Vec<String>,
}

impl Worktrees {
    /// Stores everything in the worktree that git does not ignore in `refs/masque/checkpoint/…`, without
    /// changing the worktree or its index. Without a difference the last checkpoint stays.
    pub async fn checkpoint(&self, worktree: &Worktree) -> Result<Checkpoint> {
        let tree = &worktree.tree;
        let Some(head) = worktree.head().await? else {
            return Err(Error::WorktreeUnsound { path: tree.path().to_path_buf() });
        };
        let stored = self.store_files(tree).await?;
        let reference = refs::checkpoint(worktree.track(), worktree.ticket());
        tree.has_checkpoint()?;
        let commit = match self.last(&reference, &stored.tree, &head).await? {
            Some(last) => last,
            None => {
                let commit = commit_tree(&tree.git(), &stored.tree, &[&head], "Work in progress").await?;
                refs::change(self.repository(), &[Update::set(reference.clone(), &commit)]).await?;
                commit
            }
        };
        Ok(Checkpoint { commit, tree: stored.tree, head, reference, skipped: stored.skipped })
    }

    /// The checkpoint of the same files above the same head.
    async fn last(&self, reference: &str, tree: &CommitId, head: &CommitId) -> Result<Option<CommitId>> {
        let git = self.repository().git();
        let Some(last) = refs::read(&git, reference).await? else { return Ok(None) };
        let parent = git.commit(&format!("{last}^")).await?;
        let is_same = parent.as_ref() == Some(head) && git.tree_of(&last).await? == *tree;
        Ok(is_same.then_some(last))
    }

    /// Brings a checkpoint's files into a worktree that has no changes, as changes above its head. Moves
    /// the branch to the checkpoint's head if that is ahead; if the branch has other commits, their changes
    /// and those of the checkpoint are merged. Does nothing if everything was committed since. Killed in
    /// between, it can be repeated.
    ///
    /// Fails if the worktree has changes, or the branch's commits conflict with the checkpoint.
    pub async fn restore(&self, worktree: &Worktree, checkpoint: &CommitId) -> Result<()> {
        let tree = &worktree.tree;
        let git = tree.git();
        git.require(checkpoint).await?;
        let _lock = self.lock(worktree.track(), worktree.ticket()).await?;
        // One that was begun would be taken for changes.
        self.finish_restoring(tree, &worktree.branch()).await?;
        if self.last_checkpoint(worktree).await?.is_none() {
            return tree.has_checkpoint();
        }
        let dirty = || Error::WorktreeDirty { path: tree.path().to_path_buf() };
        if !tree.status().await?.is_clean() {
            return if self.is_restored(tree, checkpoint).await? {
                tree.has_checkpoint()
            } else {
                Err(dirty())
            };
        }
        let parent = format!("{checkpoint}^");
        let Some(below) = git.commit(&parent).await? else {
            return Err(Error::UnknownCommit { commit: parent });
        };
        let head = self.own_head(tree, &worktree.branch()).await?;
        let wanted = match git.is_ancestor(&head, &below).await? {
            true => checkpoint.clone(),
            false => {
                let merge = merge(&git, &head, checkpoint).await?;
                if !merge.is_clean {
                    return Err(dirty());
                }
                commit_tree(&git, &merge.tree, &[&head], "Work in progress").await?
            }
        };
        tree.write_note(RESTORING, wanted.as_str().as_bytes())?;
        self.finish_restoring(tree, &worktree.branch()).await
    }

    /// True if the files are those of a checkpoint, above its head.
    async fn is_restored(&self, tree: &Tree, checkpoint: &CommitId) -> Result<bool> {
        let git = tree.git();
        let below = git.commit(&format!("{checkpoint}^")).await?;
        Ok(below == git.commit("HEAD").await?
            && git.tree_of(checkpoint).await? == self.store_files(tree).await?.tree)
    }

    /// Ends a restoration that was begun, if one was.
    pub(crate) async fn finish_restoring(&self, tree: &Tree, branch: &str) -> Result<()> {
        let Some(note) = tree.note(RESTORING) else { return Ok(()) };
        let unsound = || Error::WorktreeUnsound { path: tree.path().to_path_buf() };
        let checkpoint = CommitId::parse(&String::from_utf8_lossy(&note)).ok_or_else(unsound)?;
        let git = tree.git();
        let below = git.commit(&format!("{checkpoint}^")).await?.ok_or_else(unsound)?;
        tree.remove_stale_locks();
        // The index of the checkpoint writes its files; that of its head makes them changes again.
        self.check_out_branch(tree, branch, &below).await?;
        git.call(["read-tree", "--reset", "-u"]).arg(&checkpoint).slow().ok().await?;
        git.call(["reset", "--quiet", "--mixed"]).slow().ok().await?;
        tree.has_checkpoint()?;
        tree.remove_note(RESTORING);
        Ok(())
    }

    /// The last checkpoint of a ticket. `None` if there was none since everything was committed.
    pub async fn last_checkpoint(&self, worktree: &Worktree) -> Result<Option<CommitId>> {
        self.repository().reference(&refs::checkpoint(worktree.track(), worktree.ticket())).await
    }

    /// Stores the files of a working tree as a tree, through an index of our own.
    pub(crate) async fn store_files(&self, tree: &Tree) -> Result<Stored> {
        let index = self.temp_file()?;
        let git = tree.git_with_copied_index(&index).await?;
        let (added, skipped) = untracked(tree).await?;
        // Files that sparse patterns leave out count, too, once they are there.
        git.call(["add", "--update", "--sparse", "--", "."]).slow().ok().await?;
        let mut names = Vec::new();
        for path in added {
            names.extend_from_slice(&path);
            names.push(0);
        }
        git.call(["update-index", "--add", "--remove", "-z", "--stdin"]).input(names).slow().ok().await?;
        let id = git.call(["write-tree"]).id().await?;
        Ok(Stored { tree: id, skipped })
    }
}

/// The untracked files that can be stored, and the paths of those that cannot.
pub(crate) async fn untracked(tree: &Tree) -> Result<(Vec<Vec<u8>>, Vec<String>)> {
    let others = tree.git().call(["ls-files", "--others", "--exclude-standard", "-z"]).slow().ok().await?;
    let (storable, others): (Vec<&[u8]>, Vec<&[u8]>) =
        fields(&others).partition(|path| is_storable(tree, path));
    Ok((storable.into_iter().map(<[u8]>::to_vec).collect(), others.into_iter().map(shown).collect()))
}

/// False for a repository of its own, of which git would keep a commit's name only, and a huge file.
fn is_storable(tree: &Tree, path: &[u8]) -> bool {
    let is_small = || {
        let file = tree.path().join(std::ffi::OsStr::from_bytes(path));
        file.symlink_metadata().is_ok_and(|metadata| metadata.len() <= limits::UNTRACKED_BYTES)
    };
    !path.ends_with(b"/") && is_small()
}

/// Makes a commit of Masque's own.
pub(crate) async fn commit_tree(
    git: &Git,
    tree: &CommitId,
    parents: &[&CommitId],
    subject: &str,
) -> Result<CommitId> {
    commit_call(git, tree, parents, subject).id().await
}

/// The same with a date, so that the same content gives the same commit.
pub(crate) async fn commit_tree_at(
    git: &Git,
    tree: &CommitId,
    parents: &[&CommitId],
    subject: &str,
    date: &str,
) -> Result<CommitId> {
    let call = commit_call(git, tree, parents, subject);
    call.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date).id().await
}

fn commit_call<'a>(git: &'a Git, tree: &CommitId, parents: &[&CommitId], subject: &str) -> Call<'a> {
    let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
    git.call(["commit-tree"]).arg(tree).args(parents).args(["-m", subject])
}
