//! Takes a turn of the editing agent back: the inverse of each entity, where nothing else changed it since.

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Scope};
use schemars::JsonSchema;
use scopes::Write;
use serde::Serialize;
use store::{Action, Held, RevisionRef};

use super::journal::{Change, Reversal, Seen};
use crate::outputs::ScopedEntityRef;
use crate::{Author, ErrorKind, Library, Result};

/// A turn of the editing agent that was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UndoneTurn {
    /// The entities that are as they were before the turn.
    pub undone: Vec<ScopedEntityRef>,
    /// The entities that stay as they are.
    pub kept: Vec<KeptEntity>,
}

/// An entity that a turn changed and that cannot be put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct KeptEntity {
    #[serde(flatten)]
    pub entity: ScopedEntityRef,
    pub reason: KeptReason,
}

/// Why an entity stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum KeptReason {
    /// Others changed it since.
    ChangedSince,
    /// Others changed it between two changes of the turn; the later ones were taken back.
    ChangedBetween,
    /// The turn made it, and others use it now.
    InUse,
    /// It refers to something that is gone.
    Incomplete,
    /// No history has its earlier state any more.
    Forgotten,
}

impl UndoneTurn {
    fn keep(&mut self, change: &Change, reason: KeptReason) {
        self.kept.push(KeptEntity { entity: place(change), reason });
    }
}

fn place(change: &Change) -> ScopedEntityRef {
    ScopedEntityRef { scope: change.scope, kind: change.kind, name: change.name.clone() }
}

impl Library {
    /// Takes changes back, in one write for each scope. Also returns the entities as they are now.
    #[boxed]
    pub(super) async fn take_back(
        &self,
        author: &Author,
        message: &str,
        reversals: Vec<Reversal>,
    ) -> Result<(UndoneTurn, Vec<Seen>)> {
        let (mut outcome, mut seen) = (UndoneTurn::default(), Vec::new());
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            let here: Vec<&Reversal> =
                reversals.iter().filter(|reversal| reversal.change.scope == scope).collect();
            if here.is_empty() {
                continue;
            }
            let attribution = author.because(Some(message.to_owned()))?;
            let mut write = self.scopes.write(scope, attribution).await?;
            let mut is_changed = false;
            for Reversal { change, is_partial } in here {
                match self.reverse(&mut write, change).await? {
                    Err(reason) => outcome.keep(change, reason),
                    Ok(now) => {
                        is_changed = true;
                        seen.extend(now);
                        match is_partial {
                            true => outcome.keep(change, KeptReason::ChangedBetween),
                            false => outcome.undone.push(place(change)),
                        }
                    }
                }
            }
            if is_changed {
                write.commit().await?;
            }
        }
        Ok((outcome, seen))
    }

    /// Puts one entity back, or says why it stays.
    async fn reverse(
        &self,
        write: &mut Write,
        change: &Change,
    ) -> Result<std::result::Result<Option<Seen>, KeptReason>> {
        let held = write.find_any(change.kind, &change.name).await?;
        let is_unchanged = match &held {
            None => change.deleted,
            Some(held) => !change.deleted && self.is_as_left(change, held).await?,
        };
        if !is_unchanged {
            return Ok(Err(KeptReason::ChangedSince));
        }
        match (change.before, held) {
            (Some(before), _) => self.put_back(write, change, before).await,
            (None, Some(held)) => remove_new(write, &held).await,
            (None, None) => Ok(Ok(None)),
        }
    }

    /// True if an entity is as the turn left it. A later turn that was taken back made revisions of its own.
    async fn is_as_left(&self, change: &Change, held: &Held<AnyEntity>) -> Result<bool> {
        let Change { kind, name, scope, after, .. } = change;
        if held.stored.meta.revision == *after {
            return Ok(true);
        }
        let left = self.scopes.revision(*scope, *kind, name, &RevisionRef::Number(*after)).await?;
        Ok(left.is_some_and(|left| left.entity == held.stored.entity))
    }

    async fn put_back(
        &self,
        write: &mut Write,
        change: &Change,
        before: i64,
    ) -> Result<std::result::Result<Option<Seen>, KeptReason>> {
        let Change { kind, name, scope, .. } = change;
        let then = self.scopes.revision(*scope, *kind, name, &RevisionRef::Number(before)).await?;
        let Some(then) = then else { return Ok(Err(KeptReason::Forgotten)) };
        let mut copied = Vec::new();
        match self.put_any(write, &then.entity, Action::Restore, None, &mut copied).await {
            Ok(written) => {
                let (kind, name, scope) = (*kind, name.clone(), *scope);
                let seen = Seen { kind, name, scope, revision: written.revision, partly: true };
                Ok(Ok(Some(seen)))
            }
            Err(error) if error.kind() == ErrorKind::Missing => Ok(Err(KeptReason::Incomplete)),
            Err(error) => Err(error),
        }
    }
}

/// Deletes an entity that the turn made, unless others use it.
async fn remove_new(
    write: &mut Write,
    held: &Held<AnyEntity>,
) -> Result<std::result::Result<Option<Seen>, KeptReason>> {
    if !write.users(held).await?.is_empty() {
        return Ok(Err(KeptReason::InUse));
    }
    write.remove(held).await?;
    Ok(Ok(None))
}
