//! Errors of tracks.

use std::path::PathBuf;

use conductor::{Refusal, TicketId};
use persona::{AsReport, Code, Remedy, Subject};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrackError {
    #[error("there is no track {0}")]
    Unknown(Uuid),
    #[error("others change track {0} all the time")]
    Contended(Uuid),
    /// The track is in another state.
    #[error("track {track}: {refusal}")]
    Refused { track: Uuid, refusal: Refusal },
    /// Tickets that wait for each other, the first one again at the end.
    #[error("tickets wait for each other: {}", arrows(path))]
    Cycle { path: Vec<TicketId> },
    /// Each with its place and what to do.
    #[error("the track has mistakes: {}", problems.join("; "))]
    Invalid { problems: Vec<String> },
    #[error("a track is written in `track` or in `toml`")]
    NothingWritten,
    #[error("track {track} belongs to the project {project}")]
    OtherProject { track: Uuid, project: String },
    #[error("{} is not in a git repository with a commit", path.display())]
    NoRepository { path: PathBuf },
    #[error("the repository has no commit {name}")]
    NoBase { name: String },
    #[error("there is no directory for worktrees: neither it nor the home directory is known")]
    NoPlace,
    #[error("ticket {ticket:?} has no commit to merge")]
    NoCommit { ticket: TicketId },
    #[error("`{command}` was not run: {reason}")]
    CheckNotRun { command: String, reason: String },
    #[error("the model drafted no track: {reason}")]
    NoDraft { reason: String },
    #[error("the track has no branch: it is not worked in worktrees")]
    NoBranch,
    #[error("ticket {ticket} has no change yet")]
    NoChange { ticket: TicketId },
}

fn arrows(path: &[TicketId]) -> String {
    path.iter().map(TicketId::as_str).collect::<Vec<_>>().join(" → ")
}

impl AsReport for TrackError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown(_) => Code::UnknownTrack,
            Self::Contended(_) => Code::TrackBusy,
            Self::Refused { refusal, .. } => match refusal {
                Refusal::UnknownTicket { .. } => Code::UnknownTicket,
                Refusal::BadTickets { .. } => Code::InvalidTrack,
                Refusal::TooMuch { .. } => Code::TooLong,
                _ => Code::TrackState,
            },
            Self::Cycle { .. } => Code::TrackCycle,
            Self::Invalid { .. } => Code::InvalidTrack,
            Self::NothingWritten => Code::MissingField,
            Self::OtherProject { .. } => Code::OtherProject,
            Self::NoRepository { .. } | Self::NoBranch => Code::NoRepository,
            Self::NoBase { .. } | Self::NoCommit { .. } | Self::NoChange { .. } => Code::UnknownCommit,
            Self::NoPlace => Code::NoHome,
            Self::CheckNotRun { .. } => Code::Failed,
            Self::NoDraft { .. } => Code::ModelFailed,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Unknown(_) | Self::Contended(_) | Self::OtherProject { .. } => Subject::field("id"),
            Self::Refused { refusal, .. } => match refusal {
                Refusal::UnknownTicket { ticket, .. } | Refusal::WrongState { ticket, .. } => {
                    Subject { name: Some(ticket.to_string()), ..Subject::field("ticket") }
                }
                _ => Subject::default(),
            },
            Self::Cycle { .. } => Subject::field("tickets"),
            Self::Invalid { .. } | Self::NothingWritten => Subject::field("track"),
            Self::NoRepository { path } => Subject::file(path.display().to_string()),
            Self::NoBase { name } => Subject { name: Some(name.clone()), ..Subject::field("base") },
            Self::NoCommit { ticket } | Self::NoChange { ticket } => {
                Subject { name: Some(ticket.to_string()), ..Subject::default() }
            }
            Self::NoDraft { .. } => Subject::field("epic"),
            Self::NoPlace | Self::CheckNotRun { .. } | Self::NoBranch => Subject::default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Refused { refusal: Refusal::UnknownTicket { candidates, .. }, .. } => candidates.clone(),
            // All mistakes, and the way round a cycle, as data.
            Self::Invalid { problems } => problems.clone(),
            Self::Cycle { path } => path.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Refused { refusal: Refusal::UnknownTicket { candidates, .. }, .. }
                if !candidates.is_empty() =>
            {
                vec![Remedy::DidYouMean]
            }
            Self::Refused { refusal: Refusal::Newer, .. } => vec![Remedy::UpgradeMasque],
            Self::Contended(_) => vec![Remedy::TryLater],
            Self::OtherProject { .. } => vec![Remedy::OpenProject],
            Self::NothingWritten => {
                vec![Remedy::AddOneOf { fields: vec!["track".to_owned(), "toml".to_owned()] }]
            }
            _ => Vec::new(),
        }
    }
}
