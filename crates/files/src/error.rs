//! Failures of reading, locking and replacing files.

use std::io;

use persona::ErrorKind;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Invalid(String),
    #[error("another Masque process is writing {path}; try again in a moment")]
    FileBusy { path: String },
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::FileBusy { .. } => ErrorKind::Busy,
            Self::File { source, .. } => ErrorKind::of_io(source),
        }
    }
}
