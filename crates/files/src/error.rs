//! Failures of reading, locking and replacing files.

use std::io;

use persona::{AsReport, Code, ErrorKind, Remedy, Subject};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Invalid(String),
    #[error("another Masque process is writing {path}")]
    FileBusy { path: String },
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
            Self::Invalid(_) => Code::InvalidRequest,
            Self::FileBusy { .. } => Code::FileBusy,
            Self::File { source, .. } => Code::of_io(source),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::FileBusy { path } | Self::File { path, .. } => Subject::file(path),
            Self::Invalid(_) => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::FileBusy { .. } => vec![Remedy::TryLater],
            Self::Invalid(_) | Self::File { .. } => Vec::new(),
        }
    }
}
