//! What can go wrong in a use case, and how a front is to treat it.

use persona::{Invalid, Kind, Name, OverrideError};

pub use store::ErrorKind;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no {kind} is named {name:?}; {hint}")]
    Missing { kind: Kind, name: Name, hint: String },
    #[error("{kind} {name:?} exists already; update it, or choose another name")]
    Exists { kind: Kind, name: Name },
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Denied(String),
    #[error(
        "{kind} {name:?} is at revision {actual}, not {expected}: somebody changed it; read it again and repeat your change"
    )]
    Stale { kind: Kind, name: Name, expected: i64, actual: i64 },
    #[error(
        "{kind} {name:?} is used by {users}; unlink it there first, or repeat with force to unlink it everywhere"
    )]
    InUse { kind: Kind, name: Name, users: String },
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// How a front is to treat this: each maps a kind once.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing { .. } => ErrorKind::Missing,
            Self::Exists { .. } | Self::Stale { .. } | Self::InUse { .. } => ErrorKind::Conflict,
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Denied(_) => ErrorKind::Denied,
            Self::Store(error) => error.kind(),
        }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid.to_string())
    }
}

impl From<OverrideError> for Error {
    fn from(error: OverrideError) -> Self {
        Self::Invalid(error.to_string())
    }
}
