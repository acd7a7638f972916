//! The integration branch of a track: one ticket after the other, each tree checked before it counts.

use serde::Serialize;

use crate::preflight::tickets_since;
use crate::refs::{self, Update};
use crate::replay::land;
use crate::tree::Marker;
use crate::{
    Check, CommitId, Error, Label, Preflight, Result, TestsFrom, Verified, Watcher, Worktrees, limits,
};

/// The integration branch of a track.
#[derive(Debug, Clone)]
pub struct Integration {
    track: Label,
    base: CommitId,
}

/// The work of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub label: Label,
    /// The commit that it started from.
    pub base: CommitId,
    /// The commit that was handed in.
    pub head: CommitId,
}

/// What came of an integration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Integrated {
    /// The integration branch has the ticket.
    Merged {
        /// The commit that the branch was moved to.
        commit: CommitId,
        /// True if an earlier call did it.
        already: bool,
        /// `None` without a check, and if an earlier call did it.
        verified: Option<Verified>,
    },
    /// The target has every change of the ticket, so nothing was moved.
    Unchanged {
        target: CommitId,
    },
    Conflicted {
        preflight: Preflight,
    },
    /// The check, or its setup, fails on the tree that the branch would have.
    RedTogether {
        target: CommitId,
        verified: Verified,
        /// Tickets that the target has and the ticket's base lacks.
        with: Vec<Label>,
    },
}

impl Integration {
    pub fn track(&self) -> &Label {
        &self.track
    }

    /// The full name of the branch.
    pub fn branch(&self) -> String {
        refs::branch(&self.track, &Label::integration())
    }

    /// The commit that the branch started from.
    pub fn base(&self) -> &CommitId {
        &self.base
    }
}

impl Worktrees {
    /// Opens the integration branch of a track, which is made at `base` if it is missing.
    pub async fn integration(&self, track: &Label, base: &CommitId) -> Result<Integration> {
        let label = Label::integration();
        let _lock = self.lock(track, &label).await?;
        self.repository().git().require(base).await?;
        let place = self.place(track, &label);
        let (base, _) = self.branch_of(track, &label, base, &place).await?;
        Ok(Integration { track: track.clone(), base })
    }

    /// Moves an integration branch that has no ticket yet to a newer start, as after a person mended the old
    /// one. A start that does not have the old one behind it changes nothing.
    pub async fn start_anew(&self, integration: &mut Integration, start: &CommitId) -> Result<()> {
        let label = Label::integration();
        let _lock = self.lock(&integration.track, &label).await?;
        let (head, branch) = (self.integration_head(integration).await?, integration.branch());
        let is_newer = head != *start && self.repository().is_ancestor(&head, start).await?;
        if head != integration.base || !is_newer {
            return Ok(());
        }
        self.not_checked_out(&branch, &self.place(&integration.track, &label)).await?;
        let mark = refs::base(&integration.track, &label);
        let updates = [Update::swap(branch, start, &head), Update::set(mark, start)];
        if refs::change(self.repository(), &updates).await? {
            integration.base = start.clone();
        }
        Ok(())
    }

    /// The head of the integration branch of a track.
    pub async fn integration_head(&self, integration: &Integration) -> Result<CommitId> {
        let branch = integration.branch();
        let head = self.repository().reference(&branch).await?;
        head.ok_or(Error::UnknownCommit { commit: branch })
    }

    /// Brings a ticket into the integration branch. Can be repeated after a kill at any point: a ticket
    /// that is in already is not brought in again. Without a check, for a result that a person approved,
    /// nothing is run.
    pub async fn integrate(
        &self,
        integration: &Integration,
        ticket: &Ticket,
        check: Option<&Check>,
        watcher: Watcher<'_>,
    ) -> Result<Integrated> {
        let track = &integration.track;
        let _lock = self.lock(track, &Label::integration()).await?;
        let place = self.place(track, &Label::integration());
        for _ in 0..limits::INTEGRATION_TRIES {
            let target = self.integration_head(integration).await?;
            if let Some(commit) = self.integrated_before(track, ticket, &target).await? {
                return Ok(Integrated::Merged { commit, already: true, verified: None });
            }
            let preflight = self.preflight(track, &target, &ticket.head).await?;
            let Some(tree) = &preflight.tree else { return Ok(Integrated::Conflicted { preflight }) };
            let git = self.repository().git();
            if *tree == git.tree_of(&target).await? {
                return Ok(Integrated::Unchanged { target });
            }
            let commit = land(&git, ticket, &target, tree).await?;
            let verified = match check {
                Some(check) => {
                    Some(self.check_together(integration, &target, &commit, check, watcher).await?)
                }
                None => None,
            };
            if let Some(verified) = verified.as_ref().filter(|verified| !verified.passed()) {
                let with = tickets_since(&git, track, &target, &ticket.base).await?;
                return Ok(Integrated::RedTogether { target, verified: verified.clone(), with });
            }
            self.not_checked_out(&integration.branch(), &place).await?;
            let updates = [
                Update::swap(integration.branch(), &commit, &target),
                Update::set(refs::submitted(track, &ticket.label), &ticket.head),
                Update::set(refs::merged(track, &ticket.label), &commit),
            ];
            if refs::change(self.repository(), &updates).await? {
                return Ok(Integrated::Merged { commit, already: false, verified });
            }
            // Another machine moved the branch meanwhile.
        }
        Err(Error::WorktreeBusy { path: place })
    }

    /// The commit that an earlier call brought a ticket in with.
    async fn integrated_before(
        &self,
        track: &Label,
        ticket: &Ticket,
        target: &CommitId,
    ) -> Result<Option<CommitId>> {
        let repository = self.repository();
        let submitted = repository.reference(&refs::submitted(track, &ticket.label)).await?;
        let merged = repository.reference(&refs::merged(track, &ticket.label)).await?;
        match merged {
            Some(merged)
                if submitted.as_ref() == Some(&ticket.head)
                    && repository.is_ancestor(&merged, target).await? =>
            {
                Ok(Some(merged))
            }
            _ => Ok(None),
        }
    }

    /// Checks the exact tree that the branch would have. The files that define the check are those of the
    /// target. The caller has the lock of the integration.
    async fn check_together(
        &self,
        integration: &Integration,
        target: &CommitId,
        commit: &CommitId,
        check: &Check,
        watcher: Watcher<'_>,
    ) -> Result<Verified> {
        let label = Label::integration();
        let planned = self.plan_check(target, commit, check, TestsFrom::Head).await?;
        if let Some(verified) = self.earlier_pass(check, &planned) {
            return Ok(verified);
        }
        let marker = Marker::new(&integration.track, &label, &integration.base);
        let place = self.place(&integration.track, &label);
        let log = self.log(&integration.track, &label, "check")?;
        let tree = self.owned(&place, &marker, &planned.commit).await?;
        self.run_check(&tree, check, planned, &log, watcher).await
    }
}
