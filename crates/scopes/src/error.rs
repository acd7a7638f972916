//! Failures of a library with files.

use files::Problem;
use persona::{AsReport, ChainError, Code, ErrorKind, Remedy, Scope, Subject};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", not_open(*scope))]
    NotOpen { scope: Scope },
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Denied(String),
    /// A personas.toml that does not parse, or an entry of it that is wrong.
    #[error("{0}")]
    Problem(Box<Problem>),
    #[error("{path} was changed by somebody else at the same time; nothing was written")]
    FileChanged { path: String },
    #[error(transparent)]
    Files(#[from] files::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }

    /// The error that says more, where this one only passes it on.
    fn inner(&self) -> Option<&dyn AsReport> {
        match self {
            Self::Problem(problem) => Some(&**problem),
            Self::Files(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::NotOpen { .. } | Self::Invalid(_) | Self::Denied(_) | Self::FileChanged { .. } => None,
        }
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::NotOpen { .. } => Code::ScopeNotOpen,
            Self::Invalid(_) => Code::InvalidRequest,
            Self::Denied(_) => Code::Refused,
            Self::FileChanged { .. } => Code::FileChanged,
            other => other.inner().map_or(Code::Failed, AsReport::code),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::NotOpen { scope } => Subject::default().in_scope(*scope),
            Self::FileChanged { path } => Subject::file(path),
            other => other.inner().map(AsReport::subject).unwrap_or_default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        self.inner().map(AsReport::candidates).unwrap_or_default()
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::NotOpen { scope: Scope::Project } => vec![Remedy::OpenProject],
            Self::NotOpen { .. } => vec![Remedy::LeaveOutScope],
            Self::FileChanged { .. } => vec![Remedy::Repeat],
            other => other.inner().map(AsReport::remedies).unwrap_or_default(),
        }
    }
}

fn not_open(scope: Scope) -> String {
    match scope {
        Scope::Project => "no project is open".to_owned(),
        scope => format!("the {scope} scope is not open here"),
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
