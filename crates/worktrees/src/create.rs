//! Worktrees of tickets: made, found again, made again.

use std::path::Path;

use serde::Serialize;

use crate::refs::{self, Update};
use crate::tree::{Found, Marker};
use crate::{CommitId, Error, Label, Result, Tree, Worktrees, nested};

/// The worktree of a ticket.
#[derive(Debug, Clone)]
pub struct Worktree {
    pub(crate) tree: Tree,
    track: Label,
    ticket: Label,
    base: CommitId,
    opened: Opened,
}

/// How a worktree was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Opened {
    /// New, on a new branch.
    Created,
    /// As it was left.
    Reopened,
    /// Its directory was gone. The files are those of its branch; a checkpoint may have more. Stays so until
    /// the checkpoint is restored, or the worktree has changes.
    Recreated,
}

impl Worktree {
    pub fn path(&self) -> &Path {
        self.tree.path()
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn track(&self) -> &Label {
        &self.track
    }

    pub fn ticket(&self) -> &Label {
        &self.ticket
    }

    /// The full name of the branch.
    pub fn branch(&self) -> String {
        refs::branch(&self.track, &self.ticket)
    }

    /// The commit that the branch started from, which is not that of the call if the branch existed.
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    pub fn opened(&self) -> Opened {
        self.opened
    }

    pub(crate) fn set_base(&mut self, base: CommitId) {
        self.base = base;
    }

    /// The commit that is checked out.
    pub async fn head(&self) -> Result<Option<CommitId>> {
        self.tree.git().commit("HEAD").await
    }

    /// Variables for commands that run here, so that their git never opens an editor, never asks, runs no
    /// hooks of the repository, and learns how conflicts were resolved.
    pub fn variables() -> Vec<(String, String)> {
        let variables = [
            ("GIT_EDITOR", "true"),
            ("GIT_SEQUENCE_EDITOR", "true"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "rerere.enabled"),
            ("GIT_CONFIG_VALUE_0", "true"),
            ("GIT_CONFIG_KEY_1", "core.hooksPath"),
            ("GIT_CONFIG_VALUE_1", "/dev/null"),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }
}

impl Worktrees {
    /// Opens the worktree of a ticket: the existing one, or a new one on a new branch from `base`. Never
    /// falls back to the user's checkout: if the place holds something else, it fails and changes nothing.
    pub async fn create(&self, track: &Label, ticket: &Label, base: &CommitId) -> Result<Worktree> {
        let _lock = self.lock(track, ticket).await?;
        self.repository().git().require(base).await?;
        let path = self.place(track, ticket);
        let opened = match self.find(&path)? {
            Found::Complete(tree, marker) => {
                let is_ours = marker.track == track.as_str() && marker.ticket == ticket.as_str();
                if !is_ours {
                    return Err(Error::WorktreeUnsound { path });
                }
                return self.reopen(tree, marker, track, ticket).await;
            }
            Found::Foreign => return Err(Error::WorktreeUnsound { path }),
            Found::Nothing => Opened::Created,
            Found::Unfinished(tree) => {
                self.clear_unfinished(&tree, track, ticket, base).await?;
                Opened::Created
            }
            Found::Gone(tree) => {
                if nested::has_own_work(self, &tree).await? {
                    return Err(Error::WorktreeUnsound { path });
                }
                self.archive(&tree, track, ticket, None).await?;
                tree.remove().await?;
                Opened::Recreated
            }
        };
        let (base, is_new) = self.branch_of(track, ticket, base, &path).await?;
        let branch = refs::branch(track, ticket);
        self.not_checked_out(&branch, &path).await?;
        let lacks_checkpoint = self.repository().reference(&refs::checkpoint(track, ticket)).await?.is_some();
        let marker = Marker { lacks_checkpoint, ..Marker::new(track, ticket, &base) };
        let tree = self.add(&path, &[refs::short(&branch)], &marker).await?;
        let opened = match opened {
            Opened::Created if !is_new || lacks_checkpoint => Opened::Recreated,
            opened => opened,
        };
        Ok(Worktree { tree, track: track.clone(), ticket: ticket.clone(), base, opened })
    }

    /// Opens a worktree that is there, and finishes what a killed process began in it.
    async fn reopen(&self, tree: Tree, marker: Marker, track: &Label, ticket: &Label) -> Result<Worktree> {
        tree.remove_stale_locks();
        let base = self.finish_moving(&tree, track, ticket).await?.unwrap_or(marker.base);
        self.finish_restoring(&tree, &refs::branch(track, ticket)).await?;
        let lacks_checkpoint = tree.marker().is_some_and(|marker| marker.lacks_checkpoint);
        // With changes it was worked in since.
        let opened = match lacks_checkpoint && tree.status().await?.is_clean() {
            true => Opened::Recreated,
            false => Opened::Reopened,
        };
        Ok(Worktree { tree, track: track.clone(), ticket: ticket.clone(), base, opened })
    }

    /// The worktree of a ticket, if it is there and complete. [`Worktrees::create`] completes one.
    pub async fn existing(&self, track: &Label, ticket: &Label) -> Result<Option<Worktree>> {
        Ok(match self.find(&self.place(track, ticket))? {
            Found::Complete(tree, marker) if !Self::is_half_way(&tree) => Some(Worktree {
                tree,
                track: track.clone(),
                ticket: ticket.clone(),
                base: marker.base,
                opened: Opened::Reopened,
            }),
            _ => None,
        })
    }

    /// The commit that a ticket's branch starts from. It changes when the branch is brought onto a newer one.
    /// `None` if the ticket has no branch yet.
    pub async fn base_of(&self, track: &Label, ticket: &Label) -> Result<Option<CommitId>> {
        self.repository().reference(&refs::base(track, ticket)).await
    }

    async fn clear_unfinished(
        &self,
        tree: &Tree,
        track: &Label,
        ticket: &Label,
        base: &CommitId,
    ) -> Result<()> {
        if !tree.is_being_removed() {
            let branch = self.repository().reference(&refs::branch(track, ticket)).await?;
            self.prove_unused(tree, branch.as_ref().unwrap_or(base)).await?;
        }
        tree.remove().await
    }

    /// The base of a ticket's branch, which is made if it is missing. True if it is at its base.
    pub(crate) async fn branch_of(
        &self,
        track: &Label,
        ticket: &Label,
        base: &CommitId,
        path: &Path,
    ) -> Result<(CommitId, bool)> {
        let branch = refs::branch(track, ticket);
        let mark = refs::base(track, ticket);
        let repository = self.repository();
        match (repository.reference(&branch).await?, repository.reference(&mark).await?) {
            (Some(head), Some(base)) => {
                let is_new = head == base;
                Ok((base, is_new))
            }
            (Some(_), None) => Err(Error::BranchTaken { branch: refs::short(&branch).to_owned() }),
            (None, _) => {
                if let Some(taken) = self.in_the_way(track, &branch).await? {
                    return Err(Error::BranchTaken { branch: refs::short(&taken).to_owned() });
                }
                let updates = [Update::create(branch.clone(), base), Update::set(mark, base)];
                match refs::change(repository, &updates).await? {
                    true => Ok((base.clone(), true)),
                    // Another machine made it at the same time.
                    false => Err(Error::WorktreeBusy { path: path.to_path_buf() }),
                }
            }
        }
    }

    /// A branch beside which another one cannot exist: a branch cannot be a directory of branches, too.
    async fn in_the_way(&self, track: &Label, branch: &str) -> Result<Option<String>> {
        for above in refs::above(track) {
            if self.repository().reference(&above).await?.is_some() {
                return Ok(Some(above));
            }
        }
        refs::below(&self.repository().git(), branch).await
    }

    /// Fails if a working tree other than ours has a branch checked out.
    pub(crate) async fn not_checked_out(&self, branch: &str, except: &Path) -> Result<()> {
        match self.repository().holder_of(branch, Some(except)).await? {
            None => Ok(()),
            Some(path) => Err(Error::BranchCheckedOut { branch: refs::short(branch).to_owned(), path }),
        }
    }

    /// A detached working tree in a place of our own, which is under a lock: found again and moved to the
    /// commit, or made. Files that git ignores stay in it, so that a check need not build everything.
    pub(crate) async fn owned(&self, path: &Path, marker: &Marker, commit: &CommitId) -> Result<Tree> {
        match self.find(path)? {
            Found::Complete(tree, _) => {
                let mark = tree.mark();
                // A killed process may have left commands of its own running here.
                let _ = tokio::task::spawn_blocking(move || crate::process::kill_marked(&mark)).await;
                tree.remove_stale_locks();
                self.reset(&tree, commit).await?;
                return Ok(tree);
            }
            Found::Foreign => return Err(Error::WorktreeUnsound { path: path.to_owned() }),
            // Nobody works in it, and it has no branch: there is nothing to lose.
            Found::Unfinished(tree) | Found::Gone(tree) => tree.remove().await?,
            Found::Nothing => {}
        }
        self.add(path, &["--detach", commit.as_str()], marker).await
    }

    /// Moves an owned tree to a commit and ends whatever was under way in it. Its setup has to run again:
    /// the commit may need another one, and files that it made are removed.
    pub(crate) async fn reset(&self, tree: &Tree, commit: &CommitId) -> Result<()> {
        let git = tree.git();
        tree.remove_note(crate::setup::DONE);
        self.quit(tree).await?;
        git.call(["checkout", "--quiet", "--force", "--detach"]).arg(commit).slow().ok().await?;
        git.call(["reset", "--quiet", "--hard"]).arg(commit).slow().ok().await?;
        git.call(["clean", "--quiet", "-ffd"]).slow().ok().await?;
        self.fill_submodules(tree).await
    }

    /// Ends a merge, a rebase or the like, and leaves head and files as they are.
    pub(crate) async fn quit(&self, tree: &Tree) -> Result<()> {
        for operation in ["rebase", "merge", "cherry-pick", "revert"] {
            // Fails if there is none.
            tree.git().call([operation, "--quit"]).done().await?;
        }
        Ok(())
    }
}
