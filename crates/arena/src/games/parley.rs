//! Parley: open conversation, with a host (a room) or without one.
//!
//! A host's message opens a stretch of turns; without a host, every round does. [`Turns`] decides the order
//! of its speakers; caps end it in any case.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{SetupError, settings};
use crate::{
    Act, Desk, Ending, Event, Game, Move, Next, Outcome, Payload, SeatId, Seats, Setup, Sid, Visible,
    mentions, talk,
};

mod floor;
mod plan;
mod rules;

/// The order of speakers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turns {
    /// Everybody in seat order; each time another one begins.
    #[default]
    RoundRobin,
    /// The mentioned, then a roll of talkativeness for each of the others, else one at random. The last speaker
    /// waits.
    Natural,
    /// Everybody once, in a drawn order.
    Pooled,
    /// The highest sealed bid.
    Bidding,
    /// The moderator's choice.
    Moderator,
    /// Everybody at once, without hearing one another.
    Parallel,
}

/// The speeches that players hear.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    #[default]
    Shared,
    /// Players hear the host and themselves.
    Isolated,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParleySettings {
    pub topic: String,
    pub turns: Turns,
    pub context: Context,
    /// Rounds of a conversation without a host.
    pub rounds: u32,
    /// Turns that follow one message, or make one round.
    pub turns_per_message: u32,
    /// Length of a chain of calls by `@name` after one message.
    pub depth: u32,
    pub whispers: bool,
    pub interrupts: bool,
    pub reactions: bool,
    /// The name of the moderator, who calls on others and does not speak.
    pub moderator: Option<String>,
}

impl Default for ParleySettings {
    fn default() -> Self {
        Self {
            topic: String::new(),
            turns: Turns::default(),
            context: Context::default(),
            rounds: 3,
            turns_per_message: 8,
            depth: 4,
            whispers: false,
            interrupts: false,
            reactions: false,
            moderator: None,
        }
    }
}

impl ParleySettings {
    /// True if players call on one another with `@name`.
    fn follows_calls(&self) -> bool {
        self.context == Context::Shared && !matches!(self.turns, Turns::Parallel | Turns::Moderator)
    }
}

#[derive(Debug)]
pub struct Parley {
    settings: ParleySettings,
    hosts: BTreeSet<SeatId>,
    moderator: Option<SeatId>,
    announced: bool,
    /// The stretch of turns that is under way.
    stretch: Option<Stretch>,
    rounds: u32,
    /// Stretches so far: another one begins each time.
    stretches: usize,
    last: Option<SeatId>,
    last_words: String,
    /// Times that each seat spoke.
    heard: BTreeMap<SeatId, u32>,
    asked: Asked,
}

/// Turns that follow one message.
#[derive(Debug)]
struct Stretch {
    /// The event that is answered.
    message: Option<Sid>,
    hears: Visible,
    agenda: VecDeque<Turn>,
    /// True if the message addressed some by `@name`: only they answer.
    addressed: bool,
    /// True if the moderator gave no usable answer.
    pooled: bool,
    turns: u32,
    spoken: u32,
    /// Courtesies in a row.
    courtesies: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    seat: SeatId,
    /// Calls by `@name` that led to it.
    depth: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    Speech,
    Bids,
    Moderator,
}

const BID: &str = "bid";
const CALL_ON: &str = "call_on";
const WAIT: &str = "wait_for_user";
const CLOSE: &str = "close";

impl Parley {
    pub fn open(setup: &Setup) -> Result<Self, SetupError> {
        let settings: ParleySettings = settings(setup)?;
        let seats = Seats::new(&setup.seats);
        let hosts: BTreeSet<SeatId> = seats.hosts().collect();
        if settings.context == Context::Isolated && hosts.is_empty() {
            let problem = "players who hear only the host need a host".to_owned();
            return Err(SetupError::Invalid { field: "context", problem });
        }
        let moderator = match (&settings.moderator, settings.turns) {
            (Some(name), _) => Some(seats.resolve(name).ok_or_else(|| SetupError::Invalid {
                field: "moderator",
                problem: format!("nobody at the table is called {name:?}"),
            })?),
            (None, Turns::Moderator) => {
                let problem = "name the player who moderates".to_owned();
                return Err(SetupError::Invalid { field: "moderator", problem });
            }
            (None, _) => None,
        };
        Ok(Self {
            settings,
            hosts,
            moderator,
            announced: false,
            stretch: None,
            rounds: 0,
            stretches: 0,
            last: None,
            last_words: String::new(),
            heard: BTreeMap::new(),
            asked: Asked::Speech,
        })
    }

