//! Writing: one change, all or nothing, in one scope.

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

/// Why a change in which something went wrong cannot be committed.
pub const STEP_FAILED: &str = "a step of this change failed, so nothing of it was kept; repeat all of it";

/// Who makes a change, through what, and why.
#[derive(Debug, Clone)]
pub struct Attribution {
    pub who: String,
    pub front: String,
    pub message: Option<String>,
}

/// What a revision records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Create,
    /// An earlier definition is put back after it was deleted.
    Restore,
    Update,
    Rename,
    Link,
    Unlink,
    Delete,
}

impl Action {
    /// As history has it.
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

/// A kind that can be kept.
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

/// An entity while a change holds it: nobody else changes it meanwhile.
#[derive(Debug, Clone, Deserialize)]
pub struct Held<T> {
    /// The row in the database; files have none.
    #[serde(default)]
    pub id: i64,
    #[serde(flatten)]
    pub stored: Stored<T>,
}
