//! The rules that a game supplies. The machine does the rest.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::draw::Draws;
use crate::{Act, Event, Payload, Request, SeatId, Seats, Visible};

/// The rules of a game, with its state.
///
/// The same calls must lead to the same state: a game has no clock, no random numbers but those of
/// [`Desk::below`], and no state outside. Every method but [`Game::name`], [`Game::how_to_play`] and
/// [`Game::next`] has a default.
pub trait Game: fmt::Debug + Send {
    /// As setups name it.
    fn name(&self) -> &'static str;

    /// The rules as players read them, made from the configuration: what is announced is what is done.
    fn how_to_play(&self, seats: &Seats) -> String;

    /// Called when everything queued is done. Events that it tells are delivered before what it returns.
    fn next(&mut self, desk: &mut Desk<'_>) -> Next;

    /// Fails if an action is not possible now. The error is in words for the player.
    fn check(&self, _seat: SeatId, _act: &Act, _seats: &Seats) -> Result<(), String> {
        Ok(())
    }

    /// The move of a player whose answers were unusable. `None` is a pass.
    fn fallback(&mut self, _seat: SeatId, _desk: &mut Desk<'_>) -> Option<Act> {
        None
    }

    /// Takes the moves of all who were asked, in the order of the requests. Speeches are queued by then.
    fn take(&mut self, _moves: &[Move], _desk: &mut Desk<'_>) {}

    /// Answers an information tool.
    fn look(&self, _seat: SeatId, _act: &Act, _seats: &Seats) -> Option<String> {
        None
    }

    /// An event was delivered.
    fn heard(&mut self, _event: &Event, _desk: &mut Desk<'_>) {}

    /// True if the seat is asked for a reaction to an event that it saw.
    fn may_react(&self, _seat: SeatId, _event: &Event) -> bool {
        false
    }

    /// True if the seat may cut this speech off.
    fn may_interrupt(&self, _seat: SeatId, _event: &Event) -> bool {
        false
    }

    /// True if reactions and interrupts may have fewer listeners than what they react to.
    fn may_whisper(&self) -> bool {
        false
    }

    /// A seat was taken in mid-game.
    fn joined(&mut self, _seat: SeatId, _desk: &mut Desk<'_>) {}

    /// A player left.
    fn left(&mut self, _seat: SeatId, _desk: &mut Desk<'_>) {}

    /// The time for the message at hand is over.
    fn time_up(&mut self, _desk: &mut Desk<'_>) {}
}

/// The next wish of a game.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Asks these seats at the same time. Nobody sees another one's answer before all are in.
    Ask(Vec<Request>),
    /// Calls `next` again, once all that was told is delivered.
    Again,
    /// Waits for a host to speak.
    Wait,
    End(Ending),
}

/// A player's answer to a request of the game.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub seat: SeatId,
    pub act: Option<Act>,
    /// True if its speech was queued.
    pub spoke: bool,
    /// True if the answers were unusable, and the act is the game's fallback.
    pub fell_back: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// By its rules.
    Finished,
    /// Nobody had anything left to say.
    Drained,
    /// On request.
    Stopped,
    /// A limit of the game.
    Limit,
    /// A provider failed: the game does not count.
    Void,
}

/// The end of a game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub winners: Vec<SeatId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<(SeatId, i64)>,
    /// In words for players.
    pub text: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl Ending {
    pub fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self { outcome, winners: Vec::new(), scores: Vec::new(), text: text.into(), data: Value::Null }
    }

    pub fn won_by(winners: Vec<SeatId>, text: impl Into<String>) -> Self {
        Self { winners, ..Self::new(Outcome::Finished, text) }
    }
}

/// The seats, draws and notices that a game works with.
#[derive(Debug)]
pub struct Desk<'a> {
    pub seats: &'a Seats,
    draws: &'a mut Draws,
    told: &'a mut Vec<(Visible, Payload)>,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(seats: &'a Seats, draws: &'a mut Draws, told: &'a mut Vec<(Visible, Payload)>) -> Self {
        Self { seats, draws, told }
    }

    /// Tells everybody.
    pub fn tell(&mut self, kind: &str, text: impl Into<String>, data: Value) {
        self.tell_to(Visible::All, kind, text, data);
    }

    /// Tells some seats.
    pub fn tell_to(&mut self, visible: Visible, kind: &str, text: impl Into<String>, data: Value) {
        self.told.push((visible, Payload::Own { kind: kind.to_owned(), text: text.into(), data }));
    }

    /// A random number below `of`.
    pub fn below(&mut self, purpose: &str, of: usize) -> usize {
        usize::try_from(self.draws.below(purpose, of as u64)).unwrap_or_default()
    }

    /// True with a chance in percent.
    pub fn chance(&mut self, purpose: &str, percent: u8) -> bool {
        self.below(purpose, 100) < usize::from(percent)
    }

    pub fn pick<T: Copy>(&mut self, purpose: &str, choices: &[T]) -> Option<T> {
        choices.get(self.below(purpose, choices.len())).copied()
    }

    pub fn shuffle<T>(&mut self, purpose: &str, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(purpose, last + 1));
        }
    }
}
