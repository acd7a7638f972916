//! Failures of a library with files.

use files::Problem;
use persona::{ChainError, ErrorKind};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Denied(String),
    /// A personas.toml that does not parse, or an entry of it that is wrong.
    #[error("{0}")]
    Problem(Box<Problem>),
    #[error(
        "{path} was changed by somebody else in this very moment; nothing was written, repeat your change"
    )]
    FileChanged { path: String },
    #[error(transparent)]
    Files(#[from] files::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Denied(_) => ErrorKind::Denied,
            // The request is sound; the file has to be fixed before it can be done.
            Self::Problem(_) | Self::FileChanged { .. } => ErrorKind::Conflict,
            Self::Files(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }
}

impl From<ChainError> for Error {
    fn from(error: ChainError) -> Self {
        Self::Store(error.into())
    }
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Store(error.into())
    }
}
