//! Proposed changes: each write is tried and rolled back, and its outcome is kept in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use persona::{AnyEntity, Kind, Name, Scope, Stored};

/// A change of one entity that is proposed and not stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedChange {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
    /// The entity that the change is based on. `None` if its scope does not have one.
    pub before: Option<Stored<AnyEntity>>,
    /// The entity as proposed; its revision is that of the trial. `None` if it is to be deleted.
    pub after: Option<Stored<AnyEntity>>,
}

impl ProposedChange {
    /// The revision that the change is based on; 0 if its scope does not have the entity.
    pub fn base(&self) -> i64 {
        self.before.as_ref().map_or(0, |stored| stored.meta.revision)
    }
}

type Key = (Scope, Kind, Name);

/// The changes that were proposed so far, as the difference to the library.
#[derive(Debug, Default)]
pub struct Proposal(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    all: BTreeMap<Key, ProposedChange>,
    /// Those since the last look, also of entities that are again as the library has them.
    new: BTreeMap<Key, ProposedChange>,
}

impl Proposal {
    fn changes<T>(&self, of: impl FnOnce(&mut Changes) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All changes so far, in an order in which every reference has its target.
    pub fn all(&self) -> Vec<ProposedChange> {
        let mut all: Vec<ProposedChange> = self.changes(|changes| changes.all.values().cloned().collect());
        all.sort_by_key(|change| reference_order(change.kind, change.after.is_none()));
        all
    }

    /// The changes since the last call. An entity that is again as the library has it is the same before and
    /// after.
    pub fn take_new(&self) -> Vec<ProposedChange> {
        self.changes(|changes| std::mem::take(&mut changes.new)).into_values().collect()
    }

    /// The proposed state of an entity of a scope. `None` if nothing is proposed for it.
    pub(crate) fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<Option<Stored<AnyEntity>>> {
        let key = (scope, kind, name.clone());
        self.changes(|changes| changes.all.get(&key).map(|change| change.after.clone()))
    }

    pub(crate) fn put(&self, change: ProposedChange) {
        let key = (change.scope, change.kind, change.name.clone());
        let entity = |stored: &Option<Stored<AnyEntity>>| stored.as_ref().map(|stored| stored.entity.clone());
        let is_change = entity(&change.before) != entity(&change.after);
        self.changes(|changes| {
            match is_change {
                true => drop(changes.all.insert(key.clone(), change.clone())),
                false => drop(changes.all.remove(&key)),
            }
            changes.new.insert(key, change);
        });
    }

    /// Drops the change of an entity that others changed meanwhile.
    pub(crate) fn drop_change(&self, change: &ProposedChange) {
        let key = (change.scope, change.kind, change.name.clone());
        self.changes(|changes| changes.all.remove(&key));
    }
}

/// The place of a change in an order in which every reference has its target: what is new or changed comes
/// first, pieces before what refers to them; then deletions, the other way around.
pub const fn reference_order(kind: Kind, deleted: bool) -> u8 {
    const DELETIONS: u8 = 5;
    let depth = match kind {
        Kind::Persona => 2,
        Kind::Arc => 1,
        _ => 0,
    };
    if deleted { DELETIONS - depth } else { depth }
}
