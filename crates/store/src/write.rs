//! Writes to one scope, atomically.

use persona::{AnyEntity, Stored};

mod ahead;
mod database;
pub use database::DatabaseWrite;
mod identity;
mod links;
mod rows;

/// The author of a change, its front and its reason.
#[derive(Debug, Clone)]
pub struct Attribution {
    pub who: String,
    pub front: String,
    pub message: Option<String>,
}

/// The kind of change that a revision records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Create,
    /// An earlier definition is restored after its deletion.
    Restore,
    Update,
    Rename,
    Link,
    Unlink,
    Delete,
}

impl Action {
    /// The word in the history.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Restore => "restore",
            Self::Update => "update",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Unlink => "unlink",
            Self::Delete => "delete",
        }
    }
}

/// An entity that can be stored: of one kind, or of any.
pub trait Keep: Clone + PartialEq + Into<AnyEntity> + TryFrom<AnyEntity> + Send + Sync + 'static {}

impl<T> Keep for T where T: Clone + PartialEq + Into<AnyEntity> + TryFrom<AnyEntity> + Send + Sync + 'static {}

/// An entity that a write has locked.
#[derive(Debug, Clone)]
pub struct Held<T> {
    /// The row in the database; files have none.
    pub id: i64,
    pub stored: Stored<T>,
}

impl<T: Keep> Held<T> {
    /// The same entity, for code that treats all kinds alike.
    pub fn to_any(&self) -> Held<AnyEntity> {
        let Stored { entity, meta } = &self.stored;
        Held { id: self.id, stored: Stored { entity: entity.clone().into(), meta: meta.clone() } }
    }
}

impl Held<AnyEntity> {
    /// The entity as one of its kind. None if it is of another.
    pub fn of_kind<T: Keep>(self) -> Option<Held<T>> {
        Some(Held { id: self.id, stored: self.stored.of_kind()? })
    }
}
