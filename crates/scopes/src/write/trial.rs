//! Writes whose changes are looked at before they commit. Those that are tried out begin with what was proposed,
//! and end without a trace in the library. Guarded ones fail if they change what is locked, and become a
//! question if a person has to decide.

use std::sync::Arc;

use persona::{AnyEntity, Kind, Name, Stored};
use store::Action;

use super::{Target, Touched, Trial, Write};
use crate::Result;
use crate::guard::Guard;
use crate::proposal::{Proposal, ProposedChange};
use crate::scopes::Scopes;

/// What becomes of a write after its trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Commits,
    /// Its changes went to the proposal, or became a question.
    Dropped,
}

impl Write {
    /// Puts a write under a guard.
    pub(crate) fn guarded(mut self, scopes: Scopes, guard: Arc<Guard>) -> Self {
        self.1.get_or_insert_default().guard = Some((scopes, guard));
        self
    }

    /// Turns a write into one that only proposes, on top of the proposal so far. Fails if others changed an
    /// entity of the proposal since; its change is dropped then.
    pub(crate) async fn try_out(mut self, proposal: Arc<Proposal>) -> Result<Self> {
        self.1.get_or_insert_default().proposal = Some(Arc::clone(&proposal));
        let scope = self.scope();
        for change in proposal.all().into_iter().filter(|change| change.scope == scope) {
            let held = self.find_any(change.kind, &change.name).await?;
            let actual = held.as_ref().map_or(0, |held| held.stored.meta.revision);
            if actual != change.base() {
                proposal.drop_change(&change);
                let (kind, name) = (change.kind, change.name);
                return Err(store::Error::Raced { kind, name }.into());
            }
            match (held, change.after) {
                (Some(held), Some(after)) => {
                    self.replace(&held, &after.entity, Action::Update).await?;
                }
                (None, Some(after)) => drop(self.insert(&after.entity, Action::Create).await?),
                (Some(held), None) => self.remove(&held).await?,
                (None, None) => {}
            }
        }
        Ok(self)
    }

    /// Notes the first change of an entity: the state before it, and the revision that it made.
    pub(super) fn touch(
        &mut self,
        kind: Kind,
        name: &Name,
        before: Option<&Stored<AnyEntity>>,
        revision: i64,
    ) {
        if let Some(trial) = &mut self.1 {
            let touched = || Touched { before: before.cloned(), revision };
            trial.touched.entry((kind, name.clone())).or_insert_with(touched);
        }
    }

    /// Looks at the changes: they go to the proposal, to the guard's questions, or to the library.
    pub(super) async fn end_trial(&mut self, trial: Trial) -> Result<Outcome> {
        let Trial { proposal, guard, touched } = trial;
        let scope = self.scope();
        let mut changes = Vec::with_capacity(touched.len());
        for ((kind, name), Touched { before, revision }) in touched {
            let mut after = self.find_any(kind, &name).await?.map(|held| held.stored);
            if let Some(after) = &mut after {
                after.meta.revision = revision;
            }
            changes.push(ProposedChange { scope, kind, name, before, after });
        }
        if let Some((scopes, _)) = &guard {
            scopes.check_locks(&changes).await?;
        }
        let asking = guard.filter(|(_, guard)| proposal.is_none() && guard.asks(&changes));
        if proposal.is_none() && asking.is_none() {
            return Ok(Outcome::Commits);
        }
        if let Target::File(write) = &self.0 {
            write.check_commit().await?;
        }
        if let Some((_, guard)) = asking {
            guard.put_question(changes);
        } else if let Some(proposal) = proposal {
            changes.into_iter().for_each(|change| proposal.put(change));
        }
        Ok(Outcome::Dropped)
    }
}
