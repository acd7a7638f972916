//! Removal of worktrees, with proof that nothing is lost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use persona::{AsReport as _, Code};
use serde::Serialize;

use crate::checkpoint::untracked;
use crate::git::Git;
use crate::lock::{self, FileLock};
use crate::process::kill_marked;
use crate::tree::{Found, registered_below};
use crate::{Error, Label, Result, Tree, Worktrees, limits, nested, ports, refs};

/// A ticket as the database has it. A ticket that the caller knows nothing about is not handed in, and
/// its worktree is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketStanding {
    pub track: Label,
    /// [`Label::integration`] for the integration of the track.
    pub ticket: Label,
    /// True if it never needs its worktree again.
    pub ended: bool,
    pub lease: Lease,
}

/// The claim of a worker on a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lease {
    Free,
    Held,
    /// The database cannot say.
    Unknown,
}

/// The worktrees that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// True if nothing was changed: actions are those that a real run would take.
    pub dry_run: bool,
    pub removals: Vec<Removal>,
}

/// What was done with one worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removal {
    pub track: String,
    pub ticket: String,
    pub path: PathBuf,
    #[serde(flatten)]
    pub action: RemovalAction,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum RemovalAction {
    /// Everything in it is reachable from a branch.
    Removed,
    /// What no branch has is kept in a reference, and the worktree was removed.
    Archived {
        reference: String,
    },
    Kept {
        reason: KeptReason,
    },
}

/// The reason why a worktree is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum KeptReason {
    /// The ticket may still need it.
    NotEnded,
    /// A worker has a claim on the ticket.
    Leased,
    /// The database knows nothing about the ticket, or cannot be reached.
    Unknown,
    /// Another process works in it.
    Busy,
    /// The directory is not a worktree of a ticket.
    Foreign,
    /// Files that an archive cannot hold.
    Unstorable { paths: Vec<String> },
    /// Changes or commits in submodules and other repositories in it, which an archive does not hold.
    Submodules,
    /// Looking at it or archiving it failed.
    Failed { code: Code, words: String },
}

impl Worktrees {
    /// Removes the worktrees of ended tickets, and checkouts that killed processes left. With `dry_run`
    /// it only says what it would do.
    pub async fn clean(&self, standings: &[TicketStanding], dry_run: bool) -> Result<Cleaned> {
        let mut removals = Vec::new();
        let trees = self.trees();
        let registered = registered_below(self.repository(), &trees);
        let places: BTreeSet<PathBuf> = second_level(&trees)?.into_iter().chain(registered).collect();
        for path in places {
            let Some((track, ticket)) = labels_of(&trees, &path) else {
                removals.push(foreign(&trees, path));
                continue;
            };
            let standing = standings.iter().find(|it| it.track == track && it.ticket == ticket);
            removals.extend(self.consider(&track, &ticket, standing, dry_run).await);
        }
        if !dry_run {
            self.clean_checkouts(standings).await?;
            remove_old(&self.checks(), limits::CHECK_AGE);
            remove_old(&self.temp(), limits::TEMP_AGE);
        }
        Ok(Cleaned { dry_run, removals })
    }

    /// Removes the worktree of one ticket, by the same rules. `None` if there is none.
    pub async fn remove(&self, standing: &TicketStanding, dry_run: bool) -> Result<Option<Removal>> {
        Ok(self.consider(&standing.track, &standing.ticket, Some(standing), dry_run).await)
    }

    async fn consider(
        &self,
        track: &Label,
        ticket: &Label,
        standing: Option<&TicketStanding>,
        dry_run: bool,
    ) -> Option<Removal> {
        let action = match self.act(track, ticket, standing, dry_run).await {
            Ok(action) => action?,
            Err(Error::WorktreeUnsound { .. }) => RemovalAction::Kept { reason: KeptReason::Foreign },
            Err(error) => {
                let reason = KeptReason::Failed { code: error.code(), words: error.to_string() };
                RemovalAction::Kept { reason }
            }
        };
        let path = self.place(track, ticket);
        Some(Removal { track: track.to_string(), ticket: ticket.to_string(), path, action })
    }

    async fn act(
        &self,
        track: &Label,
        ticket: &Label,
        standing: Option<&TicketStanding>,
        dry_run: bool,
    ) -> Result<Option<RemovalAction>> {
        let path = self.place(track, ticket);
        if matches!(self.find(&path)?, Found::Nothing) {
            return Ok(None);
        }
        let kept = |reason| Ok(Some(RemovalAction::Kept { reason }));
        if let Some(reason) = obstacle(standing) {
            return kept(reason);
        }
        let Some(_lock) = self.try_lock(track, ticket)? else { return kept(KeptReason::Busy) };
        let action = match self.find(&path)? {
            Found::Nothing => return Ok(None),
            Found::Foreign => return kept(KeptReason::Foreign),
            Found::Unfinished(tree) => {
                if !tree.is_being_removed() {
                    let head = Git::bare(tree.program(), tree.admin()).commit("HEAD").await?;
                    let Some(head) = head else { return kept(KeptReason::Foreign) };
                    self.prove_unused(&tree, &head).await?;
                }
                if !dry_run {
                    tree.remove().await?;
                }
                RemovalAction::Removed
            }
            Found::Gone(tree) => {
                let is_integration = *ticket == Label::integration();
                if !is_integration && nested::has_own_work(self, &tree).await? {
                    return kept(KeptReason::Submodules);
                }
                self.archive_and_remove(&tree, track, ticket, false, dry_run).await?
            }
            Found::Complete(tree, marker) => {
                if marker.track != track.as_str() || marker.ticket != ticket.as_str() {
                    return kept(KeptReason::Foreign);
                }
                if !dry_run {
                    // A process that the worker left behind must not write while its files are stored.
                    let mark = tree.mark();
                    let _ = tokio::task::spawn_blocking(move || kill_marked(&mark)).await;
                }
                let is_dirty = match self.value_of(&tree, ticket).await? {
                    Value::Files { is_dirty } => is_dirty,
                    Value::Unstorable(reason) => return kept(reason),
                };
                self.archive_and_remove(&tree, track, ticket, is_dirty, dry_run).await?
            }
        };
        if !dry_run {
            ports::release(&self.ports(), &path).await?;
        }
        Ok(Some(action))
    }

