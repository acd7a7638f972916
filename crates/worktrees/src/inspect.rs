//! Facts about a ticket's commits and tree, for a judgement that is made elsewhere.

use serde::Serialize;

use crate::changes::{self, RawChange, shown};
use crate::git::Git;
use crate::{CommitId, Result, Tree, Worktrees, limits};

mod pairing;
use pairing::Pairing;

mod scan;

/// Facts about the work between a base and a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    pub base: CommitId,
    pub head: CommitId,
    /// True if the head is the base, or has it behind it.
    pub descends: bool,
    /// The commits that the head has and the base lacks.
    pub commits: u64,
    /// Paths that are changed or untracked in the worktree.
    pub uncommitted: Vec<String>,
    /// Paths that differ between base and head, at most [`limits::LISTED_PATHS`].
    pub changes: Vec<Change>,
    /// Changes that are not listed.
    pub changes_left_out: usize,
    pub tests: TestFacts,
}

/// A path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
    /// The path that it was renamed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    Renamed,
    /// A file became a link, or the like.
    Retyped,
}

/// Tests in the changed files, as their text shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TestFacts {
    pub base: TestTally,
    pub head: TestTally,
    /// Tests of the base that the head lacks, as `path: name`, at most [`limits::LISTED_TESTS`].
    pub deleted: Vec<String>,
    /// Tests that ran at the base and that the head skips, as `path: name`, equally limited.
    pub skipped: Vec<String>,
    /// Changed files that are too large to be searched.
    pub unread: Vec<String>,
}

/// Tests in the changed files of one commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TestTally {
    pub tests: u64,
    /// Those of them that do not run.
    pub skipped: u64,
}

impl TestTally {
    /// The tests that run.
    pub fn ran(&self) -> u64 {
        self.tests - self.skipped
    }
}

impl Facts {
    /// True if base and head have the same files.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// True if the worktree has no changes that are not committed.
    pub fn is_clean(&self) -> bool {
        self.uncommitted.is_empty()
    }

    /// Every path that is touched: renamed ones with both names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().flat_map(|it| it.from.as_deref().into_iter().chain([it.path.as_str()]))
    }

    /// The touched paths that no pattern of a scope matches. An empty scope has every path.
    pub fn outside<P: AsRef<str>>(&self, scope: &[P]) -> Result<Vec<&str>> {
        if scope.is_empty() {
            return Ok(Vec::new());
        }
        let globs = changes::globs("scope", scope)?;
        Ok(self.paths().filter(|path| !changes::matches(&globs, path.as_bytes())).collect())
    }
}

impl Worktrees {
    /// Looks at the work between two commits, and at a worktree if there is one here.
    pub async fn inspect(&self, base: &CommitId, head: &CommitId, tree: Option<&Tree>) -> Result<Facts> {
        let git = self.repository().git();
        git.require(base).await?;
        git.require(head).await?;
        let descends = git.is_ancestor(base, head).await?;
        let count = git.call(["rev-list", "--count"]).arg(format!("{base}..{head}")).line().await?;
        let uncommitted = match tree {
            Some(tree) => {
                let status = tree.status().await?;
                status.changed.iter().chain(&status.untracked).map(|path| shown(path)).collect()
            }
            None => Vec::new(),
        };
        let raw = changes::changes(&git, base, head).await?;
        let tests = test_facts(&git, &raw).await?;
        let changes_left_out = raw.len().saturating_sub(limits::LISTED_PATHS);
        let changes = raw.iter().take(limits::LISTED_PATHS).map(Change::of).collect();
        Ok(Facts {
            base: base.clone(),
            head: head.clone(),
            descends,
            commits: count.parse().unwrap_or_default(),
            uncommitted,
            changes,
            changes_left_out,
            tests,
        })
    }
}

impl Change {
    fn of(raw: &RawChange) -> Self {
        let kind = match raw.status {
            b'A' | b'C' => ChangeKind::Added,
            b'D' => ChangeKind::Deleted,
            b'R' => ChangeKind::Renamed,
            b'T' => ChangeKind::Retyped,
            _ => ChangeKind::Modified,
        };
        Self { path: shown(&raw.path), kind, from: raw.from.as_deref().map(shown) }
    }
}

async fn test_facts(git: &Git, raw: &[RawChange]) -> Result<TestFacts> {
    let sides = |it: &RawChange| [it.old.clone(), it.new.clone()];
    let searched: Vec<&RawChange> = raw
        .iter()
        .filter(|it| scan::is_searched(&it.path) || it.from.as_deref().is_some_and(scan::is_searched))
        .collect();
    let mut blobs: Vec<CommitId> =
        searched.iter().flat_map(|it| sides(it)).filter(|id| !id.is_null()).collect();
    blobs.sort();
    blobs.dedup();
    let contents = changes::contents(git, &blobs, limits::TEST_FILE_BYTES).await?;
    let mut pairing = Pairing::default();
    let mut unread = Vec::new();
    for change in searched {
        let mut tests = |id: &CommitId, path: &[u8]| match contents.get(id) {
            Some(text) => scan::tests_in(path, &String::from_utf8_lossy(text)),
            None => {
                if !id.is_null() && !unread.contains(&shown(path)) {
                    unread.push(shown(path));
                }
                Vec::new()
            }
        };
        let from = change.from.as_ref().unwrap_or(&change.path);
        let (base, head) = (tests(&change.old, from), tests(&change.new, &change.path));
        pairing.add(shown(from), base, head);
    }
    Ok(TestFacts { unread, ..pairing.facts() })
}
