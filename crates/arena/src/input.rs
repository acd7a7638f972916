//! The machine's inputs, effects and refusals.

use std::sync::Arc;

use crate::{Answer, Ask, AskId, Audience, Compact, Ending, Event, Fault, Newcomer, SeatId};

/// One input of a game.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Start,
    Answer {
        ask: AskId,
        answer: Answer,
    },
    Fault {
        ask: AskId,
        fault: Fault,
    },
    /// Asks again where a provider failed.
    Retry,
    /// The diary that was asked for before `ask`. `None`: it could not be written.
    Diary {
        ask: AskId,
        text: Option<String>,
    },
    /// A host speaks.
    Say {
        seat: SeatId,
        audience: Audience,
        content: String,
    },
    Join {
        newcomer: Newcomer,
    },
    Leave {
        seat: SeatId,
    },
    Mute {
        seat: SeatId,
        muted: bool,
    },
    /// The time for the message at hand is over. The asks under way still count.
    TimeUp,
    Stop,
}

/// A task for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Put a question to a player. Answers may arrive in any order.
    Ask(Ask),
    /// Have a diary written. The question to the player follows.
    Compact(Compact),
    /// An event was delivered, to those who may see it. [`crate::Table::seen`] has it as they may know it.
    Show(Arc<Event>),
    /// A provider failed: the game stands still until [`Input::Retry`].
    Pause {
        ask: AskId,
        failures: u32,
    },
    End(Ending),
}

/// An input that was not taken. The state is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the game has not started; start it first")]
    NotStarted,
    #[error("the game has started already")]
    Started,
    #[error("the game is over")]
    Over,
    #[error("nothing is asked under this number any more")]
    Stale,
    #[error("there is no such seat, or its player has left")]
    NoSeat,
    #[error("only a host speaks unasked; players answer when they are asked")]
    NotHost,
    #[error("the table is full; it has {} seats", crate::limits::SEATS)]
    Full,
    #[error("a speech has words and at most {} bytes", crate::limits::SPEECH_BYTES)]
    Unspeakable,
    #[error("no provider has failed; there is nothing to try again")]
    NotPaused,
}

/// The state of a game as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    New,
    /// Answers are awaited.
    Ongoing,
    /// Nothing happens until a host speaks.
    Waiting,
    /// Nothing happens until [`Input::Retry`].
    Paused,
    Ended,
}
