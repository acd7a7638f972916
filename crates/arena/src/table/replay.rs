//! A game from its log.

use super::Table;
use crate::log::{Cause, Change};
use crate::{AskId, Effect, Game, Input, Log, Setup};

/// A log that leads to no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the log has the format {found}; this version reads {}", crate::log::FORMAT)]
    Format { found: u32 },
    #[error("the game cannot be set up: {0}")]
    Setup(#[from] crate::SetupError),
    #[error("entry {seq} of the log does not follow from what is before it")]
    Diverged { seq: u32 },
}

impl Table {
    /// The state after a log of one of the games of this crate. See [`Table::replay_with`].
    pub fn replay(log: &Log) -> Result<(Self, Vec<Effect>), ReplayError> {
        Self::replay_with(log, |setup| Ok(crate::games::open(setup)?))
    }

    /// The state after a log, with what is still to be done. Fails unless every entry follows exactly.
    pub fn replay_with(
        log: &Log,
        open: impl FnOnce(&Setup) -> Result<Box<dyn Game>, ReplayError>,
    ) -> Result<(Self, Vec<Effect>), ReplayError> {
        if log.setup.format != crate::log::FORMAT {
            return Err(ReplayError::Format { found: log.setup.format });
        }
        let mut table = Self::new(log.setup.clone(), open(&log.setup)?);
        for (at, entry) in log.entries.iter().enumerate() {
            let diverged = || ReplayError::Diverged { seq: entry.seq };
            table.repeat(&entry.cause).ok_or_else(diverged)?;
            table.effects.clear();
            if table.log.len() != at + 1 || table.log[at] != *entry {
                return Err(diverged());
            }
        }
        table.effects.clear();
        table.repeat_asks();
        let effects = std::mem::take(&mut table.effects);
        Ok((table, effects))
    }

    fn repeat(&mut self, cause: &Cause) -> Option<()> {
        let input = match cause.clone() {
            Cause::Start => Input::Start,
            Cause::Say { seat, audience, content } => Input::Say { seat, audience, content },
            Cause::Change { change } => match change {
                Change::Join(newcomer) => Input::Join { newcomer },
                Change::Leave(seat) => Input::Leave { seat },
                Change::Mute(seat) => Input::Mute { seat, muted: true },
                Change::Unmute(seat) => Input::Mute { seat, muted: false },
                Change::TimeUp => Input::TimeUp,
            },
            Cause::Stop => Input::Stop,
            Cause::Void { seat } => {
                self.void(seat);
                return Some(());
            }
            Cause::Replies { batch, slots, changes } => {
                self.deferred = changes;
                for slot in slots {
                    let id = |attempt| AskId { batch, seat: slot.seat, attempt };
                    if let Some(diary) = slot.diary {
                        self.take_diary(id(1), (!diary.is_empty()).then_some(diary)).ok()?;
                    }
                    for (attempt, number) in slot.attempts.into_iter().zip(1..) {
                        self.attempt(id(number), attempt).ok()?;
                    }
                }
                return Some(());
            }
        };
        self.take_input(input).ok()
    }
}
