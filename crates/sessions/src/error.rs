//! Failures of keeping and running sessions.

use agent::SessionStatus;
use persona::{AsReport, Code, ErrorKind, Remedy, Subject};
use uuid::Uuid;

use crate::status_word;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("session {id} exists already")]
    SessionExists { id: Uuid },
    #[error("session {id} is {}", status_word(*status))]
    SessionBusy { id: Uuid, status: SessionStatus },
    #[error("session {id} is no longer run by this process: it was taken over, ended or deleted")]
    LeaseLost { id: Uuid },
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Database(#[from] database::Error),
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::SessionExists { .. } => Code::SessionExists,
            Self::SessionBusy { .. } => Code::SessionBusy,
            Self::LeaseLost { .. } => Code::SessionLost,
            Self::Invalid(_) => Code::InvalidRequest,
            Self::Database(error) => error.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::SessionExists { id } | Self::SessionBusy { id, .. } | Self::LeaseLost { id } => {
                Subject::session(id)
            }
            Self::Database(error) => error.subject(),
            Self::Invalid(_) => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::SessionBusy { .. } => vec![Remedy::WaitOrCancel],
            Self::LeaseLost { .. } => vec![Remedy::ReadAgain],
            Self::Database(error) => error.remedies(),
            Self::SessionExists { .. } | Self::Invalid(_) => Vec::new(),
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
