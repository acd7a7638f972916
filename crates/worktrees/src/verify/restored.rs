//! Files of a check that are as the base has them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::changes::{self, RawChange, shown};
use crate::git::Git;
use crate::{Check, CommitId, Result, TestsFrom};

/// The usual places and names of test files.
const TESTS: &[&str] = &[
    "**/test/**",
    "**/tests/**",
    "**/__tests__/**",
    "**/spec/**",
    "**/test_*.py",
    "**/*_test.py",
    "**/conftest.py",
    "**/tests.rs",
    "**/*_test.rs",
    "**/*_test.go",
    "**/*.{test,spec}.*",
    "**/*{Test,Tests,IT,Spec}.{java,kt,cs}",
    "**/*_test.{c,cc,cpp}",
    "**/*_{test,spec}.rb",
];

/// A path with the entry that the base has for it.
#[derive(Debug)]
pub(super) struct Restored {
    path: Vec<u8>,
    /// Mode and blob. `None` if the base lacks the path.
    entry: Option<(String, CommitId)>,
}

impl Restored {
    pub(super) fn shown(&self) -> String {
        shown(&self.path)
    }
}

/// The paths that a check does not take from the head.
pub(super) async fn paths(
    git: &Git,
    base: &CommitId,
    head: &CommitId,
    check: &Check,
    tests: TestsFrom,
) -> Result<Vec<Restored>> {
    let files = changes::globs("check.files", &check.files)?;
    let test_globs = match (tests, &check.tests[..]) {
        (TestsFrom::Head, _) => changes::globs::<&str>("check.tests", &[])?,
        (TestsFrom::Base, []) => changes::globs("check.tests", TESTS)?,
        (TestsFrom::Base, given) => changes::globs("check.tests", given)?,
    };
    let is_listed = |path: &[u8]| changes::matches(&files, path);
    let is_test = |path: &[u8]| changes::matches(&test_globs, path);
    let mut restored = BTreeMap::new();
    for change in changes::changes(git, base, head).await? {
        let entry = |change: &RawChange| Some((change.old_mode.clone(), change.old.clone()));
        let old = change.from.as_ref().unwrap_or(&change.path);
        let is_added = change.old.is_null() || change.status == b'C';
        if !is_added && (is_listed(old) || is_test(old)) {
            restored.insert(old.clone(), entry(&change));
            if *old != change.path && (is_listed(&change.path) || is_test(&change.path)) {
                // The file moved: it must not be there twice.
                restored.insert(change.path.clone(), None);
            }
        } else if *old != change.path && is_listed(&change.path) || is_added && is_listed(&change.path) {
            restored.insert(change.path.clone(), None);
        }
    }
    Ok(restored.into_iter().map(|(path, entry)| Restored { path, entry }).collect())
}

/// The tree of the head with those paths as the base has them.
pub(super) async fn tree(
    git: &Git,
    index: &Path,
    head: &CommitId,
    restored: &[Restored],
) -> Result<CommitId> {
    let mut input = Vec::new();
    // Removals come first, because a directory may stand where the base has a file.
    let (kept, removed): (Vec<_>, Vec<_>) = restored.iter().partition(|it| it.entry.is_some());
    for Restored { path, entry } in removed.into_iter().chain(kept) {
        let line = match entry {
            Some((mode, blob)) => format!("{mode} {blob}\t"),
            None => format!("0 {}\t", head.null()),
        };
        input.extend_from_slice(line.as_bytes());
        input.extend_from_slice(path);
        input.push(0);
    }
    git.call(["read-tree"]).arg(head).env("GIT_INDEX_FILE", index).ok().await?;
    git.call(["update-index", "-z", "--replace", "--index-info"])
        .env("GIT_INDEX_FILE", index)
        .input(input)
        .ok()
        .await?;
    git.call(["write-tree"]).env("GIT_INDEX_FILE", index).id().await
}
