//! Failures of keeping and reading the library.

use std::io;

use persona::{ChainError, ErrorKind, Kind, Name, Scope};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} {name:?} exists already; update it, or choose another name", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error(
        "{} {name:?} was changed by somebody else at the same time; read it again and repeat your change",
        kind.spoken()
    )]
    Raced { kind: Kind, name: Name },
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A revision, or what it refers to, that no history has any more.
    #[error("{}", forgotten(*revision, piece.as_ref()))]
    Forgotten { revision: i64, piece: Option<(Scope, Kind, Name)> },
    #[error("{0} is not empty; choose another place for the copy")]
    Occupied(String),
    #[error(
        "{location}, where the copy is to go, cannot be opened: {source}; check that place, or name another (--to)"
    )]
    OpenTarget { location: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists { .. } | Self::Raced { .. } | Self::Occupied(_) => ErrorKind::Conflict,
            Self::Invalid(_) | Self::Chain(_) => ErrorKind::Invalid,
            Self::Forgotten { .. } => ErrorKind::Missing,
            Self::OpenTarget { .. } => ErrorKind::Broken,
            Self::Database(error) => error.kind(),
            Self::File { source, .. } => ErrorKind::of_io(source),
        }
    }
}

fn forgotten(revision: i64, piece: Option<&(Scope, Kind, Name)>) -> String {
    let Some((scope, kind, name)) = piece else {
        return format!("revision {revision} was forgotten in this very moment; choose another one");
    };
    let (kind, name) = (kind.spoken(), name.as_str());
    let where_else = match scope {
        Scope::Shared => " of this database",
        _ => "",
    };
    format!(
        "revision {revision} refers to {kind} {name:?} of {scope} as it was then, and the history{where_else} has \
         that no more; choose another revision, or roll back to this one, and it has the {kind} as it is now"
    )
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Database(error.into())
    }
}
