//! Failures of a database.

use std::io;

use persona::{AsReport, Code, ErrorKind, Remedy, Subject};
use rusqlite::{ErrorCode, ffi};
use sqlx::error::DatabaseError;

use crate::Location;

/// PostgreSQL's code for a write in a transaction that may only read.
const READ_ONLY_TRANSACTION: &str = "25006";

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the database is busy with another writer")]
    Busy(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// PostgreSQL has no NUL in a text, so neither engine stores one.
    #[error("the text contains a NUL character")]
    Nul,
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("the database belongs to another program")]
    Foreign,
    #[error(
        "this database was written by a newer Masque (its schema is at version {found}, this Masque knows {known})"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("the database at {location} cannot be opened: {source}")]
    Open { location: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("there is no database at {0}")]
    NoDatabase(String),
    #[error("the database failed: {0}")]
    Database(#[source] sqlx::Error),
    #[error("the database failed: {0}")]
    Sqlite(#[source] rusqlite::Error),
    /// The database was closed, or is being closed.
    #[error("the database is closed")]
    Closed,
    #[error("a document in the database cannot be read: {0}")]
    Corrupt(#[source] serde_json::Error),
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
}

/// An address that names no database. It may contain a password, so it is not repeated.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("the database address is empty")]
    Empty,
    #[error("unknown kind of database {scheme:?}")]
    UnknownScheme { scheme: String },
    #[error("the database address is not valid: {0}")]
    Invalid(#[source] sqlx::Error),
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::Busy(_) => Code::DatabaseBusy,
            Self::Nul => Code::NulCharacter,
            Self::Address(_) => Code::InvalidAddress,
            Self::Foreign => Code::ForeignDatabase,
            Self::NoDatabase(_) => Code::NoDatabase,
            Self::NewerSchema { .. } => Code::NewerSchema,
            Self::Open { .. } => Code::DatabaseUnavailable,
            Self::Database(error) => postgres_code(error),
            Self::Sqlite(error) => sqlite_code(error),
            Self::Closed => Code::DatabaseUnavailable,
            Self::Corrupt(_) => Code::CorruptDocument,
            Self::File { source, .. } => Code::of_io(source),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::File { path, .. } => Subject::file(path),
            _ => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self.code() {
            Code::NulCharacter => vec![Remedy::RemoveNul],
            Code::InvalidAddress => vec![match self {
                Self::Address(AddressError::Invalid(_)) => Remedy::WriteAddress,
                _ => Remedy::NameDatabase,
            }],
            Code::ForeignDatabase => vec![Remedy::OtherDatabase],
            Code::DatabaseBusy => vec![Remedy::TryLater],
            Code::NewerSchema => vec![Remedy::UpgradeMasque, Remedy::OtherDatabase],
            _ if matches!(self, Self::Closed) => Vec::new(),
            Code::DatabaseUnavailable | Code::NoDatabase => vec![Remedy::CheckDatabase],
            Code::DatabaseFull => vec![Remedy::MakeRoom],
            Code::DatabaseReadOnly => vec![match self {
                Self::Database(_) => Remedy::UsePrimary,
                _ => Remedy::CheckRights,
            }],
            _ => Vec::new(),
        }
    }
}

/// Why a database refused a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// Another row has the same name.
    Unique,
    /// Another row is the same entity, by its `guid`.
    SameEntity,
    /// The row refers to one that is missing, or one refers to it.
    Reference,
}

impl Error {
    /// The constraint that a failed write violated, if any.
    pub fn violation(&self) -> Option<Violation> {
        match self {
            Self::Database(error) => postgres_violation(error.as_database_error()?),
            Self::Sqlite(error) => sqlite_violation(error.sqlite_error()?.extended_code),
            _ => None,
        }
    }

    /// The same error, for a database that could not be opened.
    pub(crate) fn on_open(self, location: &Location) -> Self {
        let location = location.to_string();
        match self {
            Self::Database(source) => Self::Open { location, source: source.into() },
            Self::Sqlite(source) => Self::Open { location, source: source.into() },
            error => error,
        }
    }
}

fn postgres_violation(error: &dyn DatabaseError) -> Option<Violation> {
    // Newer servers have a code of its own for a restricted deletion.
    let restricted = error.code().is_some_and(|code| code == "23001");
    if error.is_foreign_key_violation() || restricted {
        return Some(Violation::Reference);
    }
    let same_entity = error.constraint().is_some_and(|constraint| constraint.ends_with("_guid_key"));
    error.is_unique_violation().then_some(if same_entity { Violation::SameEntity } else { Violation::Unique })
}

fn sqlite_violation(code: i32) -> Option<Violation> {
    match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => Some(Violation::Unique),
        // SQLite counts a restricted deletion among the failures of triggers.
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY | ffi::SQLITE_CONSTRAINT_TRIGGER => Some(Violation::Reference),
        _ => None,
    }
}

/// Why a server refuses writes: its disk is full, or it only reads.
fn postgres_code(error: &sqlx::Error) -> Code {
    match error.as_database_error().and_then(DatabaseError::code).as_deref() {
        Some("53100") => Code::DatabaseFull,
        Some(READ_ONLY_TRANSACTION) => Code::DatabaseReadOnly,
        _ => Code::DatabaseFailed,
    }
}

fn sqlite_code(error: &rusqlite::Error) -> Code {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Code::DatabaseFull,
        Some(ErrorCode::ReadOnly) => Code::DatabaseReadOnly,
        _ => Code::DatabaseFailed,
    }
}

/// True if another connection is in the way: serialization failure, deadlock, lock not available.
fn is_in_the_way(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| matches!(&*code, "40001" | "40P01" | "55P03"))
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::PoolTimedOut => Self::Busy(error.into()),
            error if is_in_the_way(&error) => Self::Busy(error.into()),
            error => Self::Database(error),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error.into()),
            _ => Self::Sqlite(error),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(error)
    }
}
