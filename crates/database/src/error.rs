//! Failures of a database.

use std::io;

use persona::ErrorKind;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the database is busy with another writer; try again in a moment")]
    Busy(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}")]
    Invalid(String),
    #[error(
        "this database was written by a newer Masque (its schema is at version {found}, this Masque knows {known}); upgrade masque, or use another --db"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("the database at {location} cannot be opened: {source}; check --db and MASQUE_DB")]
    Open { location: String, source: sqlx::Error },
    #[error("there is no database at {0}; check --db and MASQUE_DB")]
    NoDatabase(String),
    #[error("the database failed: {}{}", .0, remedy(.0))]
    Database(#[source] sqlx::Error),
    /// The same for a SQLite file that is read on the caller's thread.
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
            Self::Busy(_) => ErrorKind::Busy,
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::NoDatabase(_) => ErrorKind::Missing,
            Self::NewerSchema { .. }
            | Self::Open { .. }
            | Self::Database(_)
            | Self::Sqlite(_)
            | Self::Corrupt(_) => ErrorKind::Broken,
            Self::File { source, .. } => ErrorKind::of_io(source),
        }
    }
}

/// What to do about a database that refuses writes, where the code tells. SQLite: FULL and
/// READONLY, whatever else their code says; PostgreSQL: disk full, read only transaction.
fn remedy(error: &sqlx::Error) -> &'static str {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let code = code.as_deref().unwrap_or_default();
    // SQLite's codes are numbers of other lengths.
    let of_sqlite = code.parse::<u32>().ok().filter(|_| code.len() != 5).map(|number| number & 0xff);
    match (code, of_sqlite) {
        ("53100", _) | (_, Some(13)) => "; make room on its disk",
        ("25006", _) => "; it can only be read: connect to the primary server, or as a user who may write",
        (_, Some(8)) => "; check the owner and the rights of its files",
        _ => "",
    }
}

/// Whether another connection is in the way. SQLite: BUSY and LOCKED; PostgreSQL: serialization
/// failure, deadlock, lock not available.
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
