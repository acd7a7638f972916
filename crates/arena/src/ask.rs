//! Questions to players, and their answers.

use serde::{Deserialize, Serialize};

use serde_json::{Value, json};

use crate::{Act, SeatId, Sid, Tool, ToolKind, Visible, limits};

/// A question of a game to one seat.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub seat: SeatId,
    /// The question, in words.
    pub prompt: String,
    /// The right to speak, if the seat has it.
    pub floor: Option<Floor>,
    pub tools: Vec<Tool>,
}

/// The right to speak, and its reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    pub hears: Visible,
    /// True if the speaker may choose fewer listeners.
    pub whispers: bool,
    /// The events that the speech answers. An echo in such a chain is dropped.
    pub blocks: Vec<Sid>,
    pub depth: u32,
}

impl Request {
    /// A speech that everybody hears.
    pub fn speak(seat: SeatId, prompt: impl Into<String>) -> Self {
        let floor = Floor { hears: Visible::All, whispers: false, blocks: Vec::new(), depth: 0 };
        Self { seat, prompt: prompt.into(), floor: Some(floor), tools: Vec::new() }
    }

    /// A call of one of these tools.
    pub fn act(seat: SeatId, prompt: impl Into<String>, tools: Vec<Tool>) -> Self {
        Self { seat, prompt: prompt.into(), floor: None, tools }
    }

    #[must_use]
    pub fn with(mut self, tools: Vec<Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    #[must_use]
    pub fn heard_by(mut self, hears: Visible) -> Self {
        if let Some(floor) = &mut self.floor {
            floor.hears = hears;
        }
        self
    }

    #[must_use]
    pub fn whispering(mut self, allowed: bool) -> Self {
        if let Some(floor) = &mut self.floor {
            floor.whispers = allowed;
        }
        self
    }

    /// The speech answers an event, at this depth of its chain.
    #[must_use]
    pub fn answering(mut self, event: Sid, depth: u32) -> Self {
        if let Some(floor) = &mut self.floor {
            floor.blocks = vec![event];
            floor.depth = depth;
        }
        self
    }
}

/// An ask, by the number of its batch. The number of the attempt makes late answers stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskId {
    pub batch: u32,
    pub seat: SeatId,
    pub attempt: u32,
}

/// The kind of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskKind {
    /// The game's own question.
    Turn,
    /// The player may react to an event that it has seen.
    React { to: Sid },
    /// The player may cut off a speech that is about to be delivered.
    Offer { to: Sid, sentences: Vec<String> },
    /// The player has cut a speech off and speaks now.
    Interrupt { to: Sid },
}

/// A question that the caller puts to a player. Render it with [`crate::Table::prompt`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ask {
    pub id: AskId,
    pub seat: SeatId,
    #[serde(flatten)]
    pub kind: AskKind,
    pub prompt: String,
    pub tools: Vec<Tool>,
    pub may_speak: bool,
    pub may_whisper: bool,
    /// The reason why the last answer was not accepted.
    pub invalid: Option<String>,
    /// A seed for the sampling of the model call, from the game's seed.
    pub sampling_seed: u32,
    /// Delivered events when the batch was opened: equal for all asks of a batch.
    pub as_of: usize,
}

impl Ask {
    /// A JSON Schema for the text of an answer, where the provider can enforce one. `None` if an action
    /// answers the ask: a call of a tool needs no text.
    pub fn answer_schema(&self) -> Option<Value> {
        let is_action = |tool: &Tool| tool.kind == ToolKind::Action;
        let (text, number, flag) =
            (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"}));
        let properties = match self.kind {
            AskKind::Offer { .. } => json!({"cut": number, "bid": number, "pass": flag}),
            _ if self.tools.iter().any(is_action) => return None,
            _ if self.may_whisper => json!({"say": text, "to": text, "pass": flag}),
            _ => json!({"say": text, "pass": flag}),
        };
        let required: Vec<String> =
            properties.as_object().into_iter().flat_map(|it| it.keys().cloned()).collect();
        Some(json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }))
    }
}

/// A player's answer: the text of its reply and the actions that it called.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Act>,
}

impl Answer {
    pub fn pass() -> Self {
        Self::default()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), acts: Vec::new() }
    }

    pub fn act(act: Act) -> Self {
        Self { text: String::new(), acts: vec![act] }
    }

    /// True if it is longer than the log keeps.
    pub(crate) fn is_too_long(&self) -> bool {
        let acts = serde_json::to_string(&self.acts).map_or(usize::MAX, |acts| acts.len());
        self.text.len() > limits::ANSWER_BYTES || (!self.acts.is_empty() && acts > limits::ANSWER_BYTES)
    }
}

/// The lack of a usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The player took too long: its own fault.
    TimedOut,
    /// The player's reply could not be read: its own fault.
    Garbage,
    /// The provider failed: a rate limit, an outage, a broken stream.
    Provider,
}

/// One attempt of a player, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    Answer(Answer),
    Fault(Fault),
    /// The player left while it was asked.
    Left,
}
