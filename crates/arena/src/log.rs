//! The log of a game: its setup, the inputs, and everything that followed.
//!
//! The causes alone rebuild the state; the facts tell the consequences with their reasons, and prove a replay.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::draw::Draw;
use crate::{Attempt, Audience, Event, Fault, Limits, Newcomer, SeatId, Sid, Stage};

/// The version of the log's form.
pub const FORMAT: u32 = 1;

/// The setup of a game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    #[serde(default = "default_format")]
    pub format: u32,
    /// The name of the game.
    pub game: String,
    /// As the game reads them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
    pub seed: u64,
    pub seats: Vec<Newcomer>,
    #[serde(default)]
    pub limits: Limits,
}

fn default_format() -> u32 {
    FORMAT
}

impl Setup {
    pub fn new(game: &str, settings: Value, seed: u64, seats: Vec<Newcomer>) -> Self {
        Self { format: FORMAT, game: game.to_owned(), settings, seed, seats, limits: Limits::default() }
    }
}

/// An input, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    Start,
    /// The answers of all who were asked at once, in the order of the requests, however they arrived.
    Replies {
        batch: u32,
        slots: Vec<SlotRecord>,
        /// Changes that came meanwhile. They are made after the answers count, before the game goes on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<Change>,
    },
    Say {
        seat: SeatId,
        audience: Audience,
        content: String,
    },
    Change {
        change: Change,
    },
    Stop,
    /// The provider of a seat failed for good.
    Void {
        seat: SeatId,
    },
}

/// A change at the table. It waits for open questions: answers are judged by the table as it was when they
/// were asked for, however late they arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Join(Newcomer),
    Leave(SeatId),
    Mute(SeatId),
    Unmute(SeatId),
    TimeUp,
}

/// The answers of one seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotRecord {
    pub seat: SeatId,
    /// The diary that was written before the seat was asked. An empty one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diary: Option<String>,
    pub attempts: Vec<Attempt>,
}

/// The part of an answer that has no effect, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "drop", rename_all = "snake_case")]
pub enum Dropped {
    /// Nearly the words of an earlier speech of the chain.
    Echo,
    /// More reactions came than the event may have.
    TooManyReactions,
    /// Another interrupt cuts the speech off earlier.
    LaterCut,
    /// Another interrupt at the same place has a higher bid.
    LowerBid,
    /// Another interrupt of the same bid won the draw.
    LostDraw,
    /// More than one speech in an answer, or more than one action.
    OnlyFirst { count: usize },
    /// Text in which the player speaks for another one.
    SpokeFor { name: String, text: String },
    /// The end of a speech above the limit.
    TooLong { bytes: usize },
    /// The game ended before the event was delivered.
    Ended { sid: Sid },
}

/// The reason why no reactions are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainEnd {
    Depth,
    Courtesies,
}

/// A consequence of an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// A new event, as it was queued.
    Event {
        event: Event,
    },
    /// The event has come to this stage. `spoken`: the bytes of the speech that were delivered, where an
    /// interrupt cut it.
    Stage {
        sid: Sid,
        stage: Stage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spoken: Option<usize>,
    },
    /// These seats are asked at once.
    Asked {
        batch: u32,
        seats: Vec<SeatId>,
    },
    Drawn {
        draw: Draw,
    },
    Dropped {
        seat: SeatId,
        dropped: Dropped,
    },
    ChainEnds {
        sid: Sid,
        end: ChainEnd,
    },
    /// An answer was not accepted; the reason is in words for the player.
    Invalid {
        seat: SeatId,
        reason: String,
    },
    /// The rules decide for a player. Without a fault: its answers were invalid.
    FellBack {
        seat: SeatId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
    },
    /// The seat won the interrupt at the end of this sentence.
    Cut {
        sid: Sid,
        by: SeatId,
        end: usize,
    },
    /// Lines of a seat's memory that its diary replaces from now on.
    Diary {
        seat: SeatId,
        lines: usize,
        failed: bool,
    },
}

/// One step of a game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub seq: u32,
    #[serde(flatten)]
    pub cause: Cause,
    pub facts: Vec<Fact>,
}

/// A whole game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Log {
    pub setup: Setup,
    pub entries: Vec<Entry>,
}

impl Log {
    /// JSON, a line for the setup and one for each entry.
    pub fn to_lines(&self) -> String {
        let setup = serde_json::to_string(&self.setup).into_iter();
        let entries = self.entries.iter().filter_map(|entry| serde_json::to_string(entry).ok());
        setup.chain(entries).map(|line| line + "\n").collect()
    }

    /// Reads [`Log::to_lines`]. A last line that was not written to its end is left out.
    pub fn from_lines(text: &str) -> Result<Self, serde_json::Error> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let (setup, entries) = whole.split_once('\n').unwrap_or((whole, ""));
        let entries = entries.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Self { setup: serde_json::from_str(setup)?, entries })
    }

    /// The game up to an entry, to go on differently.
    #[must_use]
    pub fn fork(&self, entries: usize) -> Self {
        Self { setup: self.setup.clone(), entries: self.entries[..entries.min(self.entries.len())].to_vec() }
    }
}
