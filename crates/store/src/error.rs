//! What can go wrong in a store.

use std::io;

use agent::SessionStatus;
use persona::{ChainError, Kind, Name, Scope};
use uuid::Uuid;

use crate::files::Problem;

pub type Result<T> = std::result::Result<T, Error>;

/// How a caller is to treat an error: each front maps these once, to a status or an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    Missing,
    Conflict,
    Invalid,
    Busy,
    Denied,
    Broken,
}

impl ErrorKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Busy => "busy",
            Self::Denied => "denied",
            Self::Broken => "broken",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} {name:?} exists already; update it, or choose another name", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error(
        "{} {name:?} was changed by somebody else at the same time; read it again and repeat your change",
        kind.spoken()
    )]
    Raced { kind: Kind, name: Name },
    #[error("the database is busy with another writer; try again in a moment")]
    Busy(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A personas.toml that does not parse, or an entry of it that is wrong.
    #[error("{0}")]
    Problem(Box<Problem>),
    #[error(
        "{path} was changed by somebody else in this very moment; nothing was written, repeat your change"
    )]
    FileChanged { path: String },
    #[error("{0}")]
    Denied(String),
    #[error("another Masque process is writing {path}; try again in a moment")]
    FileBusy { path: String },
    #[error("session {id} exists already; create it under another id")]
    SessionExists { id: Uuid },
    #[error("session {id} is {}; wait until it is idle, or cancel it first", crate::sessions::status_word(*status))]
    SessionBusy { id: Uuid, status: SessionStatus },
    #[error(
        "session {id} is no longer run by this process: it was taken over, ended or deleted; read it again"
    )]
    LeaseLost { id: Uuid },
    /// A revision, or what it refers to, that no history has any more.
    #[error("{}", forgotten(*revision, piece.as_ref()))]
    Forgotten { revision: i64, piece: Option<(Scope, Kind, Name)> },
    #[error("{0} is not empty; choose another place for the copy")]
    Occupied(String),
    #[error(
        "this database was written by a newer Masque (its schema is at version {found}, this Masque knows {known}); upgrade masque, or use another --db"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("the database at {location} cannot be opened: {source}; check --db and MASQUE_DB")]
    Open { location: String, source: sqlx::Error },
    #[error(
        "{location}, where the copy is to go, cannot be opened: {source}; check that place, or name another (--to)"
    )]
    OpenTarget { location: String, source: sqlx::Error },
    #[error("there is no database at {0}; check --db and MASQUE_DB")]
    NoDatabase(String),
    #[error("the database failed: {}{}", .0, way_out(.0))]
    Database(#[source] sqlx::Error),
    /// The same of a SQLite file that was read on the caller's thread.
    #[error("the database failed: {0}")]
    Sqlite(#[source] rusqlite::Error),
    #[error("a document in the database cannot be read: {0}; was it written by hand?")]
    Corrupt(#[source] serde_json::Error),
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists { .. }
            | Self::Raced { .. }
            | Self::Occupied(_)
            // What was asked for is well; the file is to be mended before it can be done.
            | Self::Problem(_)
            | Self::FileChanged { .. }
            | Self::SessionExists { .. }
            | Self::SessionBusy { .. }
            | Self::LeaseLost { .. } => ErrorKind::Conflict,
            Self::Busy(_) | Self::FileBusy { .. } => ErrorKind::Busy,
            Self::Invalid(_) | Self::Chain(_) => ErrorKind::Invalid,
            Self::Denied(_) => ErrorKind::Denied,
            Self::NoDatabase(_) | Self::Forgotten { .. } => ErrorKind::Missing,
            Self::NewerSchema { .. }
            | Self::Open { .. }
            | Self::OpenTarget { .. }
            | Self::Database(_)
            | Self::Sqlite(_)
            | Self::Corrupt(_) => ErrorKind::Broken,
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
                _ => ErrorKind::Broken,
            },
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

/// What to do about a database that cannot be written to, where that is known. SQLite: FULL and
/// READONLY, whatever else their code says; PostgreSQL: disk full, read only transaction.
fn way_out(error: &sqlx::Error) -> &'static str {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let code = code.as_deref().unwrap_or_default();
    // Those of SQLite are numbers of other lengths.
    let of_sqlite = code.parse::<u32>().ok().filter(|_| code.len() != 5).map(|number| number & 0xff);
    match (code, of_sqlite) {
        ("53100", _) | (_, Some(13)) => "; make room on its disk",
        ("25006", _) => "; it can only be read: connect to the primary server, or as a user who may write",
        (_, Some(8)) => "; check the owner and the rights of its files",
        _ => "",
    }
}

/// Whether another one is in the way. SQLite: BUSY and LOCKED; PostgreSQL: serialization failure,
/// deadlock, lock not available.
pub(crate) fn is_in_the_way(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .is_some_and(|code| matches!(&*code, "5" | "6" | "261" | "262" | "517" | "40001" | "40P01" | "55P03"))
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let busy = matches!(&error, sqlx::Error::PoolTimedOut) || is_in_the_way(&error);
        if busy { Self::Busy(error.into()) } else { Self::Database(error) }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(error)
    }
}
