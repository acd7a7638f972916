//! Locks against the editing agent. Only the user sets them, and only that agent is bound by them.

use async_recursion::async_recursion as boxed;
use persona::{Kind, Name, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::inputs::{EntityLocks, LockEntity, UnlockEntity};
use crate::{Library, Result, ValueError};

/// What the editing agent must not change about an entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Locks {
    pub kind: Kind,
    pub name: Name,
    /// The scope whose definition is locked.
    pub scope: Scope,
    /// True if the whole entity is locked.
    pub whole: bool,
    /// The fields that are locked by themselves, in order.
    pub fields: Vec<String>,
}

impl Library {
    /// The locks of an entity.
    #[boxed]
    pub async fn entity_locks(&self, input: EntityLocks) -> Result<Locks> {
        let EntityLocks { kind, name, scope } = input;
        let scope = self.locked_scope(kind, &name, scope).await?;
        self.locks_in(kind, name, scope).await
    }

    /// Locks an entity or one of its fields.
    #[boxed]
    pub async fn lock_entity(&self, input: LockEntity) -> Result<Locks> {
        let LockEntity { kind, name, field, scope } = input;
        let field = known_field(kind, field)?;
        let scope = self.locked_scope(kind, &name, scope).await?;
        self.scopes.lock(scope, kind, &name, &field).await?;
        self.locks_in(kind, name, scope).await
    }

    /// Unlocks an entity or one of its fields.
    #[boxed]
    pub async fn unlock_entity(&self, input: UnlockEntity) -> Result<Locks> {
        let UnlockEntity { kind, name, field, scope } = input;
        let field = known_field(kind, field)?;
        let scope = self.locked_scope(kind, &name, scope).await?;
        self.scopes.unlock(scope, kind, &name, &field).await?;
        self.locks_in(kind, name, scope).await
    }

    /// The scope that is meant: the named one, or the strongest that has the entity.
    async fn locked_scope(&self, kind: Kind, name: &Name, named: Option<Scope>) -> Result<Scope> {
        let found = self.scopes.scopes_of(kind, name).await?;
        match found.into_iter().find(|found| named.is_none_or(|named| named == *found)) {
            Some(scope) => Ok(scope),
            None => Err(self.missing_in(kind, name, named).await),
        }
    }

    async fn locks_in(&self, kind: Kind, name: Name, scope: Scope) -> Result<Locks> {
        let locked = self.scopes.locked_fields(scope, kind, &name).await?;
        let whole = locked.iter().any(String::is_empty);
        let fields = locked.into_iter().filter(|field| !field.is_empty()).collect();
        Ok(Locks { kind, name, scope, whole, fields })
    }
}

/// The name of a field, or the empty one for the whole entity. The name of an entity is no field: the agent
/// cannot change it anyway.
fn known_field(kind: Kind, field: Option<String>) -> Result<String> {
    let Some(field) = field else { return Ok(String::new()) };
    let known = || kind.fields().iter().map(|known| known.name).filter(|known| *known != "name");
    match known().any(|known| known == field) {
        true => Ok(field),
        false => {
            let known = known().map(str::to_owned).collect();
            Err(ValueError::NoField { kind, field, known }.into())
        }
    }
}
