//! The sides of conflicts, for the ticket that resolves them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::history;
use super::merge::Merge;
use super::{Conflict, Side};
use crate::changes::{self, shown};
use crate::git::Git;
use crate::{CommitId, Label, Result, limits};

/// The conflicts of a merge, and the number of those that are left out.
pub(super) async fn read(
    git: &Git,
    track: &Label,
    target: &CommitId,
    head: &CommitId,
    merge: &Merge,
) -> Result<(Vec<Conflict>, usize)> {
    let mut paths: BTreeMap<&[u8], [Option<&CommitId>; 3]> = BTreeMap::new();
    for stage in &merge.stages {
        let sides = paths.entry(&stage.path).or_default();
        if let Some(side) = sides.get_mut(usize::from(stage.number).wrapping_sub(1)) {
            *side = Some(&stage.blob);
        }
    }
    let left_out = paths.len().saturating_sub(limits::CONFLICTS);
    let blobs: Vec<CommitId> = paths.values().flatten().flatten().map(|blob| (*blob).clone()).collect();
    let sizes = changes::sizes(git, &blobs).await?;
    let owners = history::owners(git, track, target, head).await?;
    let mut conflicts = Vec::new();
    for (path, [base, ours, theirs]) in paths.into_iter().take(limits::CONFLICTS) {
        conflicts.push(Conflict {
            path: shown(path),
            base: side(git, base, &sizes).await?,
            target: side(git, ours, &sizes).await?,
            head: side(git, theirs, &sizes).await?,
            marked: marked(git, &merge.tree, path).await?,
            with: owners.of_path(git, path).await?,
        });
    }
    Ok((conflicts, left_out))
}

async fn side(git: &Git, blob: Option<&CommitId>, sizes: &HashMap<CommitId, u64>) -> Result<Option<Side>> {
    let Some(blob) = blob else { return Ok(None) };
    // A submodule has no blob.
    let Some(size) = sizes.get(blob) else {
        return Ok(Some(Side {
            blob: blob.clone(),
            text: String::new(),
            bytes_left_out: 0,
            is_binary: true,
        }));
    };
    let bytes = git.call(["cat-file", "blob"]).arg(blob).most(limits::SIDE_BYTES).ok().await?;
    let is_binary = bytes.contains(&0);
    let text = if is_binary { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() };
    let shown = if is_binary { 0 } else { bytes.len() as u64 };
    Ok(Some(Side { blob: blob.clone(), text, bytes_left_out: size.saturating_sub(shown), is_binary }))
}

/// The parts of a merged file between markers, with some lines around them.
async fn marked(git: &Git, tree: &CommitId, path: &[u8]) -> Result<String> {
    let mut name = std::ffi::OsString::from(format!("{tree}:"));
    name.push(OsStr::from_bytes(path));
    // Fails if the conflict is not one of lines, and the path has no file.
    let done = git.call(["cat-file", "blob"]).arg(name).most(limits::BATCH_BYTES as usize).done().await?;
    if done.code != 0 || done.output.contains(&0) {
        return Ok(String::new());
    }
    let text = done.text();
    let lines: Vec<&str> = text.lines().collect();
    let mut is_shown = vec![false; lines.len()];
    let mut start = None;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("<<<<<<< ") {
            start = Some(at);
        } else if let (true, Some(from)) = (line.starts_with(">>>>>>> "), start) {
            let from = from.saturating_sub(limits::CONFLICT_CONTEXT);
            let to = (at + limits::CONFLICT_CONTEXT).min(lines.len() - 1);
            is_shown[from..=to].fill(true);
            start = None;
        }
    }
    let mut marked = String::new();
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| is_shown[*at]) {
        if marked.len() + line.len() > limits::SIDE_BYTES {
            break;
        }
        if at > 0 && !is_shown[at - 1] {
            marked.push_str(&format!("@@ {} @@\n", at + 1));
        }
        marked.push_str(line);
        marked.push('\n');
    }
    Ok(marked)
}
