//! Locks against the editing agent: of a whole entity, or of a field. They are state: locking makes no
//! revision, and no personas.toml has locks.

use persona::{Kind, Name, Scope};

use crate::write::DatabaseWrite;
use database::{Parameter, Transaction};

use crate::{Result, Store};

/// The entity that locks belong to.
#[derive(Debug, Clone, Copy)]
pub struct LockOwner<'a> {
    pub scope: Scope,
    /// The file that defines the entity. Empty for all others.
    pub origin: &'a str,
    pub kind: Kind,
    pub name: &'a Name,
}

impl LockOwner<'_> {
    fn values(&self) -> Vec<Parameter> {
        vec![
            Parameter::from(self.scope.as_str()),
            Parameter::from(self.origin),
            Parameter::from(self.kind.as_str()),
            Parameter::from(self.name),
        ]
    }

    /// The values, and a field. The whole entity has an empty one.
    fn values_at(&self, field: &str) -> Vec<Parameter> {
        let mut values = self.values();
        values.push(Parameter::from(field));
        values
    }
}

/// Locks a field. One that is locked stays so.
pub async fn put_lock(transaction: &mut Transaction, owner: LockOwner<'_>, field: &str) -> Result<bool> {
    let sql = "INSERT INTO agent_locks (scope, origin, kind, name, field) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (scope, origin, kind, name, field) DO NOTHING";
    Ok(transaction.run(sql, &owner.values_at(field)).await? == 1)
}

/// Removes the locks of an entity that is gone.
pub async fn remove_locks(transaction: &mut Transaction, owner: LockOwner<'_>) -> Result<()> {
    let sql = "DELETE FROM agent_locks WHERE scope = $1 AND origin = $2 AND kind = $3 AND name = $4";
    transaction.run(sql, &owner.values()).await?;
    Ok(())
}

/// Moves the locks of an entity to its new name.
pub async fn move_locks(transaction: &mut Transaction, owner: LockOwner<'_>, new: &Name) -> Result<()> {
    remove_locks(transaction, LockOwner { name: new, ..owner }).await?;
    let sql = "UPDATE agent_locks SET name = $5 WHERE scope = $1 AND origin = $2 AND kind = $3 AND name = $4";
    transaction.run(sql, &owner.values_at(new.as_str())).await?;
    Ok(())
}

impl DatabaseWrite {
    /// Locks a field of a shared entity.
    pub async fn put_lock(&mut self, kind: Kind, name: &Name, field: &str) -> Result<()> {
        let owner = LockOwner { scope: Scope::Shared, origin: "", kind, name };
        put_lock(self.transaction(), owner, field).await.map(drop)
    }
}

impl Store {
    /// The locked fields of an entity, in order. An empty one stands for the whole entity.
    pub async fn locks(&self, owner: LockOwner<'_>) -> Result<Vec<String>> {
        let sql = "SELECT field FROM agent_locks WHERE scope = $1 AND origin = $2 AND kind = $3 AND name = $4 \
                   ORDER BY field";
        Ok(self.engine().texts(sql, &owner.values()).await?)
    }

    /// Locks a field. False if it was locked.
    pub async fn lock(&self, owner: LockOwner<'_>, field: &str) -> Result<bool> {
        let mut transaction = self.engine().begin().await?;
        let is_new = put_lock(&mut transaction, owner, field).await?;
        transaction.commit().await?;
        Ok(is_new)
    }

    /// Unlocks a field. False if it was not locked.
    pub async fn unlock(&self, owner: LockOwner<'_>, field: &str) -> Result<bool> {
        let sql = "DELETE FROM agent_locks WHERE scope = $1 AND origin = $2 AND kind = $3 AND name = $4 \
                   AND field = $5";
        let mut transaction = self.engine().begin().await?;
        let removed = transaction.run(sql, &owner.values_at(field)).await?;
        transaction.commit().await?;
        Ok(removed == 1)
    }
}