    async fn value_of(&self, tree: &Tree, ticket: &Label) -> Result<Value> {
        if *ticket == Label::integration() {
            // Only checks of Masque ran in it. The branch has everything.
            return Ok(Value::Files { is_dirty: false });
        }
        let (_, paths) = untracked(tree).await?;
        if !paths.is_empty() {
            return Ok(Value::Unstorable(KeptReason::Unstorable { paths }));
        }
        if nested::has_own_work(self, tree).await? {
            return Ok(Value::Unstorable(KeptReason::Submodules));
        }
        Ok(Value::Files { is_dirty: tree.is_busy() || !tree.status().await?.is_clean() })
    }

    async fn archive_and_remove(
        &self,
        tree: &Tree,
        track: &Label,
        ticket: &Label,
        is_dirty: bool,
        dry_run: bool,
    ) -> Result<RemovalAction> {
        if *ticket == Label::integration() {
            // Its reflog has commits that were checked and rejected. The tickets have their originals.
            if !dry_run {
                tree.remove().await?;
            }
            return Ok(RemovalAction::Removed);
        }
        if dry_run {
            let is_needed = is_dirty || self.needs_archive(tree).await?;
            let reference = refs::archive(track, ticket);
            return Ok(if is_needed {
                RemovalAction::Archived { reference }
            } else {
                RemovalAction::Removed
            });
        }
        let stored = if is_dirty { Some(self.store_files(tree).await?) } else { None };
        let reference = self.archive(tree, track, ticket, stored).await?;
        tree.remove().await?;
        Ok(reference.map_or(RemovalAction::Removed, |reference| RemovalAction::Archived { reference }))
    }

    /// Removes checkouts that no process of this machine works in.
    async fn clean_checkouts(&self, standings: &[TicketStanding]) -> Result<()> {
        for path in second_level(&self.checkouts())? {
            let Some((track, ticket)) = labels_of(&self.checkouts(), &path) else { continue };
            let is_known =
                |it: &&TicketStanding| it.track == track && it.ticket == ticket && it.lease != Lease::Unknown;
            if standings.iter().any(|it| is_known(&it))
                && let Some(_lock) = FileLock::try_take(&self.checkout_lock(&track, &ticket)?)?
            {
                self.discard(&path).await?;
                ports::release(&self.ports(), &path).await?;
            }
        }
        Ok(())
    }
}

/// What a worktree holds that no branch has.
enum Value {
    Files { is_dirty: bool },
    Unstorable(KeptReason),
}

/// The reason why a ticket's worktree must stay, whatever is in it.
fn obstacle(standing: Option<&TicketStanding>) -> Option<KeptReason> {
    match standing {
        None | Some(TicketStanding { lease: Lease::Unknown, .. }) => Some(KeptReason::Unknown),
        Some(TicketStanding { lease: Lease::Held, .. }) => Some(KeptReason::Leased),
        Some(TicketStanding { ended: false, .. }) => Some(KeptReason::NotEnded),
        Some(_) => None,
    }
}

fn foreign(trees: &Path, path: PathBuf) -> Removal {
    let relative = path.strip_prefix(trees).unwrap_or(&path);
    let mut names = relative.iter().map(|name| name.to_string_lossy().into_owned());
    let (track, ticket) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let action = RemovalAction::Kept { reason: KeptReason::Foreign };
    Removal { track, ticket, path, action }
}

/// Track and ticket of a place.
fn labels_of(root: &Path, path: &Path) -> Option<(Label, Label)> {
    let mut names = path.strip_prefix(root).ok()?.iter();
    let mut label = || Label::of_directory(names.next()?.to_str()?);
    let labels = (label()?, label()?);
    names.next().is_none().then_some(labels)
}

/// The entries of the directories in a directory, and the files beside those directories.
fn second_level(root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root).map_err(Error::file(root))?.flatten() {
        let path = entry.path();
        match std::fs::read_dir(&path) {
            Ok(entries) if !path.is_symlink() => paths.extend(entries.flatten().map(|entry| entry.path())),
            _ => paths.push(path),
        }
    }
    Ok(paths)
}

/// Removes files that were written long ago.
fn remove_old(directory: &Path, age: Duration) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        lock::remove_stale(&entry.path(), age);
    }
}
