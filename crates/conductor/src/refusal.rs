//! Refused commands, as data.

use crate::{Mistake, State, TicketId};

/// Why a command was refused. Nothing happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the track has no ticket {ticket:?}")]
    UnknownTicket { ticket: TicketId, candidates: Vec<String> },
    #[error("the ticket {ticket:?} is {state}")]
    WrongState { ticket: TicketId, state: State },
    /// The step was decided meanwhile, by this process or another one.
    #[error("the step is over: {step}")]
    Stale { step: String },
    /// The step cannot be started now.
    #[error("the step cannot start now: {step}")]
    NotOffered { step: String },
    #[error("the track is not open yet")]
    NotOpen,
    #[error("the track is open already")]
    AlreadyOpen,
    #[error("the track has ended")]
    Ended,
    #[error("the track is paused already")]
    AlreadyPaused,
    #[error("the track is not paused")]
    NotPaused,
    #[error("work is left to do")]
    Unfinished,
    #[error("a newer version of Masque wrote this track")]
    Newer,
    #[error("the step needs {what}")]
    Incomplete { what: &'static str },
    #[error("no ticket awaits approval")]
    NothingToApprove,
    /// The tickets have mistakes, the first of which names itself.
    #[error("{}", mistakes.first().map(ToString::to_string).unwrap_or_default())]
    BadTickets { mistakes: Vec<Mistake> },
    #[error("{what} has {got} {unit}, at most {most} are allowed")]
    TooMuch { what: &'static str, unit: &'static str, got: usize, most: usize },
}
