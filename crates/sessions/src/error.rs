//! Failures of storing and running sessions.

use agent::SessionStatus;
use persona::{AsReport, Code, ErrorKind, Remedy, Subject};
use uuid::Uuid;

use crate::status_word;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("session {id} already exists")]
    SessionExists { id: Uuid },
    #[error("session {id} is {}", status_word(*status))]
    SessionBusy { id: Uuid, status: SessionStatus },
    #[error("session {id} is no longer run by this process: it was taken over, ended or deleted")]
    LeaseLost { id: Uuid },
    #[error("no session has the id {id}, so none can be delegated from it")]
    UnknownParent { id: Uuid },
    #[error("an entry of a session's log has at most {most} bytes, this one has {length}")]
    LongEntry { most: usize, length: usize },
    #[error("model: {model:?} is not of the form provider/model")]
    Model { model: String },
    #[error("{cursor:?} is not a cursor that a list returned")]
    Cursor { cursor: String },
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
            Self::UnknownParent { .. } => Code::UnknownSession,
            Self::LongEntry { .. } => Code::TooLong,
            Self::Model { .. } => Code::InvalidModel,
            Self::Cursor { .. } => Code::InvalidCursor,
            Self::Database(error) => error.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::SessionExists { id }
            | Self::SessionBusy { id, .. }
            | Self::LeaseLost { id }
            | Self::UnknownParent { id } => Subject::session(id),
            Self::Model { .. } => Subject::field("model"),
            Self::Cursor { .. } => Subject::field("cursor"),
            Self::Database(error) => error.subject(),
            Self::LongEntry { .. } => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::SessionBusy { .. } => vec![Remedy::WaitOrCancel],
            Self::LeaseLost { .. } => vec![Remedy::ReadAgain],
            Self::Database(error) => error.remedies(),
            Self::UnknownParent { .. } => vec![Remedy::ListSessions],
            Self::LongEntry { .. } => vec![Remedy::Shorten],
            Self::Cursor { .. } => vec![Remedy::StartOver],
            Self::SessionExists { .. } | Self::Model { .. } => Vec::new(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            Self::Database(error) => error.may_have_happened(),
            _ => None,
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
