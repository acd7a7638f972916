//! Failures of a library with files.

use files::{EditError, Problem};
use persona::{AsReport, ChainError, Code, ErrorKind, Kind, Name, Remedy, Scope, Subject};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", not_open(*scope))]
    NotOpen { scope: Scope },
    #[error("builtins cannot be changed")]
    Builtin,
    /// A program lets a preset or a persona of the user's own file run tools unasked.
    #[error("only the user can let {} {:?} run more tools without asking", kind.spoken(), name.as_str())]
    NeedsUser { kind: Kind, name: Name, path: String },
    /// A person locked it against the editing agent.
    #[error("{}", locked(*kind, name, field.as_deref()))]
    Locked { kind: Kind, name: Name, scope: Scope, field: Option<String> },
    #[error("builtins have no history")]
    NoHistory,
    /// This process does not write files.
    #[error("{path} cannot be written from here")]
    ReadOnly { path: String, scope: Scope },
    #[error("{path}: {source}")]
    Unwritable { path: String, source: EditError },
    /// A text that an entry includes is the file of a scope.
    #[error("{file} includes {path}, which has the entries of the {scope} scope")]
    IncludesScope { file: String, path: String, scope: Scope },
    #[error("{doing} was interrupted")]
    Interrupted { doing: &'static str, source: tokio::task::JoinError },
    /// A personas.toml that does not parse, or an entry of it that is wrong.
    #[error("{0}")]
    Problem(Box<Problem>),
    #[error("{path} was changed at the same time, so nothing was written")]
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
            Self::Unwritable { source, .. } => Some(source),
            Self::NotOpen { .. }
            | Self::Builtin
            | Self::NeedsUser { .. }
            | Self::Locked { .. }
            | Self::NoHistory
            | Self::ReadOnly { .. }
            | Self::IncludesScope { .. }
            | Self::Interrupted { .. }
            | Self::FileChanged { .. } => None,
        }
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::NotOpen { .. } => Code::ScopeNotOpen,
            Self::Builtin => Code::BuiltinFixed,
            Self::NeedsUser { .. } => Code::NeedsConsent,
            Self::Locked { .. } => Code::Locked,
            Self::NoHistory => Code::NoHistory,
            Self::ReadOnly { .. } => Code::ReadOnlyScope,
            Self::IncludesScope { .. } => Code::NotEditable,
            Self::Interrupted { .. } => Code::Interrupted,
            Self::FileChanged { .. } => Code::FileChanged,
            other => other.inner().map_or(Code::Failed, AsReport::code),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::NotOpen { scope } => Subject::default().in_scope(*scope),
            Self::Builtin | Self::NoHistory => Subject::default().in_scope(Scope::Builtin),
            Self::NeedsUser { kind, name, .. } => {
                Subject::entity(*kind, name.as_str()).in_scope(Scope::Global)
            }
            Self::Locked { kind, name, scope, field } => {
                let subject = Subject::entity(*kind, name.as_str()).in_scope(*scope);
                match field {
                    Some(field) => subject.at_field(field),
                    None => subject,
                }
            }
            Self::ReadOnly { path, scope } => Subject::file(path).in_scope(*scope),
            Self::IncludesScope { file, scope, .. } => Subject::file(file).in_scope(*scope),
            Self::Unwritable { path, source } => {
                Subject { place: Subject::file(path).place, ..source.subject() }
            }
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
            Self::Builtin => vec![Remedy::OtherScope],
            Self::NeedsUser { path, .. } => vec![Remedy::LeaveToUser { file: path.clone() }],
            Self::Locked { .. } => vec![Remedy::LeaveLocked],
            Self::NoHistory => vec![Remedy::DuplicateIt],
            Self::ReadOnly { .. } => vec![Remedy::WriteLocally],
            Self::IncludesScope { .. } => vec![Remedy::IncludeOther],
            Self::FileChanged { .. } => vec![Remedy::Repeat],
            other => other.inner().map(AsReport::remedies).unwrap_or_default(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        self.inner().and_then(AsReport::may_have_happened)
    }
}

fn locked(kind: Kind, name: &Name, field: Option<&str>) -> String {
    let of = kind.spoken();
    match field {
        Some(field) => format!("the user locked {field} of {of} {name:?} against the editing agent"),
        None => format!("the user locked {of} {name:?} against the editing agent"),
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
