//! Events and their visibility.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Ending, SeatId};

/// The number of an event. Players never see it: gaps would betray events that are hidden from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sid(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Queued. Nobody knows of it.
    Tentative,
    /// Interrupts are being asked for.
    Handling,
    /// Delivered to those who may see it.
    Handled,
    /// Its reactions are known.
    Final,
}

/// The seats that may see an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visible {
    All,
    Some(BTreeSet<SeatId>),
    /// The log alone.
    None,
}

impl Visible {
    pub fn only(seats: impl IntoIterator<Item = SeatId>) -> Self {
        Self::Some(seats.into_iter().collect())
    }

    pub fn includes(&self, seat: SeatId) -> bool {
        match self {
            Self::All => true,
            Self::Some(seats) => seats.contains(&seat),
            Self::None => false,
        }
    }

    /// The seats in both.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, any) | (any, Self::All) => any.clone(),
            (Self::Some(one), Self::Some(two)) => Self::Some(one & two),
            (Self::None, _) | (_, Self::None) => Self::None,
        }
    }
}

/// The addressees of a speech.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    All,
    Only(BTreeSet<SeatId>),
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Payload {
    Speech {
        audience: Audience,
        content: String,
        /// True if an interrupt ended it early. The content is the spoken part.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// A speech that cut another one off.
    Interrupt {
        /// The part of the other speech that was delivered.
        target_speech_content: String,
        audience: Audience,
        content: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    AddPlayer {
        seat: SeatId,
        name: String,
    },
    RemovePlayer {
        seat: SeatId,
        name: String,
    },
    GameStart {
        game: String,
        players: Vec<String>,
    },
    GameEnd {
        ending: Ending,
    },
    /// An event of the game: its text for players, its data for programs.
    Own {
        kind: String,
        text: String,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        data: Value,
    },
}

impl Payload {
    pub fn speech(audience: Audience, content: impl Into<String>) -> Self {
        Self::Speech { audience, content: content.into(), cut: false }
    }

    /// The words of a speech or an interrupt.
    pub fn content(&self) -> Option<&str> {
        match self {
            Self::Speech { content, .. } | Self::Interrupt { content, .. } => Some(content),
            _ => None,
        }
    }

    pub fn audience(&self) -> Option<&Audience> {
        match self {
            Self::Speech { audience, .. } | Self::Interrupt { audience, .. } => Some(audience),
            _ => None,
        }
    }

    /// True if an interrupt ended this speech early.
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Speech { cut: true, .. } | Self::Interrupt { cut: true, .. })
    }

    /// Keeps the first `bytes` bytes of a speech.
    pub(crate) fn cut_at(&mut self, bytes: usize) {
        if let Self::Speech { content, cut, .. } | Self::Interrupt { content, cut, .. } = self
            && bytes < content.trim_end().len()
        {
            content.truncate(bytes);
            *cut = true;
        }
    }
}

/// An event and how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub sid: Sid,
    pub stage: Stage,
    /// The table itself if no seat.
    pub src: Option<SeatId>,
    pub visible: Visible,
    /// The events that it reacts to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Sid>,
    pub priority: Priority,
    /// Events of its chain before it.
    #[serde(default)]
    pub depth: u32,
    /// Interrupts in a row, this one included.
    #[serde(default)]
    pub successive: u32,
    pub payload: Payload,
}

/// The queue's order, before that of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    Interrupt,
    Reaction,
    Ordinary,
    /// The end of the game comes after all that is queued.
    Last,
}
