//! Limits of games. Everything that comes from outside has one.

use serde::{Deserialize, Serialize};

/// Seats of a table.
pub const SEATS: usize = 64;
/// Characters of a display name.
pub const NAME_CHARS: usize = 60;
/// Bytes of one speech. A longer one is cut, and the log says so.
pub const SPEECH_BYTES: usize = 16 * 1024;
/// Bytes of an answer as it arrives: of its text, and of its calls.
pub const ANSWER_BYTES: usize = 64 * 1024;
/// Bytes of a game's settings.
pub const SETTINGS_BYTES: usize = 64 * 1024;
/// Sentence ends at which a speech can be interrupted.
pub const SENTENCE_ENDS: usize = 60;
/// Times in a row that a game may change its state without asking, saying or ending anything.
pub const IDLE_TURNS: u32 = 1_000;
/// Speeches that a new one is compared with.
pub const ECHO_WINDOW: usize = 8;
/// Bytes that every memory keeps, however small its budget is.
pub const LEAST_MEMORY_BYTES: usize = 512;

/// A count that may have no limit. On the wire -1 means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct Cap(Option<u32>);

impl Cap {
    pub const NONE: Self = Self(None);

    pub const fn of(most: u32) -> Self {
        Self(Some(most))
    }

    /// True if a further one is allowed after `count`.
    pub fn allows(self, count: u32) -> bool {
        self.0.is_none_or(|most| count < most)
    }
}

impl From<i64> for Cap {
    fn from(number: i64) -> Self {
        Self((number >= 0).then(|| u32::try_from(number).unwrap_or(u32::MAX)))
    }
}

impl From<Cap> for i64 {
    fn from(cap: Cap) -> Self {
        cap.0.map_or(-1, Self::from)
    }
}

/// The end of a game, or a pass, when the provider of a player fails for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderPolicy {
    /// The game is void: nobody loses because of a provider.
    #[default]
    Void,
    /// The player passes, and the log says so. For rooms, where the others' answers stay.
    Pass,
}

/// The limits of one game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Reactions to one event.
    pub max_react_per_event: Cap,
    /// Interrupts that follow one another. 0: nobody can interrupt.
    pub max_successive_interrupt: Cap,
    /// Length of a chain of reactions and interrupts. It has no "none": every chain ends.
    pub depth: u32,
    /// Estimated tokens of everything that is spoken.
    pub spoken_tokens: u64,
    /// Events of the whole game.
    pub events: u32,
    /// Estimated tokens of a player's memory in a prompt. Above it, the older part becomes a diary.
    pub memory_tokens: u64,
    /// Further attempts of a player after an invalid answer.
    pub retries: u32,
    /// Further attempts after a fault of the provider.
    pub provider_retries: u32,
    pub on_provider_fault: ProviderPolicy,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_react_per_event: Cap::of(2),
            max_successive_interrupt: Cap::of(1),
            depth: 4,
            spoken_tokens: 200_000,
            events: 10_000,
            memory_tokens: 24_000,
            retries: 1,
            provider_retries: 2,
            on_provider_fault: ProviderPolicy::Void,
        }
    }
}
