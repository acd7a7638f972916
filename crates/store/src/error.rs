//! Failures of storing and reading the library.

use std::io;

use persona::{AsReport, ChainError, Code, ErrorKind, Kind, Name, Remedy, Scope, Subject};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} {name:?} already exists", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error("{} {name:?} was changed at the same time", kind.spoken())]
    Raced { kind: Kind, name: Name },
    /// A definition refers to an entity that was deleted since the caller looked it up.
    #[error("{} {name:?} was deleted at the same time", kind.spoken())]
    Deleted { kind: Kind, name: Name },
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error("keep must be at least 1: the newest revision always stays")]
    KeepNothing,
    /// A write in which a step failed cannot be committed.
    #[error("an earlier step of this write failed, so nothing was written")]
    StepFailed,
    #[error("the backup could not be closed, so none was written")]
    BackupNotClosed,
    #[error("row {row} of {table} differs after the copy, so nothing was copied")]
    CopyDiffers { table: &'static str, row: u64 },
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A revision, or what it refers to, that no history has any more.
    #[error("{}", forgotten(*revision, piece.as_ref()))]
    Forgotten { revision: i64, piece: Option<(Scope, Kind, Name)> },
    #[error("{0} is not empty")]
    Occupied(String),
    #[error("the target of the copy, {location}, cannot be opened: {source}")]
    OpenTarget { location: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
}

/// A filter of a list or a search that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("{cursor:?} is not a cursor that a list returned")]
    Cursor { cursor: String },
    #[error("tags: at most {most} tags are allowed, not {count}")]
    TooManyTags { most: usize, count: usize },
    #[error("tags: a tag contains a NUL character")]
    NulInTag,
    #[error("query: at most {most} bytes are allowed, not {length}")]
    LongQuery { most: usize, length: usize },
    #[error("query must not be empty")]
    EmptyQuery,
    #[error("query has no letters or digits to search for")]
    NoWords,
}

impl AsReport for FilterError {
    fn code(&self) -> Code {
        match self {
            Self::Cursor { .. } => Code::InvalidCursor,
            Self::TooManyTags { .. } | Self::LongQuery { .. } => Code::TooLong,
            Self::NulInTag => Code::NulCharacter,
            Self::EmptyQuery => Code::Empty,
            Self::NoWords => Code::InvalidValue,
        }
    }

    fn subject(&self) -> Subject {
        Subject::field(match self {
            Self::Cursor { .. } => "cursor",
            Self::TooManyTags { .. } | Self::NulInTag => "tags",
            Self::LongQuery { .. } | Self::EmptyQuery | Self::NoWords => "query",
        })
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Cursor { .. } => vec![Remedy::StartOver],
            Self::TooManyTags { .. } | Self::LongQuery { .. } => vec![Remedy::Shorten],
            Self::NulInTag => vec![Remedy::RemoveNul],
            Self::EmptyQuery | Self::NoWords => Vec::new(),
        }
    }
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::Exists { .. } => Code::AlreadyExists,
            Self::Raced { .. } | Self::Deleted { .. } => Code::ChangedMeanwhile,
            Self::Filter(error) => error.code(),
            Self::KeepNothing => Code::OutOfRange,
            Self::StepFailed => Code::WriteFailed,
            Self::BackupNotClosed => Code::DatabaseFailed,
            Self::CopyDiffers { .. } => Code::CopyDiffers,
            Self::Chain(error) => error.code(),
            Self::Forgotten { .. } => Code::ForgottenRevision,
            Self::Occupied(_) => Code::TargetNotEmpty,
            Self::OpenTarget { .. } => Code::DatabaseUnavailable,
            Self::Database(error) => error.code(),
            Self::File { source, .. } => Code::of_io(source),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Exists { kind, name } | Self::Raced { kind, name } | Self::Deleted { kind, name } => {
                Subject::entity(*kind, name.as_str())
            }
            Self::Filter(error) => error.subject(),
            Self::KeepNothing => Subject::field("keep"),
            Self::Chain(error) => error.subject(),
            Self::Forgotten { revision, piece } => {
                let piece = piece
                    .as_ref()
                    .map(|(scope, kind, name)| Subject::entity(*kind, name.as_str()).in_scope(*scope));
                piece.unwrap_or_default().at_revision(revision)
            }
            Self::Database(error) => error.subject(),
            Self::File { path, .. } => Subject::file(path),
            Self::StepFailed
            | Self::BackupNotClosed
            | Self::CopyDiffers { .. }
            | Self::Occupied(_)
            | Self::OpenTarget { .. } => Subject::default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Chain(error) => error.candidates(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Exists { .. } => vec![Remedy::UpdateIt, Remedy::OtherName],
            Self::Raced { .. } | Self::Deleted { .. } => vec![Remedy::ReadAgain],
            Self::Filter(error) => error.remedies(),
            Self::StepFailed | Self::BackupNotClosed => vec![Remedy::Repeat],
            Self::CopyDiffers { .. } => vec![Remedy::ReportBug],
            Self::Chain(error) => error.remedies(),
            Self::Forgotten { piece: None, .. } => vec![Remedy::OtherRevision],
            Self::Forgotten { .. } => vec![Remedy::OtherRevision, Remedy::RollBackHere],
            Self::Occupied(_) | Self::OpenTarget { .. } => vec![Remedy::OtherTarget],
            Self::Database(error) => error.remedies(),
            Self::File { .. } if self.code() == Code::FileFull => vec![Remedy::MakeRoom],
            Self::KeepNothing | Self::File { .. } => Vec::new(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            Self::Database(error) => error.may_have_happened(),
            // The failed step and the unfinished copy leave nothing behind.
            Self::StepFailed | Self::CopyDiffers { .. } | Self::BackupNotClosed => Some(false),
            _ => None,
        }
    }
}

fn forgotten(revision: i64, piece: Option<&(Scope, Kind, Name)>) -> String {
    let Some((scope, kind, name)) = piece else {
        return format!("revision {revision} was removed from the history at the same time");
    };
    let place = if *scope == Scope::Shared { " of this database" } else { "" };
    format!(
        "revision {revision} refers to {} {:?} of {scope} as it was then, which the history{place} no longer has",
        kind.spoken(),
        name.as_str()
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
