//! Writes that are tried out: they begin with what was proposed, and end without a trace in the library.

use std::collections::BTreeMap;
use std::sync::Arc;

use persona::{AnyEntity, Kind, Name, Stored};
use store::Action;

use super::{Target, Touched, Trial, Write};
use crate::Result;
use crate::proposal::{Proposal, ProposedChange};

impl Write {
    /// Turns a write into one that only proposes, on top of the proposal so far. Fails if others changed an
    /// entity of the proposal since; its change is dropped then.
    pub(crate) async fn try_out(mut self, proposal: Arc<Proposal>) -> Result<Self> {
        self.1 = Some(Trial { proposal: Arc::clone(&proposal), touched: BTreeMap::new() });
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

    /// Adds the changes to the proposal. The write itself is dropped.
    pub(super) async fn propose(mut self, trial: Trial) -> Result<()> {
        if let Target::File(write) = &self.0 {
            write.check_commit().await?;
        }
        let scope = self.scope();
        let mut changes = Vec::with_capacity(trial.touched.len());
        for ((kind, name), Touched { before, revision }) in trial.touched {
            let mut after = self.find_any(kind, &name).await?.map(|held| held.stored);
            if let Some(after) = &mut after {
                after.meta.revision = revision;
            }
            changes.push(ProposedChange { scope, kind, name, before, after });
        }
        changes.into_iter().for_each(|change| trial.proposal.put(change));
        Ok(())
    }
}
