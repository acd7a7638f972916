//! Writes to one scope, atomically.

use persona::{Entity, Stored};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::words::Searchable;
use builtins::Builtin;

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

/// A kind that can be stored.
#[expect(private_bounds, reason = "the set of kinds is closed")]
pub trait Keep:
    Entity
    + Builtin
    + Searchable
    + Serialize
    + DeserializeOwned
    + Clone
    + PartialEq
    + Into<persona::AnyEntity>
    + TryFrom<persona::AnyEntity>
    + Send
    + Sync
    + 'static
{
}

impl<T> Keep for T where
    T: Entity
        + Builtin
        + Searchable
        + Serialize
        + DeserializeOwned
        + Clone
        + PartialEq
        + Into<persona::AnyEntity>
        + TryFrom<persona::AnyEntity>
        + Send
        + Sync
        + 'static
{
}

/// An entity that a write has locked.
#[derive(Debug, Clone, Deserialize)]
pub struct Held<T> {
    /// The row in the database; files have none.
    #[serde(default)]
    pub id: i64,
    #[serde(flatten)]
    pub stored: Stored<T>,
}
