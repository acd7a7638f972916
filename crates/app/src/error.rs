//! What can go wrong in a use case, and how a front is to treat it.

use persona::{Invalid, Kind, Name, OverrideError, Scope};

pub use persona::ErrorKind;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no {} is named {name:?}; {hint}", kind.spoken())]
    Missing { kind: Kind, name: Name, hint: String },
    #[error("{} {name:?} is in {found}, not in {wanted}; {}", kind.spoken(), out_of(*wanted))]
    Elsewhere { kind: Kind, name: Name, wanted: Scope, found: Scope },
    #[error("{} {name:?} exists already; update it, or choose another name", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error(
        "{scope} has another {} {name:?}; repeat with replace to put this one in its place, or rename one",
        kind.spoken()
    )]
    Occupied { kind: Kind, name: Name, scope: Scope },
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Absent(String),
    #[error("{0}")]
    Denied(String),
    /// A session is busy with something else.
    #[error("{0}")]
    Running(String),
    #[error("{}", stale(*kind, name, *expected, *actual))]
    Stale { kind: Kind, name: Name, expected: i64, actual: i64 },
    #[error(
        "{} {name:?} is used by {users}; unlink it there first, or repeat with force to do it all the same",
        kind.spoken()
    )]
    InUse { kind: Kind, name: Name, users: String },
    #[error(
        "{scope}'s {} {name:?} is used by {users}, which would be left without it; keep {scope}'s, or unlink it there first",
        kind.spoken()
    )]
    Needed { kind: Kind, name: Name, scope: Scope, users: String },
    /// What was done before it went wrong stays, and is told.
    #[error("{rest}\n{done}")]
    Unfinished { done: String, rest: Box<Self> },
    #[error(transparent)]
    Scopes(#[from] scopes::Error),
    #[error(transparent)]
    Sessions(#[from] sessions::Error),
}

/// What to do where a scope does not have what another one has.
fn out_of(wanted: Scope) -> String {
    match wanted {
        Scope::Builtin => "leave out the scope".to_owned(),
        wanted => format!("leave out the scope, or duplicate it into {wanted}"),
    }
}

impl Error {
    /// How a front is to treat this: each maps a kind once.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing { .. } | Self::Elsewhere { .. } | Self::Absent(_) => ErrorKind::Missing,
            Self::Exists { .. }
            | Self::Stale { .. }
            | Self::InUse { .. }
            | Self::Needed { .. }
            | Self::Occupied { .. }
            | Self::Running(_) => ErrorKind::Conflict,
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Denied(_) => ErrorKind::Denied,
            Self::Unfinished { rest, .. } => rest.kind(),
            Self::Scopes(error) => error.kind(),
            Self::Sessions(error) => error.kind(),
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Scopes(error.into())
    }
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Self {
        Self::Scopes(error.into())
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        Self::Scopes(error.into())
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

fn stale(kind: Kind, name: &Name, expected: i64, actual: i64) -> String {
    let named = format!("{} {name:?}", kind.spoken());
    if actual == 0 {
        return format!(
            "{named} is not at revision {expected}: it was deleted, or is builtin; read it again, or repeat without if_revision"
        );
    }
    format!(
        "{named} is at revision {actual}, not {expected}: somebody changed it; read it again and repeat your change"
    )
}
