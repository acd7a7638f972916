//! Failures of storing tracks.

use persona::{AsReport, Code, ErrorKind, Remedy, Subject};
use uuid::Uuid;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("track {id} already exists")]
    TrackExists { id: Uuid },
    #[error("no track has the id {id}")]
    UnknownTrack { id: Uuid },
    #[error("a process works on the track {id}")]
    TrackBusy { id: Uuid },
    /// `field` is `event`, `definition`, `title` or `project`.
    #[error("the {field} of a track has at most {most} bytes, this one has {length}")]
    TooLong { field: &'static str, most: usize, length: usize },
    #[error("at most {most} events are appended at once, not {count}")]
    TooManyEvents { most: usize, count: usize },
    #[error("{cursor:?} is not a cursor that a list returned")]
    Cursor { cursor: String },
    #[error(transparent)]
    Database(#[from] database::Error),
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }

    /// The same error, or that the track is missing if a row refers to one.
    pub(crate) fn without_track(self, id: Uuid) -> Self {
        match self {
            Self::Database(error) if error.violation() == Some(database::Violation::Reference) => {
                Self::UnknownTrack { id }
            }
            error => error,
        }
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::TrackExists { .. } => Code::TrackExists,
            Self::UnknownTrack { .. } => Code::UnknownTrack,
            Self::TrackBusy { .. } => Code::TrackBusy,
            Self::TooLong { .. } | Self::TooManyEvents { .. } => Code::TooLong,
            Self::Cursor { .. } => Code::InvalidCursor,
            Self::Database(error) => error.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::TooLong { field, .. } => Subject::field(*field),
            Self::Cursor { .. } => Subject::field("cursor"),
            Self::Database(error) => error.subject(),
            Self::TrackExists { .. }
            | Self::UnknownTrack { .. }
            | Self::TrackBusy { .. }
            | Self::TooManyEvents { .. } => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::TooLong { .. } => vec![Remedy::Shorten],
            Self::TrackBusy { .. } => vec![Remedy::WaitOrCancel],
            Self::Cursor { .. } => vec![Remedy::StartOver],
            Self::Database(error) => error.remedies(),
            Self::TrackExists { .. } | Self::UnknownTrack { .. } | Self::TooManyEvents { .. } => Vec::new(),
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
