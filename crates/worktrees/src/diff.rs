//! The difference between two commits, within limits.

use serde::Serialize;

use crate::changes::{self, shown};
use crate::git::Git;
use crate::limits::PATCH_BYTES;
use crate::{CommitId, Result, Worktrees};

/// A difference as text, and what of it is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Patches of files, one after the other.
    pub text: String,
    pub files: Vec<FileStat>,
    /// Files that are neither in the text nor listed.
    pub files_left_out: usize,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileStat {
    pub path: String,
    /// The path that it was renamed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub added: u64,
    pub deleted: u64,
    pub is_binary: bool,
    /// Bytes of its patch that the text lacks; at least so many if the whole patch is huge.
    pub bytes_left_out: usize,
}

/// Limits of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Bytes of the text.
    pub bytes: usize,
    /// Bytes of one file's patch.
    pub file_bytes: usize,
    /// Files that are listed.
    pub files: usize,
    /// Lines around a change.
    pub context_lines: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { bytes: 256 * 1024, file_bytes: 64 * 1024, files: 1_000, context_lines: 3 }
    }
}

impl Worktrees {
    /// The difference from a base to a head.
    pub async fn diff(&self, base: &CommitId, head: &CommitId, limits: DiffLimits) -> Result<Diff> {
        let git = self.repository().git();
        let raw = changes::changes(&git, base, head).await?;
        let counts = counts(&git, base, head).await?;
        let context = format!("-U{}", limits.context_lines);
        let patch = git
            .call(["diff-tree", "-r", "-M", "-p", "--full-index", "--no-ext-diff", "--no-textconv"])
            .args([context.as_str(), base.as_str(), head.as_str()])
            .most(PATCH_BYTES)
            .ok()
            .await?;
        let mut sections = sections(&patch).into_iter();
        let (mut text, mut files) = (String::new(), Vec::new());
        for (change, count) in raw.iter().zip(&counts).take(limits.files) {
            // A file that became a link has two sections: the deletion and the creation.
            let parts = if change.status == b'T' { 2 } else { 1 };
            let section: Vec<u8> = sections.by_ref().take(parts).flatten().copied().collect();
            let room = limits.file_bytes.min(limits.bytes.saturating_sub(text.len()));
            let kept = whole_lines(&section, room);
            text.push_str(&String::from_utf8_lossy(&section[..kept]));
            let is_missing = section.is_empty() && count.is_some_and(|(added, deleted)| added + deleted > 0);
            files.push(FileStat {
                path: shown(&change.path),
                from: change.from.as_deref().map(shown),
                added: count.map_or(0, |(added, _)| added),
                deleted: count.map_or(0, |(_, deleted)| deleted),
                is_binary: count.is_none(),
                bytes_left_out: if is_missing { 1 } else { section.len() - kept },
            });
        }
        let files_left_out = raw.len().saturating_sub(files.len());
        Ok(Diff { text, files, files_left_out })
    }
}

/// Added and deleted lines of each file, in the order of changes. `None` for a binary one.
async fn counts(git: &Git, base: &CommitId, head: &CommitId) -> Result<Vec<Option<(u64, u64)>>> {
    let output = git.call(["diff-tree", "-r", "-M", "-z", "--numstat"]).arg(base).arg(head).ok().await?;
    // `ADDED TAB DELETED TAB PATH`, with both paths in fields of their own after a rename.
    let mut fields = output.strip_suffix(b"\0").unwrap_or(&output).split(|byte| *byte == 0);
    let mut counts = Vec::new();
    while let Some(field) = fields.next().filter(|field| !field.is_empty()) {
        let mut parts = field.splitn(3, |byte| *byte == b'\t').map(String::from_utf8_lossy);
        let mut number = || parts.next().and_then(|text| text.parse().ok());
        counts.push(number().zip(number()));
        if parts.next().is_some_and(|path| path.is_empty()) {
            fields.nth(1);
        }
    }
    Ok(counts)
}

/// The patches of single files. Lines of content never begin with `diff`.
fn sections(patch: &[u8]) -> Vec<&[u8]> {
    const START: &[u8] = b"diff --git ";
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(START) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts.iter().zip(ends).map(|(start, end)| &patch[*start..end]).collect()
}

/// The length of the whole lines that fit.
fn whole_lines(text: &[u8], room: usize) -> usize {
    if text.len() <= room {
        return text.len();
    }
    text[..room].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}
