//! Checks in fresh checkouts.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::checkpoint::commit_tree;
use crate::tree::write_whole;
use crate::{
    CheckOutcome, Command, CommitId, Label, Result, Setup, SetupOutcome, Ticket, Tree, Watcher, Worktrees,
};

mod restored;

/// How a commit is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub command: Command,
    /// What a fresh checkout needs first.
    pub setup: Setup,
    /// Globs of files that define the check, such as its script. They are always those of the base: a
    /// ticket cannot change them, and cannot add any.
    pub files: Vec<String>,
    /// Globs of test files. Empty: the usual names of test files in common languages.
    pub tests: Vec<String>,
}

/// The versions of test files that a check runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsFrom {
    Head,
    /// Changed and deleted test files are as the base has them. Added ones stay.
    Base,
}

/// What came of a check in a fresh checkout.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verified {
    /// The tree that was checked: that of the commit, with the files that were restored.
    pub tree: CommitId,
    /// Paths that are not as the commit has them, because the base defines them.
    pub restored: Vec<String>,
    /// `None` if the check was not run again, because the same tree passed before.
    pub setup: Option<SetupOutcome>,
    /// `None` if the setup failed.
    pub outcome: Option<CheckOutcome>,
    /// True if the outcome is that of an earlier run.
    pub is_cached: bool,
}

impl Verified {
    /// True if the check ran and passed.
    pub fn passed(&self) -> bool {
        self.outcome.as_ref().is_some_and(CheckOutcome::passed)
    }
}

/// The tree that is checked: the commit, and the files that the base defines.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) commit: CommitId,
    pub(crate) tree: CommitId,
    pub(crate) restored: Vec<String>,
}

impl Check {
    fn validate(&self) -> Result<()> {
        self.command.validate("check.command")?;
        match &self.setup.command {
            Some(command) => command.validate("setup.command"),
            None => Ok(()),
        }
    }
}

impl Worktrees {
    /// Checks the head of a ticket in a fresh checkout. A tree that passed the same check before is not
    /// checked again.
    pub async fn verify(
        &self,
        track: &Label,
        ticket: &Ticket,
        check: &Check,
        tests: TestsFrom,
        watcher: Watcher<'_>,
    ) -> Result<Verified> {
        let planned = self.plan_check(&ticket.base, &ticket.head, check, tests).await?;
        if let Some(verified) = self.earlier_pass(check, &planned) {
            return Ok(verified);
        }
        let log = self.log(track, &ticket.label, "check")?;
        let checkout = self.checkout(track, &ticket.label, &planned.commit).await?;
        let verified = self.run_check(checkout.tree(), check, planned, &log, watcher).await;
        let removed = checkout.remove().await;
        let verified = verified?;
        removed.map(|()| verified)
    }

    /// Checks the commit that a ticket starts from, before anything is changed.
    pub async fn baseline(
        &self,
        track: &Label,
        ticket: &Ticket,
        check: &Check,
        watcher: Watcher<'_>,
    ) -> Result<Verified> {
        let ticket = Ticket { head: ticket.base.clone(), ..ticket.clone() };
        self.verify(track, &ticket, check, TestsFrom::Head, watcher).await
    }

    /// The tree to check. Writes objects only.
    pub(crate) async fn plan_check(
        &self,
        base: &CommitId,
        head: &CommitId,
        check: &Check,
        tests: TestsFrom,
    ) -> Result<Planned> {
        check.validate()?;
        let git = self.repository().git();
        git.require(base).await?;
        git.require(head).await?;
        let restored = restored::paths(&git, base, head, check, tests).await?;
        let tree = git.tree_of(head).await?;
        if restored.is_empty() {
            return Ok(Planned { commit: head.clone(), tree, restored: Vec::new() });
        }
        let index = self.temp_file()?;
        let tree = restored::tree(&git, &index, head, &restored).await?;
        let commit = commit_tree(&git, &tree, &[head], "Check").await?;
        let restored = restored.iter().map(restored::Restored::shown).collect();
        Ok(Planned { commit, tree, restored })
    }

    /// The outcome of an earlier run on the same tree, if it passed.
    pub(crate) fn earlier_pass(&self, check: &Check, planned: &Planned) -> Option<Verified> {
        let record = std::fs::read(self.record(check, &planned.tree)).ok()?;
        let outcome: CheckOutcome = serde_json::from_slice(&record).ok()?;
        Some(Verified {
            tree: planned.tree.clone(),
            restored: planned.restored.clone(),
            setup: None,
            outcome: Some(outcome),
            is_cached: true,
        })
    }

    /// Runs setup and check in a tree that this process owns, and remembers a pass.
    pub(crate) async fn run_check(
        &self,
        tree: &Tree,
        check: &Check,
        planned: Planned,
        log: &Path,
        watcher: Watcher<'_>,
    ) -> Result<Verified> {
        let Planned { tree: checked, restored, .. } = planned;
        let setup = self.prepare(tree, &check.setup, Some(&log.with_extension("setup.txt")), watcher).await?;
        let outcome = match setup.passed() {
            true => {
                let mut command = check.command.clone();
                command.variables.added.extend(setup.variables());
                Some(command.run(tree, Some(log), watcher).await?)
            }
            false => None,
        };
        let verified = Verified { tree: checked, restored, setup: Some(setup), outcome, is_cached: false };
        if let Some(outcome) = verified.outcome.as_ref().filter(|outcome| outcome.passed()) {
            let record = serde_json::to_vec(outcome).unwrap_or_default();
            write_whole(&self.record(check, &verified.tree), &record)?;
        }
        Ok(verified)
    }

    /// The file that remembers a pass, named by the tree and everything that a check consists of.
    fn record(&self, check: &Check, tree: &CommitId) -> PathBuf {
        let mut digest = Sha256::new();
        let mut part = |text: &str| {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        };
        part(tree.as_str());
        for command in [Some(&check.command), check.setup.command.as_ref()] {
            part(command.map_or("", |command| &command.line));
            let variables = command.map(|command| &command.variables);
            for (name, value) in variables.iter().flat_map(|variables| &variables.added) {
                part(name);
                part(value);
            }
            for name in variables.iter().flat_map(|variables| &variables.withheld) {
                part(name);
            }
        }
        check.setup.copy.iter().for_each(|pattern| part(pattern));
        self.checks().join(format!("{:x}", digest.finalize()))
    }
}
