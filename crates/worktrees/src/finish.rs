//! The end of a track: its integration branch is brought to the user's branch.
//!
//! The only module that may write the user's checkout, and only by a fast-forward of a checkout without
//! changes. Git itself then refuses to overwrite an untracked or ignored file.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::changes::shown;
use crate::git::Git;
use crate::refs::{self, Update};
use crate::repository::path_of;
use crate::tree::is_busy;
use crate::{CommitId, Error, Label, Result, Worktrees, limits};

/// What came of bringing a track to the user's branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Finished {
    /// The branch has the track already.
    Already { commit: CommitId },
    /// The branch was moved. It is checked out nowhere.
    Moved { from: CommitId, to: CommitId },
    /// The checkout of the branch, which had no changes, was brought forward.
    Forwarded { checkout: PathBuf, from: CommitId, to: CommitId },
    /// Nothing was changed. The user can run the command.
    Left { obstacle: Obstacle, directory: PathBuf, command: Vec<String> },
}

/// The reason why a branch was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "obstacle", rename_all = "snake_case")]
pub enum Obstacle {
    /// The repository has no such branch.
    NoBranch,
    /// The branch has commits that the track lacks.
    Diverged { commits: u64 },
    /// The checkout of the branch has changes that are not committed.
    Uncommitted { checkout: PathBuf, paths: Vec<String> },
    /// A merge, a rebase or the like is under way.
    Busy { checkout: PathBuf },
    /// Git refuses, for example because an untracked file is in the way.
    Refused { checkout: PathBuf, words: String },
}

impl Worktrees {
    /// Brings the integration branch of a track to a branch, by a fast-forward or not at all. `branch` is
    /// its name, with or without `refs/heads/`.
    pub async fn finish(&self, track: &Label, branch: &str) -> Result<Finished> {
        let repository = self.repository();
        let _lock = self.lock(track, &Label::integration()).await?;
        let source = refs::branch(track, &Label::integration());
        let Some(to) = repository.reference(&source).await? else {
            return Err(Error::UnknownCommit { commit: source });
        };
        let short = refs::short(branch);
        let name = format!("refs/heads/{short}");
        let left = |obstacle: Obstacle, command: &[&str]| {
            let checkout = match &obstacle {
                Obstacle::Uncommitted { checkout, .. }
                | Obstacle::Busy { checkout }
                | Obstacle::Refused { checkout, .. } => Some(checkout.clone()),
                Obstacle::NoBranch | Obstacle::Diverged { .. } => repository.top().map(Path::to_path_buf),
            };
            let directory = checkout.unwrap_or_else(|| repository.common_dir().to_path_buf());
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            Finished::Left { obstacle, directory, command }
        };
        let forward = ["git", "merge", "--ff-only", refs::short(&source)];
        for _ in 0..limits::REF_TRIES {
            let Some(from) = repository.reference(&name).await? else {
                return Ok(left(Obstacle::NoBranch, &["git", "branch", short, refs::short(&source)]));
            };
            if repository.is_ancestor(&to, &from).await? {
                return Ok(Finished::Already { commit: from });
            }
            if !repository.is_ancestor(&from, &to).await? {
                let commits = self.count(&to, &from).await?;
                return Ok(left(Obstacle::Diverged { commits }, &["git", "merge", refs::short(&source)]));
            }
            if let Some(checkout) = repository.rebasing(&name).await? {
                return Ok(left(Obstacle::Busy { checkout }, &forward));
            }
            match repository.holder_of(&name, None).await? {
                Some(checkout) => {
                    return Ok(match self.forward(&checkout, &name, &to).await? {
                        None => Finished::Forwarded { checkout, from, to },
                        Some(obstacle) => left(obstacle, &forward),
                    });
                }
                None => {
                    if refs::change(repository, &[Update::swap(name.clone(), &to, &from)]).await? {
                        return Ok(Finished::Moved { from, to });
                    }
                    // The user moved the branch meanwhile.
                }
            }
        }
        Err(Error::WorktreeBusy { path: repository.common_dir().to_path_buf() })
    }

    async fn count(&self, from: &CommitId, to: &CommitId) -> Result<u64> {
        let range = format!("{from}..{to}");
        let count = self.repository().git().call(["rev-list", "--count"]).arg(range).line().await?;
        Ok(count.parse().unwrap_or_default())
    }

    /// Brings a checkout forward, if it has no changes. An obstacle, if it was left as it is.
    async fn forward(&self, checkout: &Path, name: &str, to: &CommitId) -> Result<Option<Obstacle>> {
        let checkout = checkout.to_path_buf();
        let program = self.repository().program();
        let output = Git::around(program, &checkout).call(["rev-parse", "--absolute-git-dir"]).ok().await?;
        let git_dir = path_of(&output);
        if is_busy(&git_dir) {
            return Ok(Some(Obstacle::Busy { checkout }));
        }
        let git = Git::in_tree(program, &git_dir, &checkout);
        let changed = crate::tree::status(&git).await?.changed;
        if !changed.is_empty() {
            let paths = changed.iter().take(limits::LISTED_PATHS).map(|path| shown(path)).collect();
            return Ok(Some(Obstacle::Uncommitted { checkout, paths }));
        }
        // Git compares every file again before it writes, so a change made just now is safe.
        let call = git
            .call([
                "merge",
                "--quiet",
                "--ff-only",
                "--no-autostash",
                "--no-squash",
                "--no-overwrite-ignore",
                "--no-stat",
            ])
            .arg(to)
            .slow();
        let done = call.done().await?;
        match self.repository().reference(name).await? {
            Some(now) if done.code == 0 && now == *to => Ok(None),
            _ => Ok(Some(Obstacle::Refused { checkout, words: done.words })),
        }
    }
}
