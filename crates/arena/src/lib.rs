//! Games between personas: events, visibility, interrupts, memories, and the rules of the games that ship.
//!
//! Pure: no clock, no I/O, no async, no threads. Answers of players are inputs, and random draws come from
//! the seed. This crate must not know what a model is, where a log is stored, or what a persona consists of.
//!
//! [`Table`] is the machine, [`Game`] what a game supplies. [`Table::prompt`] turns what a player knows into
//! messages; the caller puts them to a model, a person or a script, and feeds the answer back.

pub mod limits;
pub use limits::{Cap, Limits, ProviderPolicy};

mod seat;
pub use seat::{Newcomer, Seat, SeatId, SeatKind, Seats};

mod event;
pub use event::{Audience, Event, Payload, Priority, Sid, Stage, Visible};

mod tool;
pub use tool::{Act, Tool, ToolKind};

mod ask;
pub use ask::{Answer, Ask, AskId, AskKind, Attempt, Fault, Floor, Request};

mod game;
pub use game::{Desk, Ending, Game, Move, Next, Outcome};

mod input;
pub use input::{Effect, Input, Phase, Refusal};

mod log;
pub use log::{Cause, ChainEnd, Change, Dropped, Entry, FORMAT, Fact, Log, Setup, SlotRecord};

mod draw;
pub use draw::Draw;

mod memory;
pub use memory::{Compact, Diary, Memory};

mod sentence;
pub use sentence::{end_of_prefix, sentence_ends, sentences};

mod mention;
pub use mention::{Mention, Mentions, mentions};

mod talk;
pub use talk::{estimated_tokens, is_courtesy, is_echo};

mod reply;

mod render;
pub use render::{Message, Prompt, Role, Seen, Viewer};

mod table;
pub use table::{ReplayError, Table};

pub mod games;
pub use games::{SetupError, open};

pub mod tournament;
