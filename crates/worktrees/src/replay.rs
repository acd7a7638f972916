//! A rebase without a working tree: commits are made anew as objects. A process that is killed leaves
//! nothing half done.

use std::ffi::OsString;

use crate::checkpoint::commit_tree;
use crate::git::Git;
use crate::preflight::merge;
use crate::{CommitId, Error, Result, Ticket, limits};

/// The head of a ticket on top of a target, with the tree that their merge has.
///
/// Each commit is replayed with its author and message. If that does not lead to the merged tree, because
/// a merge inside of the branch resolved something or a commit in between conflicts, the work becomes one
/// commit.
pub(crate) async fn replay(
    git: &Git,
    ticket: &Ticket,
    target: &CommitId,
    tree: &CommitId,
) -> Result<CommitId> {
    let head = &ticket.head;
    if git.is_ancestor(target, head).await? {
        return Ok(head.clone());
    }
    let list = git
        .call(["rev-list", "--reverse", "--topo-order", "--no-merges"])
        .arg(format!("{target}..{head}"))
        .ok()
        .await?;
    let list = String::from_utf8_lossy(&list);
    let commits: Vec<CommitId> = list.lines().filter_map(CommitId::parse).collect();
    if commits.len() <= limits::REBASED_COMMITS
        && let Some((replayed, its_tree)) = each(git, &commits, target).await?
        && its_tree == *tree
    {
        return Ok(replayed);
    }
    squash(git, ticket, target, tree, commits.last().unwrap_or(head)).await
}

/// The work of a ticket as one commit on top of a target, with the tree that their merge has. What a worker
/// did on the way was checked with nothing, and may be red: the target gets the result alone.
pub(crate) async fn land(git: &Git, ticket: &Ticket, target: &CommitId, tree: &CommitId) -> Result<CommitId> {
    let head = replay(git, ticket, target, tree).await?;
    let count = git.call(["rev-list", "--count"]).arg(format!("{target}..{head}")).line().await?;
    match count.as_str() {
        "1" => Ok(head),
        _ => squash(git, ticket, target, tree, &head).await,
    }
}

/// Replays commits one by one. `None` if one of them conflicts.
async fn each(git: &Git, commits: &[CommitId], target: &CommitId) -> Result<Option<(CommitId, CommitId)>> {
    let mut current = target.clone();
    let mut tree = git.tree_of(target).await?;
    for commit in commits {
        let Some(parent) = git.commit(&format!("{commit}^")).await? else { return Ok(None) };
        // A commit with the current files above the parent: its merge with the commit changes what the
        // commit changes. Older versions of git take no merge base from outside.
        let standin = commit_tree(git, &tree, &[&parent], "Replay").await?;
        let merge = merge(git, &standin, commit).await?;
        if !merge.is_clean {
            return Ok(None);
        }
        if merge.tree != tree {
            tree = merge.tree;
            current = copy(git, commit, &tree, &current).await?;
        }
    }
    Ok(Some((current, tree)))
}

/// A commit with the author and message of another one.
async fn copy(git: &Git, commit: &CommitId, tree: &CommitId, parent: &CommitId) -> Result<CommitId> {
    let raw = git.call(["cat-file", "commit"]).arg(commit).ok().await?;
    let unclear = || Error::GitUnclear { command: "git cat-file".to_owned() };
    let at = raw.windows(2).position(|pair| pair == b"\n\n").ok_or_else(unclear)?;
    let line = |name: &[u8]| raw[..at].split(|byte| *byte == b'\n').find(|line| line.starts_with(name));
    let author = line(b"author ").ok_or_else(unclear)?;
    let committer = git.call(["var", "GIT_COMMITTER_IDENT"]).line().await?;
    let mut text = format!("tree {tree}\nparent {parent}\n").into_bytes();
    text.extend_from_slice(author);
    text.extend_from_slice(format!("\ncommitter {committer}").as_bytes());
    if let Some(encoding) = line(b"encoding ") {
        text.push(b'\n');
        text.extend_from_slice(encoding);
    }
    text.extend_from_slice(&raw[at..]);
    git.call(["hash-object", "-t", "commit", "-w", "--stdin"]).input(text).id().await
}

/// One commit with all of the work, by the author of its last commit.
async fn squash(
    git: &Git,
    ticket: &Ticket,
    target: &CommitId,
    tree: &CommitId,
    last: &CommitId,
) -> Result<CommitId> {
    let author =
        git.call(["log", "-1", "-z", "--format=%an%n%ae%n%ad", "--date=raw"]).arg(last).line().await?;
    let mut author = author.trim_end_matches('\0').lines();
    let mut next = || OsString::from(author.next().unwrap_or_default());
    let (name, email) = (next(), next());
    // Without the sign, git takes a number of few digits for another kind of date.
    let mut date = OsString::from("@");
    date.push(next());
    let list = git
        .call(["log", "--reverse", "--no-merges", "--max-count=50", "--format=- %s"])
        .arg(format!("{target}..{}", ticket.head))
        .ok()
        .await?;
    let label = &ticket.label;
    let subject = git.call(["log", "-1", "--format=%s"]).arg(last).line().await?;
    let subject = if subject.starts_with(label.as_str()) { subject } else { format!("{label}: {subject}") };
    let message = format!("{subject}\n\n{}", String::from_utf8_lossy(&list));
    git.call(["commit-tree"])
        .arg(tree)
        .arg("-p")
        .arg(target)
        .env("GIT_AUTHOR_NAME", if name.is_empty() { "Masque".into() } else { name })
        .env("GIT_AUTHOR_EMAIL", email)
        .env("GIT_AUTHOR_DATE", date)
        .input(message.into_bytes())
        .id()
        .await
}
