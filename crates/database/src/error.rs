//! Failures of a database.

use std::borrow::Cow;
use std::{fmt, io};

use persona::{AsReport, Code, ErrorKind, Remedy, Subject};
use rusqlite::{ErrorCode, ffi};
use sqlx::error::DatabaseError;

use crate::{Location, SchemaName};

/// PostgreSQL's code for a write in a transaction that may only read.
const READ_ONLY_TRANSACTION: &str = "25006";

/// PostgreSQL's code for a role without the needed rights.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// The grants that a role needs on Masque's tables.
const GRANT_TABLES: &str =
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA your_schema TO your_role";

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the database is busy with another writer")]
    Busy(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the connection to the database was lost: {0}")]
    Lost(#[source] PostgresError),
    #[error("the database did not answer in time")]
    TimedOut,
    /// A failed commit whose outcome is unknown.
    #[error("{0} (while the change was committed)")]
    InCommit(#[source] Box<Self>),
    /// PostgreSQL has no NUL in a text, so neither engine stores one.
    #[error("the text contains a NUL character")]
    Nul,
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("the database belongs to another program")]
    Foreign,
    #[error("the schema {schema} has tables of another program: {}", tables.join(", "))]
    ForeignTables { schema: SchemaName, tables: Vec<String> },
    /// The role may neither make the schema nor make tables in it.
    #[error("the role {role} may not {}", if *exists { format!("create tables in the schema {schema}") } else { format!("create the schema {schema}") })]
    SchemaDenied { schema: SchemaName, role: String, exists: bool },
    #[error("the server ignores the search_path of a connection, so the schema {schema} is out of reach")]
    PathIgnored { schema: SchemaName },
    #[error(
        "this database was written by a newer Masque (its schema is at version {found}, this Masque knows {known})"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("the database at {location} cannot be opened: {source}")]
    Open { location: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("there is no database at {0}")]
    NoDatabase(String),
    #[error("the database failed: {0}")]
    Database(#[source] PostgresError),
    #[error("the database failed: {0}")]
    Sqlite(#[source] rusqlite::Error),
    /// The database was closed, or is being closed.
    #[error("the database is closed")]
    Closed,
    #[error("a document in the database cannot be read: {0}")]
    Corrupt(#[source] serde_json::Error),
    #[error("the copy of the database is damaged: {found}")]
    DamagedCopy { found: String },
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
    #[error("the schema {name:?} is not a plain name")]
    Schema { name: String },
    #[error("the database address is not valid: {0}")]
    Invalid(#[source] sqlx::Error),
}

/// A failure of PostgreSQL, or of the connection to it.
#[derive(Debug)]
pub struct PostgresError(sqlx::Error);

impl PostgresError {
    /// The server's five-character code, if the server reported the failure.
    pub fn sqlstate(&self) -> Option<Cow<'_, str>> {
        self.server_error().and_then(DatabaseError::code)
    }

    /// True if the connection broke.
    fn is_of_connection(&self) -> bool {
        matches!(self.0, sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_))
    }

    fn server_error(&self) -> Option<&dyn DatabaseError> {
        self.0.as_database_error()
    }
}

/// The server's own message. sqlx adds the line of the server's source code, which helps no user.
impl fmt::Display for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.server_error() {
            Some(error) => f.write_str(error.message()),
            None => self.0.fmt(f),
        }
    }
}

impl std::error::Error for PostgresError {}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::Busy(_) => Code::DatabaseBusy,
            Self::Lost(_) => Code::DatabaseLost,
            Self::TimedOut => Code::DatabaseTimeout,
            Self::InCommit(error) => error.code(),
            Self::Nul => Code::NulCharacter,
            Self::Address(_) => Code::InvalidAddress,
            Self::Foreign | Self::ForeignTables { .. } => Code::ForeignDatabase,
            Self::SchemaDenied { .. } => Code::SchemaDenied,
            Self::PathIgnored { .. } => Code::DatabaseUnavailable,
            Self::NoDatabase(_) => Code::NoDatabase,
            Self::NewerSchema { .. } => Code::NewerSchema,
            Self::Open { .. } => Code::DatabaseUnavailable,
            Self::Database(error) => postgres_code(error),
            Self::Sqlite(error) => sqlite_code(error),
            Self::Closed => Code::DatabaseUnavailable,
            Self::Corrupt(_) => Code::CorruptDocument,
            Self::DamagedCopy { .. } => Code::DatabaseFailed,
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
                Self::Address(AddressError::Schema { .. }) => Remedy::OtherSchema,
                _ => Remedy::NameDatabase,
            }],
            Code::ForeignDatabase => vec![match self {
                Self::ForeignTables { .. } => Remedy::OtherSchema,
                _ => Remedy::OtherDatabase,
            }],
            Code::SchemaDenied => self.rights(),
            _ if self.lacks_privilege() => {
                vec![Remedy::AskOwner { statement: GRANT_TABLES.to_owned() }, Remedy::OtherSchema]
            }
            Code::DatabaseBusy | Code::DatabaseLost | Code::DatabaseTimeout => vec![Remedy::TryLater],
            Code::NewerSchema => vec![Remedy::UpgradeMasque, Remedy::OtherDatabase],
            _ if matches!(self, Self::Closed) => Vec::new(),
            _ if matches!(self, Self::PathIgnored { .. }) => vec![Remedy::PassSearchPath],
            Code::DatabaseUnavailable | Code::NoDatabase => vec![Remedy::CheckDatabase],
            Code::DatabaseFull | Code::FileFull => vec![Remedy::MakeRoom],
            Code::DatabaseReadOnly => vec![match self {
                Self::Database(_) => Remedy::UsePrimary,
                _ => Remedy::CheckRights,
            }],
            _ => Vec::new(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            Self::InCommit(_) => Some(true),
            Self::Busy(_)
            | Self::Lost(_)
            | Self::TimedOut
            | Self::Open { .. }
            | Self::Database(_)
            | Self::Sqlite(_)
            | Self::Closed => Some(false),
            Self::Nul
            | Self::Address(_)
            | Self::Foreign
            | Self::ForeignTables { .. }
            | Self::SchemaDenied { .. }
            | Self::PathIgnored { .. }
            | Self::NewerSchema { .. }
            | Self::NoDatabase(_)
            | Self::Corrupt(_)
            | Self::DamagedCopy { .. }
            | Self::File { .. } => None,
        }
    }
}

