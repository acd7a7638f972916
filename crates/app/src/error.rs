//! Errors of the use cases as data: code, subject, candidates and remedies.

use persona::{AsReport, ChainError, Invalid, Kind, Name, OverrideError, Report, Scope};
pub use persona::{Code, ErrorKind, Remedy, Subject};

mod arcs;
pub use arcs::ArcError;
mod documents;
pub use documents::DocumentError;
mod history;
pub use history::{HistoryError, TagProblem};
mod scopes;
pub use scopes::ScopeError;
mod sessions;
pub use sessions::{ModelError, SessionError};
mod testing;
pub use testing::TestError;
mod tracks;
pub use tracks::TrackError;
mod users;
pub use users::Users;
mod values;
pub use values::ValueError;

use crate::inputs::InputError;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no {} is named {name:?}", kind.spoken())]
    NotFound { kind: Kind, name: Name, near: Vec<String> },
    /// No kind has the name.
    #[error("nothing is named {name:?}")]
    NothingNamed { name: Name, near: Vec<String> },
    #[error("{} {name:?} is in {found}, not in {wanted}", kind.spoken())]
    Elsewhere { kind: Kind, name: Name, wanted: Scope, found: Scope },
    #[error("{} {name:?} already exists", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error("{scope} has another {} {name:?}", kind.spoken())]
    Occupied { kind: Kind, name: Name, scope: Scope },
    #[error("{}", stale(*kind, name, *expected, *actual))]
    Stale { kind: Kind, name: Name, expected: i64, actual: i64 },
    #[error("{} {name:?} is used by {users}", kind.spoken())]
    InUse { kind: Kind, name: Name, users: Users },
    /// Users that a conflict's resolution would leave without the entity.
    #[error("{} {name:?} of {scope} is used by {users}, which would be left without it", kind.spoken())]
    Needed { kind: Kind, name: Name, scope: Scope, users: Users },
    #[error("{} {name:?} is builtin and cannot be deleted", kind.spoken())]
    BuiltinFixed { kind: Kind, name: Name },
    /// The steps before the failed one stay.
    #[error("{rest}\n{done}")]
    Unfinished { done: Done, rest: Box<Self> },
    #[error("{} {name:?}: {source}", kind.spoken())]
    Invalid { kind: Kind, name: Name, source: Invalid },
    #[error("persona {name:?} says nothing: its prompt would be empty")]
    SaysNothing { name: Name },
    /// The persona that a caller wants to extend does not exist.
    #[error(transparent)]
    BaseNotFound(ChainError),
    #[error("{source}")]
    Override { source: OverrideError, near: Vec<String> },
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error(transparent)]
    Scope(#[from] ScopeError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Arc(#[from] ArcError),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Test(#[from] TestError),
    #[error(transparent)]
    Track(#[from] TrackError),
    /// An entry with errors is only deleted by force, because no history has its text.
    #[error("{0}")]
    BrokenEntry(Box<files::Problem>),
    #[error("{doing} was interrupted")]
    Interrupted { doing: &'static str, source: tokio::task::JoinError },
    #[error(transparent)]
    Scopes(#[from] ::scopes::Error),
    #[error(transparent)]
    Sessions(#[from] ::sessions::Error),
    #[error(transparent)]
    Tracks(#[from] ::tracks::Error),
    #[error(transparent)]
    Worktrees(#[from] ::worktrees::Error),
}

/// The steps that were done before a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Copied { kind: Kind, name: Name, from: Scope, to: Scope },
    Resolved { merged: Option<Scope>, deleted: Vec<Scope> },
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Copied { kind, name, from, to } => {
                write!(f, "{} {name:?} was copied to {to} and is still in {from}", kind.spoken())
            }
            Self::Resolved { merged, deleted } => {
                let merged = merged.map(|scope| format!("{scope} has the merged definition"));
                let deleted = deleted.iter().map(|scope| format!("{scope}'s was deleted"));
                let done: Vec<String> = merged.into_iter().chain(deleted).collect();
                f.write_str(&done.join(", "))
            }
        }
    }
}

impl Error {
    /// The kind, which each front maps once.
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }

    /// A word that stays the same when the message changes.
    pub fn code(&self) -> Code {
        AsReport::code(self)
    }

    /// The error as data.
    pub fn report(&self) -> Report {
        AsReport::report(self)
    }

    /// The wrapped error.
    fn inner(&self) -> Option<&dyn AsReport> {
        Some(match self {
            Self::Input(error) => error,
            Self::Value(error) => error,
            Self::Scope(error) => error,
            Self::History(error) => error,
            Self::Arc(error) => error,
            Self::Document(error) => error,
            Self::Session(error) => error,
            Self::Model(error) => error,
            Self::Test(error) => error,
            Self::Track(error) => error,
            Self::Tracks(error) => error,
            Self::Worktrees(error) => error,
            Self::Scopes(error) => error,
            Self::Sessions(error) => error,
            Self::BrokenEntry(problem) => &**problem,
            Self::BaseNotFound(error) => error,
            Self::Override { source, .. } => source,
            Self::Unfinished { rest, .. } => &**rest,
            _ => return None,
        })
    }
}

impl AsReport for Error {
    fn code(&self) -> Code {
        match self {
            Self::BaseNotFound(_) => Code::BaseNotFound,
            Self::NotFound { .. } | Self::NothingNamed { .. } => Code::NotFound,
            Self::Elsewhere { .. } => Code::InOtherScope,
            Self::Exists { .. } => Code::AlreadyExists,
            Self::Occupied { .. } => Code::Occupied,
            Self::Stale { .. } => Code::StaleRevision,
            Self::InUse { .. } | Self::Needed { .. } => Code::InUse,
            Self::BuiltinFixed { .. } => Code::BuiltinFixed,
            Self::Invalid { .. } => Code::InvalidField,
            Self::SaysNothing { .. } => Code::SaysNothing,
            Self::Interrupted { .. } => Code::Interrupted,
            other => other.inner().map_or(Code::Failed, AsReport::code),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::NotFound { kind, name, .. }
            | Self::Exists { kind, name }
            | Self::BuiltinFixed { kind, name } => Subject::entity(*kind, name.as_str()),
            Self::NothingNamed { name, .. } => Subject { name: Some(name.to_string()), ..Subject::default() },
            Self::Elsewhere { kind, name, wanted: scope, .. } | Self::Occupied { kind, name, scope } => {
                Subject::entity(*kind, name.as_str()).in_scope(*scope)
            }
            Self::InUse { kind, name, users } => {
                Subject { users: users.named.clone(), ..Subject::entity(*kind, name.as_str()) }
            }
            Self::Needed { kind, name, scope, users } => Subject {
                users: users.named.clone(),
                ..Subject::entity(*kind, name.as_str()).in_scope(*scope)
            },
            Self::Stale { kind, name, actual, .. } => {
                Subject::entity(*kind, name.as_str()).at_revision(actual)
            }
            Self::SaysNothing { name } => Subject::entity(Kind::Persona, name.as_str()),
            Self::Invalid { kind, name, source } => {
                Subject::entity(*kind, name.as_str()).at_field(&source.field)
            }
            other => other.inner().map(AsReport::subject).unwrap_or_default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::NotFound { near, .. } | Self::NothingNamed { near, .. } | Self::Override { near, .. } => {
                near.clone()
            }
            other => other.inner().map(AsReport::candidates).unwrap_or_default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::NotFound { near, .. } | Self::NothingNamed { near, .. } | Self::Override { near, .. }
                if !near.is_empty() =>
            {
                vec![Remedy::DidYouMean]
            }
            Self::NothingNamed { .. } => vec![Remedy::ListKind { kind: Kind::Persona, part_type: None }],
            Self::NotFound { kind, .. } => vec![Remedy::ListKind { kind: *kind, part_type: None }],
            Self::Elsewhere { wanted: Scope::Builtin, .. } => vec![Remedy::LeaveOutScope],
            Self::Elsewhere { wanted, .. } => {
                vec![Remedy::LeaveOutScope, Remedy::DuplicateInto { scope: *wanted }]
            }
            Self::Exists { .. } => vec![Remedy::UpdateIt, Remedy::OtherName],
            Self::Occupied { .. } => vec![Remedy::UseReplace, Remedy::RenameOne],
            Self::Stale { actual: 0, .. } => vec![Remedy::ReadAgain, Remedy::DropIfRevision],
            Self::Stale { .. } => vec![Remedy::ReadAgain],
            Self::InUse { .. } => vec![Remedy::UnlinkFirst, Remedy::UseForce],
            Self::Needed { scope, .. } => vec![Remedy::KeepScope { scope: *scope }, Remedy::UnlinkFirst],
            Self::BuiltinFixed { .. } => vec![Remedy::CreateInPlace],
            Self::BrokenEntry(_) => vec![Remedy::DeleteByForce],
            Self::SaysNothing { .. } => {
                let fields = ["system_prompt", "summary", "parts"].map(str::to_owned);
                vec![Remedy::AddOneOf { fields: fields.to_vec() }]
            }
            Self::Unfinished { done, rest } => {
                let after = match done {
                    Done::Copied { .. } => vec![Remedy::Repeat],
                    Done::Resolved { .. } => vec![Remedy::Repeat, Remedy::RollBack],
                };
                rest.remedies().into_iter().chain(after).collect()
            }
            other => other.inner().map(AsReport::remedies).unwrap_or_default(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            // The steps before the failed one stay.
            Self::Unfinished { .. } => Some(true),
            other => other.inner().and_then(AsReport::may_have_happened),
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Scopes(error.into())
    }
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Self {
        Self::Scopes(error.into())
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        Self::Scopes(error.into())
    }
}

impl From<OverrideError> for Error {
    fn from(source: OverrideError) -> Self {
        Self::Override { source, near: Vec::new() }
    }
}

fn stale(kind: Kind, name: &Name, expected: i64, actual: i64) -> String {
    let named = format!("{} {name:?}", kind.spoken());
    match actual {
        0 => format!("{named} is not at revision {expected}: it was deleted, or is builtin"),
        actual => format!("{named} is at revision {actual}, not {expected}"),
    }
}

/// The known words to choose from, with the remedy that says so: near ones, or else all of them.
pub(crate) fn near_remedies(word: &str, known: &[impl AsRef<str>]) -> (Vec<String>, Vec<Remedy>) {
    // Suggesting the refused word itself does not help.
    let others = known.iter().map(AsRef::as_ref).filter(|other| *other != word);
    let near: Vec<String> = persona::nearest(word, others).into_iter().map(str::to_owned).collect();
    match near.is_empty() {
        true if known.is_empty() => (near, Vec::new()),
        true => {
            let words: Vec<String> = known.iter().map(|word| word.as_ref().to_owned()).collect();
            (words.clone(), vec![Remedy::UseOneOf { words }])
        }
        false => (near, vec![Remedy::DidYouMean]),
    }
}

#[cfg(test)]
mod tests;
