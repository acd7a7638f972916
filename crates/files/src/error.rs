//! Failures of reading, locking and replacing files.

use std::io;

use persona::{AsReport, Code, ErrorKind, Remedy, Subject};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path} is not a file")]
    NotAFile { path: String },
    #[error("{path} has more than {most} bytes")]
    TooLarge { path: String, most: usize },
    #[error("another Masque process is writing {path}")]
    FileBusy { path: String },
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
    /// A write failed, and the file may have its new text.
    #[error("{path}: {source}")]
    Unsettled { path: String, source: io::Error },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }

    /// The message without the path, for a report that names the path itself.
    pub fn without_path(&self) -> String {
        match self {
            Self::NotAFile { .. } => "not a file".to_owned(),
            Self::TooLarge { most, .. } => format!("the file has more than {most} bytes"),
            Self::FileBusy { .. } => "another Masque process is writing it".to_owned(),
            Self::File { source, .. } | Self::Unsettled { source, .. } => source.to_string(),
        }
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::NotAFile { .. } => Code::NotAFile,
            Self::TooLarge { .. } => Code::FileTooLarge,
            Self::FileBusy { .. } => Code::FileBusy,
            Self::File { source, .. } | Self::Unsettled { source, .. } => Code::of_io(source),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::NotAFile { path }
            | Self::TooLarge { path, .. }
            | Self::FileBusy { path }
            | Self::File { path, .. }
            | Self::Unsettled { path, .. } => Subject::file(path),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::TooLarge { .. } => vec![Remedy::SplitFile],
            Self::FileBusy { .. } => vec![Remedy::TryLater],
            _ if self.code() == Code::FileFull => vec![Remedy::MakeRoom],
            Self::NotAFile { .. } | Self::File { .. } | Self::Unsettled { .. } => Vec::new(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            Self::File { .. } => Some(false),
            Self::Unsettled { .. } => Some(true),
            Self::NotAFile { .. } | Self::TooLarge { .. } | Self::FileBusy { .. } => None,
        }
    }
}