impl Error {
    /// True if the server says that the role lacks a right, also while the database was opened.
    fn lacks_privilege(&self) -> bool {
        let error = match self {
            Self::Database(error) => Some(error),
            Self::InCommit(error) => return error.lacks_privilege(),
            Self::Open { source, .. } => source.downcast_ref::<PostgresError>(),
            _ => None,
        };
        error.and_then(PostgresError::sqlstate).is_some_and(|code| code == INSUFFICIENT_PRIVILEGE)
    }

    /// The statement that gives the role its rights, and another schema.
    fn rights(&self) -> Vec<Remedy> {
        let Self::SchemaDenied { schema, role, exists } = self else { return Vec::new() };
        let role = role.replace('"', "\"\"");
        let statement = match exists {
            true => format!("GRANT CREATE, USAGE ON SCHEMA {} TO \"{role}\"", schema.quoted()),
            false => format!("CREATE SCHEMA {} AUTHORIZATION \"{role}\"", schema.quoted()),
        };
        vec![Remedy::AskOwner { statement }, Remedy::OtherSchema]
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
            Self::Database(error) => postgres_violation(error.server_error()?),
            Self::Sqlite(error) => sqlite_violation(error.sqlite_error()?.extended_code),
            _ => None,
        }
    }

    /// The same error, of a commit. A refusal by the database means that nothing was committed; after a
    /// broken connection or a failed disk, the outcome is unknown.
    pub(crate) fn in_commit(self) -> Self {
        let is_refusal = match &self {
            Self::Busy(_) | Self::Closed => true,
            Self::Database(error) => error.server_error().is_some(),
            Self::Sqlite(error) => !matches!(
                error.sqlite_error_code(),
                None | Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
            ),
            _ => false,
        };
        if is_refusal { self } else { Self::InCommit(Box::new(self)) }
    }

    /// The same error, for a database that could not be opened.
    pub(crate) fn on_open(self, location: &Location) -> Self {
        let location = location.to_string();
        match self {
            Self::Database(source) | Self::Lost(source) => Self::Open { location, source: source.into() },
            Self::TimedOut => Self::Open { location, source: Box::new(Self::TimedOut) },
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
fn postgres_code(error: &PostgresError) -> Code {
    match error.sqlstate().as_deref() {
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

/// True if another connection is in the way: serialization failure, deadlock, lock not available, no free
/// connection.
fn is_in_the_way(code: &str) -> bool {
    matches!(code, "40001" | "40P01" | "55P03" | "53300")
}

/// True if the server ends the connection: it shuts down, starts, crashed, or was idle for too long.
fn ends_connection(code: &str) -> bool {
    code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "57P05" | "25P03")
}

/// PostgreSQL's code for a statement that ran into the server's own time limit.
const QUERY_CANCELED: &str = "57014";

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let error = match error {
            sqlx::Error::PoolClosed => return Self::Closed,
            sqlx::Error::PoolTimedOut => return Self::TimedOut,
            error => PostgresError(error),
        };
        match error.sqlstate().as_deref() {
            Some(QUERY_CANCELED) => Self::TimedOut,
            Some(code) if ends_connection(code) => Self::Lost(error),
            Some(code) if is_in_the_way(code) => Self::Busy(error.into()),
            None if error.is_of_connection() => Self::Lost(error),
            _ => Self::Database(error),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(code: i32) -> Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    fn broken() -> Error {
        sqlx::Error::Io(io::ErrorKind::ConnectionReset.into()).into()
    }

    /// Before the commit nothing can have happened. In it, that depends on the failure.
    #[test]
    fn a_failed_commit_may_have_happened() {
        type Case = (fn() -> Error, Code, bool);
        let cases: [Case; 8] = [
            (broken, Code::DatabaseLost, true),
            (|| sqlx::Error::Protocol("eof".to_owned()).into(), Code::DatabaseLost, true),
            (|| sqlx::Error::PoolTimedOut.into(), Code::DatabaseTimeout, true),
            (|| sqlx::Error::PoolClosed.into(), Code::DatabaseUnavailable, false),
            (|| sqlite(ffi::SQLITE_IOERR_FSYNC), Code::DatabaseFailed, true),
            (|| sqlite(ffi::SQLITE_BUSY), Code::DatabaseBusy, false),
            (|| sqlite(ffi::SQLITE_FULL), Code::DatabaseFull, false),
            (|| sqlite(ffi::SQLITE_READONLY_DBMOVED), Code::DatabaseReadOnly, false),
        ];
        for (error, code, in_commit) in cases {
            let before = error();
            assert_eq!((before.code(), before.may_have_happened()), (code, Some(false)), "{before}");
            let committed = error().in_commit();
            let expected = (code, Some(in_commit));
            assert_eq!((committed.code(), committed.may_have_happened()), expected, "{committed}");
        }
    }
}