    fn is_hosted(&self) -> bool {
        !self.hosts.is_empty()
    }
}

impl Game for Parley {
    fn name(&self) -> &'static str {
        "parley"
    }

    fn how_to_play(&self, seats: &Seats) -> String {
        self.rules(seats)
    }

    fn next(&mut self, desk: &mut Desk<'_>) -> Next {
        if !self.announced {
            self.announced = true;
            if !self.settings.topic.is_empty() {
                desk.tell("topic", format!("The topic: {}", self.settings.topic), Value::Null);
            }
            return Next::Again;
        }
        if self.stretch.is_some() {
            return self.go_on(desk).unwrap_or(Next::Again);
        }
        if self.is_hosted() {
            return Next::Wait;
        }
        if self.rounds >= self.settings.rounds {
            let is_silent = self.rounds == u32::MAX;
            let outcome = if is_silent { Outcome::Drained } else { Outcome::Finished };
            return Next::End(Ending::new(outcome, "The conversation is over."));
        }
        self.rounds += 1;
        self.begin(None, Visible::All, &self.last_words.clone(), false, desk);
        Next::Again
    }

    fn check(&self, _seat: SeatId, act: &Act, seats: &Seats) -> Result<(), String> {
        match act.tool.as_str() {
            BID => act.integer("level", 0, 4).map(|_| ()),
            CALL_ON => {
                let hears = self.stretch.as_ref().map_or(&Visible::All, |stretch| &stretch.hears);
                act.seat("name", seats, &self.eligible(seats, hears)).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        match self.asked {
            Asked::Speech => {}
            Asked::Bids => self.take_bids(moves, desk.seats),
            Asked::Moderator => self.take_call(moves, desk),
        }
    }

    fn heard(&mut self, event: &Event, desk: &mut Desk<'_>) {
        let (Some(seat), Payload::Speech { content, .. } | Payload::Interrupt { content, .. }) =
            (event.src, &event.payload)
        else {
            return;
        };
        if self.hosts.contains(&seat) {
            self.begin(Some(event.sid), event.visible.clone(), content, true, desk);
        } else {
            self.heard_player(seat, event, content, desk.seats);
        }
        self.last_words.clone_from(content);
    }

    fn may_react(&self, seat: SeatId, event: &Event) -> bool {
        self.settings.reactions && self.answers(seat, event)
    }

    fn may_interrupt(&self, seat: SeatId, event: &Event) -> bool {
        self.settings.interrupts && self.answers(seat, event)
    }

    fn may_whisper(&self) -> bool {
        self.settings.whispers
    }

    fn joined(&mut self, seat: SeatId, desk: &mut Desk<'_>) {
        if desk.seats.hosts().any(|host| host == seat) {
            self.hosts.insert(seat);
        }
    }

    fn time_up(&mut self, _desk: &mut Desk<'_>) {
        self.close();
    }
}

impl Parley {
    /// True for a speech of a player that this one may answer at once: hosts are answered in turns, and
    /// never cut off.
    fn answers(&self, seat: SeatId, event: &Event) -> bool {
        let is_speech = event.payload.content().is_some();
        is_speech && Some(seat) != self.moderator && event.src.is_some_and(|src| !self.hosts.contains(&src))
    }

    fn heard_player(&mut self, seat: SeatId, event: &Event, content: &str, seats: &Seats) {
        *self.heard.entry(seat).or_default() += 1;
        self.last = Some(seat);
        let is_hosted = self.is_hosted();
        let Some(stretch) = &mut self.stretch else { return };
        stretch.spoken += 1;
        stretch.courtesies = if talk::is_courtesy(content) { stretch.courtesies + 1 } else { 0 };
        // A whisper is no message to those who answer: they may not know of it.
        if !is_hosted && event.visible == stretch.hears {
            stretch.message = Some(event.sid);
        }
        plan::follow_up(&self.settings, stretch, seat, event.depth, &mentions(content, seats));
    }
}
