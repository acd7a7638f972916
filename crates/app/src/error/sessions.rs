//! Errors of sessions and of the models that answer in them.

use std::path::PathBuf;

use agent::PlanStatus;
use persona::{AsReport, Code, Kind, Name, Remedy, Subject};
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("there is no session {0}")]
    Unknown(Uuid),
    #[error("session {0} is answering a message")]
    Busy(Uuid),
    #[error("session {0} waits for an approval")]
    Waits(Uuid),
    #[error("session {0} has no plan yet")]
    NoPlan(Uuid),
    #[error("the plan of session {session} was {} already", match status { PlanStatus::SentBack => "sent back", _ => "approved" })]
    PlanDecided { session: Uuid, status: PlanStatus },
    #[error("session {0} has another plan by now")]
    PlanChanged(Uuid),
    #[error("hash is required: plan.hash of session {0}, as you read it")]
    NoPlanHash(Uuid),
    #[error("session {0} has no message to take back")]
    NothingToUndo(Uuid),
    #[error("the editing agent has not changed anything in this conversation about persona {persona}")]
    NoEdits { persona: Name },
    #[error("the editing agent of persona {persona} {}", nothing_proposed(proposal.as_ref()))]
    NoProposal { persona: Name, proposal: Option<Uuid> },
    #[error("session {session} is a chat with the editing agent")]
    OfEditor { session: Uuid, persona: Name },
    #[error("call {call:?} was {} already", if *approved { "approved" } else { "rejected" })]
    Decided { session: Uuid, call: String, approved: bool },
    #[error("session {session} does not ask for permission for a call {call:?}")]
    UnknownCall { session: Uuid, call: String },
    #[error("greeting: persona {persona} has no greeting {number} (it has {})", counted(*count))]
    UnknownGreeting { persona: Name, number: u32, count: usize },
    #[error("root: no project is open here")]
    NoProject,
    #[error("root: {} lies outside of the project {}", wanted.display(), project.display())]
    Outside { wanted: PathBuf, project: PathBuf },
    #[error("root: {} cannot be opened: {source}", path.display())]
    Root { path: PathBuf, source: std::io::Error },
    #[error("root: {} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("root: the path {} is not UTF-8", .0.display())]
    NotText(PathBuf),
}

fn nothing_proposed(wanted: Option<&Uuid>) -> String {
    wanted.map_or("proposes nothing".to_owned(), |wanted| format!("does not propose {wanted} any more"))
}

fn counted(greetings: usize) -> String {
    if greetings == 0 { "none".to_owned() } else { greetings.to_string() }
}

impl AsReport for SessionError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown(_) => Code::UnknownSession,
            Self::Busy(_) => Code::SessionBusy,
            Self::Waits(_) => Code::ApprovalPending,
            Self::NoPlan(_) => Code::NoPlan,
            Self::NothingToUndo(_) | Self::NoEdits { .. } => Code::NothingToUndo,
            Self::NoProposal { .. } => Code::NoProposal,
            Self::OfEditor { .. } => Code::EditingSession,
            Self::Decided { .. } | Self::PlanDecided { .. } => Code::AlreadyDecided,
            Self::PlanChanged(_) => Code::PlanChanged,
            Self::NoPlanHash(_) => Code::MissingField,
            Self::UnknownCall { .. } => Code::UnknownApproval,
            Self::UnknownGreeting { .. } => Code::UnknownGreeting,
            Self::NoProject => Code::NoProject,
            Self::Outside { .. } => Code::OutsideProject,
            Self::Root { .. } | Self::NotADirectory(_) | Self::NotText(_) => Code::InvalidRoot,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Unknown(id)
            | Self::Busy(id)
            | Self::Waits(id)
            | Self::NoPlan(id)
            | Self::PlanDecided { session: id, .. }
            | Self::PlanChanged(id)
            | Self::NothingToUndo(id)
            | Self::Decided { session: id, .. }
            | Self::OfEditor { session: id, .. }
            | Self::UnknownCall { session: id, .. } => Subject::session(id),
            Self::NoPlanHash(id) => Subject::session(id).at_field("hash"),
            Self::UnknownGreeting { persona, .. } => {
                Subject::entity(Kind::Persona, persona.as_str()).at_field("greeting")
            }
            Self::NoEdits { persona } | Self::NoProposal { persona, .. } => {
                Subject::entity(Kind::Persona, persona.as_str())
            }
            Self::NoProject => Subject::field("root"),
            Self::Outside { wanted: path, .. }
            | Self::Root { path, .. }
            | Self::NotADirectory(path)
            | Self::NotText(path) => Subject::file(path.display().to_string()).at_field("root"),
        }
    }

    /// The numbers of the persona's greetings.
    fn candidates(&self) -> Vec<String> {
        match self {
            Self::UnknownGreeting { count, .. } => (1..=*count).map(|number| number.to_string()).collect(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Unknown(_) => vec![Remedy::ListSessions],
            Self::Busy(_) => vec![Remedy::WaitOrCancel],
            Self::Waits(_) => vec![Remedy::DecideFirst],
            Self::NoPlan(_) | Self::PlanDecided { .. } => vec![Remedy::AskForPlan],
            Self::PlanChanged(id) | Self::NoPlanHash(id) => {
                vec![Remedy::ReadPlan { session: id.to_string() }]
            }
            Self::UnknownCall { .. } => vec![Remedy::SeeApprovals],
            Self::OfEditor { persona, .. } => vec![Remedy::TellEditor { persona: persona.clone() }],
            Self::NoProject => vec![Remedy::ServeProject],
            Self::NotText(_) => vec![Remedy::OtherDirectory],
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{field}: {source}")]
    Invalid { field: &'static str, source: llm::ModelRefError },
    #[error("model: no provider is named {name:?} ({})", configured(known))]
    UnknownProvider { name: String, known: Vec<String> },
    #[error("model: {name} does not answer on this machine")]
    Unreachable { name: String },
    /// No model can be called for a persona.
    #[error("{message}")]
    NoneAnswers { message: String },
    #[error("the rehearsal model does not start: {source}")]
    Rehearsal { source: Box<dyn std::error::Error + Send + Sync> },
}

fn configured(known: &[String]) -> String {
    match known.is_empty() {
        true => "none is configured".to_owned(),
        false => format!("configured: {}", known.join(", ")),
    }
}

impl AsReport for ModelError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid { .. } => Code::InvalidModel,
            Self::UnknownProvider { .. } => Code::UnknownProvider,
            Self::Unreachable { .. } => Code::ProviderUnreachable,
            Self::NoneAnswers { .. } => Code::NotSetUp,
            Self::Rehearsal { .. } => Code::RehearsalFailed,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Invalid { field, .. } => Subject::field(*field),
            Self::UnknownProvider { .. } | Self::Unreachable { .. } | Self::NoneAnswers { .. } => {
                Subject::field("model")
            }
            Self::Rehearsal { .. } => Subject::default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::UnknownProvider { known, .. } => known.clone(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::UnknownProvider { known, .. } if known.is_empty() => vec![Remedy::ConfigureProvider],
            Self::Unreachable { .. } => vec![Remedy::StartProvider],
            Self::UnknownProvider { .. }
            | Self::Invalid { .. }
            | Self::NoneAnswers { .. }
            | Self::Rehearsal { .. } => Vec::new(),
        }
    }
}
