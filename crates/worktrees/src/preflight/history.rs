//! The tickets behind the commits of an integration branch.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use crate::git::Git;
use crate::{CommitId, Label, Result, limits, refs};

/// The commits that a target has and a head lacks, each with its ticket.
#[derive(Debug)]
pub(super) struct Owners {
    range: [String; 2],
    tickets: HashMap<CommitId, Label>,
}

/// The tickets of commits that a target has and a head lacks.
pub(super) async fn owners(git: &Git, track: &Label, target: &CommitId, head: &CommitId) -> Result<Owners> {
    let range = [target.to_string(), format!("^{head}")];
    let ends = merged(git, track).await?;
    let list = git.call(["rev-list", "--topo-order"]).args(&range).ok().await?;
    let mut tickets = HashMap::new();
    let mut current: Option<&Label> = None;
    // From the newest: the commits of a ticket follow the one that it ends with.
    for commit in String::from_utf8_lossy(&list).lines().filter_map(CommitId::parse) {
        current = ends.get(&commit).or(current);
        if let Some(ticket) = current {
            tickets.insert(commit, ticket.clone());
        }
    }
    Ok(Owners { range, tickets })
}

impl Owners {
    /// The tickets that changed a path.
    pub(super) async fn of_path(&self, git: &Git, path: &[u8]) -> Result<Vec<Label>> {
        let mut spec = OsString::from(":(top,literal)");
        spec.push(OsStr::from_bytes(path));
        let limit = format!("--max-count={}", limits::REBASED_COMMITS);
        let list = git.call(["rev-list", &limit]).args(&self.range).arg("--").arg(spec).ok().await?;
        let list = String::from_utf8_lossy(&list);
        Ok(sorted(list.lines().filter_map(CommitId::parse).filter_map(|it| self.tickets.get(&it).cloned())))
    }
}

/// The tickets that a target has and a base lacks.
pub(crate) async fn tickets_since(
    git: &Git,
    track: &Label,
    target: &CommitId,
    base: &CommitId,
) -> Result<Vec<Label>> {
    Ok(sorted(owners(git, track, target, base).await?.tickets.into_values()))
}

fn sorted(labels: impl Iterator<Item = Label>) -> Vec<Label> {
    let mut labels: Vec<Label> = labels.collect();
    labels.sort();
    labels.dedup();
    labels
}

/// The last commits of the tickets that a track has integrated.
async fn merged(git: &Git, track: &Label) -> Result<HashMap<CommitId, Label>> {
    let prefix = refs::merged_prefix(track);
    let list = git.call(["for-each-ref", "--format=%(objectname) %(refname)"]).arg(&prefix).ok().await?;
    let list = String::from_utf8_lossy(&list);
    let ticket = |line: &str| {
        let (commit, name) = line.split_once(' ')?;
        Some((CommitId::parse(commit)?, Label::of_directory(name.strip_prefix(&prefix)?)?))
    };
    Ok(list.lines().filter_map(ticket).collect())
}
