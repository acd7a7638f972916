//! Merges of two commits as objects.

use crate::git::{Git, fields};
use crate::{CommitId, Error, Result};

/// A merge of two commits.
#[derive(Debug)]
pub(crate) struct Merge {
    /// With markers in the conflicted files, if it is not clean.
    pub(crate) tree: CommitId,
    pub(crate) is_clean: bool,
    /// Versions of conflicted paths.
    pub(super) stages: Vec<Stage>,
}

/// One version of a conflicted path.
#[derive(Debug)]
pub(super) struct Stage {
    /// 1 for the common ancestor, 2 for the target, 3 for the head.
    pub(super) number: u8,
    pub(super) blob: CommitId,
    pub(super) path: Vec<u8>,
}

/// Merges two commits. Writes objects only.
pub(crate) async fn merge(git: &Git, target: &CommitId, head: &CommitId) -> Result<Merge> {
    let call = git.call(["merge-tree", "--write-tree", "-z", "--no-messages"]).arg(target).arg(head);
    let failure = call.failure();
    let done = call.done().await?;
    if !matches!(done.code, 0 | 1) {
        return Err(failure(done));
    }
    let unclear = || Error::GitUnclear { command: "git merge-tree".to_owned() };
    let mut fields = fields(&done.output);
    let tree = fields
        .next()
        .and_then(|tree| CommitId::parse(std::str::from_utf8(tree).ok()?))
        .ok_or_else(unclear)?;
    let stages = fields.map(stage).collect::<Option<_>>().ok_or_else(unclear)?;
    Ok(Merge { tree, is_clean: done.code == 0, stages })
}

/// `MODE BLOB STAGE TAB PATH`.
fn stage(field: &[u8]) -> Option<Stage> {
    let at = field.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&field[..at]).ok()?.split(' ').skip(1);
    let (blob, number) = (CommitId::parse(words.next()?)?, words.next()?.parse().ok()?);
    Some(Stage { number, blob, path: field[at + 1..].to_vec() })
}
