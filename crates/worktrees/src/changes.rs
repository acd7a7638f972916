//! Paths that differ between two commits, and the contents of files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::git::{Git, fields};
use crate::{CommitId, Error, Result, limits};

/// A path that differs, as git reports it.
#[derive(Debug, Clone)]
pub(crate) struct RawChange {
    pub(crate) old_mode: String,
    pub(crate) old: CommitId,
    pub(crate) new: CommitId,
    /// `A`, `D`, `M`, `R` or `T`.
    pub(crate) status: u8,
    pub(crate) path: Vec<u8>,
    /// The path that it was renamed from.
    pub(crate) from: Option<Vec<u8>>,
}

/// The paths that differ between two commits or trees. Renames are found, and shown as one change.
pub(crate) async fn changes(git: &Git, base: &CommitId, head: &CommitId) -> Result<Vec<RawChange>> {
    let call = git.call(["diff-tree", "-r", "-M", "-z", "--raw", "--no-abbrev"]).arg(base).arg(head);
    let output = call.ok().await?;
    let mut fields = fields(&output);
    let mut changes = Vec::new();
    while let Some(header) = fields.next() {
        changes
            .push(change(header, &mut fields).ok_or(Error::GitUnclear { command: "git diff-tree".into() })?);
    }
    Ok(changes)
}

/// `:100644 100755 OLD NEW R090`, followed by the path or by both.
fn change<'a>(header: &[u8], fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<RawChange> {
    let header = std::str::from_utf8(header).ok()?.strip_prefix(':')?;
    let words: Vec<&str> = header.split(' ').collect();
    let [old_mode, _, old, new, status] = words[..] else { return None };
    let status = *status.as_bytes().first()?;
    let first = fields.next()?.to_vec();
    let (path, from) = match status {
        b'R' | b'C' => (fields.next()?.to_vec(), Some(first)),
        _ => (first, None),
    };
    let (old, new) = (CommitId::parse(old)?, CommitId::parse(new)?);
    Some(RawChange { old_mode: old_mode.to_owned(), old, new, status, path, from })
}

/// The sizes of those objects that are blobs.
pub(crate) async fn sizes(git: &Git, objects: &[CommitId]) -> Result<HashMap<CommitId, u64>> {
    if objects.is_empty() {
        return Ok(HashMap::new());
    }
    let format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
    let output = git.call(["cat-file", format]).input(lines(objects)).ok().await?;
    let text = String::from_utf8_lossy(&output);
    let size = |line: &str| {
        let mut words = line.split(' ');
        let id = CommitId::parse(words.next()?)?;
        words.next().filter(|kind| *kind == "blob")?;
        Some((id, words.next()?.parse().ok()?))
    };
    Ok(text.lines().filter_map(size).collect())
}

/// The contents of blobs up to a size. Larger ones are missing.
pub(crate) async fn contents(git: &Git, blobs: &[CommitId], most: u64) -> Result<HashMap<CommitId, Vec<u8>>> {
    let sizes = sizes(git, blobs).await?;
    let mut wanted: Vec<(CommitId, u64)> = sizes.into_iter().filter(|(_, size)| *size <= most).collect();
    wanted.sort();
    let mut contents = HashMap::new();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for (id, size) in wanted {
        if bytes + size > limits::BATCH_BYTES {
            read_batch(git, &std::mem::take(&mut batch), &mut contents).await?;
            bytes = 0;
        }
        batch.push(id);
        bytes += size;
    }
    read_batch(git, &batch, &mut contents).await?;
    Ok(contents)
}

async fn read_batch(git: &Git, batch: &[CommitId], into: &mut HashMap<CommitId, Vec<u8>>) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let unclear = || Error::GitUnclear { command: "git cat-file".into() };
    let output = git.call(["cat-file", "--batch"]).input(lines(batch)).ok().await?;
    let mut rest = &output[..];
    for id in batch {
        // `ID blob SIZE`, a line feed, the bytes, a line feed.
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(unclear)?;
        let header = String::from_utf8_lossy(&rest[..end]);
        let size: usize = header.rsplit(' ').next().and_then(|size| size.parse().ok()).ok_or_else(unclear)?;
        let bytes = rest.get(end + 1..end + 1 + size).ok_or_else(unclear)?;
        into.insert(id.clone(), bytes.to_vec());
        rest = rest.get(end + 2 + size..).ok_or_else(unclear)?;
    }
    Ok(())
}

fn lines(ids: &[CommitId]) -> Vec<u8> {
    ids.iter().flat_map(|id| [id.as_str().as_bytes(), b"\n"]).flatten().copied().collect()
}

/// The text of a path, for people and models.
pub(crate) fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Compiles patterns of paths.
pub(crate) fn globs<P: AsRef<str>>(field: &'static str, patterns: &[P]) -> Result<GlobSet> {
    if patterns.len() > limits::PATTERNS {
        return Err(Error::TooMany { field, most: limits::PATTERNS, count: patterns.len() });
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().map(AsRef::as_ref) {
        let failed =
            |source| Error::Pattern { field, pattern: pattern.to_owned(), source: Some(Box::new(source)) };
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(failed)?);
    }
    let failed = |source| Error::Pattern { field, pattern: String::new(), source: Some(Box::new(source)) };
    set.build().map_err(failed)
}

pub(crate) fn matches(globs: &GlobSet, path: &[u8]) -> bool {
    globs.is_match(Path::new(OsStr::from_bytes(path)))
}
