//! Writes that a person watches over: locked fields stay as they are, and some changes ask first.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use builtins::Builtins;
use persona::{AnyEntity, Kind, Name, Scope};
use serde_json::{Map, Value};
use store::Change;

use crate::proposal::ProposedChange;
use crate::scopes::Scopes;
use crate::{Error, Result};

/// True if a change, from a definition to another one, has to be decided by a person.
pub type Asks = fn(&AnyEntity, &AnyEntity) -> bool;

/// Stands between a library and a writer that must respect locks.
#[derive(Debug)]
pub struct Guard {
    asks: Option<Asks>,
    questions: Mutex<Vec<ProposedChange>>,
}

impl Guard {
    /// A guard that looks at locks only.
    pub fn of_locks() -> Self {
        Self { asks: None, questions: Mutex::default() }
    }

    /// A guard that also turns writes with such a change into questions.
    pub fn asking(asks: Asks) -> Self {
        Self { asks: Some(asks), ..Self::of_locks() }
    }

    /// The changes of the writes that became questions since the last call. None of them was made.
    pub fn take_questions(&self) -> Vec<ProposedChange> {
        std::mem::take(&mut self.questions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn put_question(&self, changes: Vec<ProposedChange>) {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).extend(changes);
    }

    pub(crate) fn asks(&self, changes: &[ProposedChange]) -> bool {
        let Some(asks) = self.asks else { return false };
        changes.iter().any(|change| match (original(change), &change.after) {
            (Some(before), Some(after)) => asks(&before, &after.entity),
            _ => false,
        })
    }
}

/// The definition that a change begins with. A copy of a builtin begins with that.
fn original(change: &ProposedChange) -> Option<Cow<'_, AnyEntity>> {
    match &change.before {
        Some(before) => Some(Cow::Borrowed(&before.entity)),
        None => Builtins::get().find(change.kind, &change.name).map(Cow::Owned),
    }
}

impl Scopes {
    /// Fails if a change touches what is locked.
    pub(crate) async fn check_locks(&self, changes: &[ProposedChange]) -> Result<()> {
        for change in changes {
            let Some(before) = original(change) else { continue };
            let is_copy = change.before.is_none();
            let scope = if is_copy { Scope::Builtin } else { change.scope };
            let locks = self.locked_fields(scope, change.kind, &change.name).await?;
            if locks.is_empty() {
                continue;
            }
            let locked = |field: Option<String>| {
                let (kind, name) = (change.kind, change.name.clone());
                Error::Locked { kind, name, scope, field }
            };
            let Some(after) = &change.after else { return Err(locked(None)) };
            let (before, after) = (fields(&before), fields(&after.entity));
            // A copy of a builtin loses its tags.
            let differs =
                |field: &str| !(is_copy && field == "tags") && before.get(field) != after.get(field);
            if locks.iter().any(String::is_empty) && before.keys().chain(after.keys()).any(|it| differs(it)) {
                return Err(locked(None));
            }
            if let Some(field) = locks.into_iter().find(|field| differs(field)) {
                return Err(locked(Some(field)));
            }
        }
        Ok(())
    }
}

fn fields(entity: &AnyEntity) -> Map<String, Value> {
    match entity.to_json() {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

impl Scopes {
    /// The locked fields of an entity of a scope, in order. An empty one stands for the whole entity.
    pub async fn locked_fields(&self, scope: Scope, kind: Kind, name: &Name) -> Result<Vec<String>> {
        let (store, owner) = self.locks_of(scope, kind, name);
        Ok(store.locks(owner).await?)
    }

    /// Locks a field, or the whole entity if it is empty. False if it was locked.
    pub async fn lock(&self, scope: Scope, kind: Kind, name: &Name, field: &str) -> Result<bool> {
        let (store, owner) = self.locks_of(scope, kind, name);
        let is_new = store.lock(owner, field).await?;
        self.announce(vec![Change::Entity { kind, name: name.clone(), listed: false }]);
        Ok(is_new)
    }

    /// Unlocks it. False if it was not locked.
    pub async fn unlock(&self, scope: Scope, kind: Kind, name: &Name, field: &str) -> Result<bool> {
        let (store, owner) = self.locks_of(scope, kind, name);
        let is_gone = store.unlock(owner, field).await?;
        self.announce(vec![Change::Entity { kind, name: name.clone(), listed: false }]);
        Ok(is_gone)
    }
}
