//! Failures of keeping and reading the library.

use std::io;

use persona::{AsReport, ChainError, Code, ErrorKind, Kind, Name, Remedy, Scope, Subject};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} {name:?} exists already", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error("{} {name:?} was changed by somebody else at the same time", kind.spoken())]
    Raced { kind: Kind, name: Name },
    #[error("{0}")]
    Invalid(String),
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

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::Exists { .. } => Code::AlreadyExists,
            Self::Raced { .. } => Code::ChangedMeanwhile,
            Self::Invalid(_) => Code::InvalidRequest,
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
            Self::Exists { kind, name } | Self::Raced { kind, name } => Subject::entity(*kind, name.as_str()),
            Self::Chain(error) => error.subject(),
            Self::Forgotten { revision, piece } => {
                let piece = piece
                    .as_ref()
                    .map(|(scope, kind, name)| Subject::entity(*kind, name.as_str()).in_scope(*scope));
                piece.unwrap_or_default().at_revision(revision)
            }
            Self::Database(error) => error.subject(),
            Self::File { path, .. } => Subject::file(path),
            Self::Invalid(_) | Self::Occupied(_) | Self::OpenTarget { .. } => Subject::default(),
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
            Self::Raced { .. } => vec![Remedy::ReadAgain],
            Self::Chain(error) => error.remedies(),
            Self::Forgotten { piece: None, .. } => vec![Remedy::OtherRevision],
            Self::Forgotten { .. } => vec![Remedy::OtherRevision, Remedy::RollBackHere],
            Self::Occupied(_) | Self::OpenTarget { .. } => vec![Remedy::OtherTarget],
            Self::Database(error) => error.remedies(),
            Self::Invalid(_) | Self::File { .. } => Vec::new(),
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
