//! Failures of keeping and running sessions.

use agent::SessionStatus;
use persona::ErrorKind;
use uuid::Uuid;

use crate::status_word;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("session {id} exists already; create it under another id")]
    SessionExists { id: Uuid },
    #[error("session {id} is {}; wait until it is idle, or cancel it first", status_word(*status))]
    SessionBusy { id: Uuid, status: SessionStatus },
    #[error(
        "session {id} is no longer run by this process: it was taken over, ended or deleted; read it again"
    )]
    LeaseLost { id: Uuid },
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Database(#[from] database::Error),
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::SessionExists { .. } | Self::SessionBusy { .. } | Self::LeaseLost { .. } => {
                ErrorKind::Conflict
            }
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Database(error) => error.kind(),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

pub(crate) fn bad_cursor() -> Error {
    Error::Invalid("the cursor is not one that a list gave; ask again without it".to_owned())
}
