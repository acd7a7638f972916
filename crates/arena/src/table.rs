//! The machine: a game at its table, from the first input to its end.
//!
//! Pure: the same inputs lead to the same state and the same log. Answers to a batch of asks count once all
//! of them are in, in the order of the requests, so it does not matter who was faster.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::draw::Draws;
use crate::event::Priority;
use crate::log::{Cause, Change, Fact};
use crate::render::{self, Prompt, Seen, Viewer};
use crate::{
    Act, Ask, AskKind, Desk, Effect, Ending, Entry, Event, Game, Input, Log, Memory, Next, Payload, Phase,
    Refusal, SeatId, Seats, Setup, Sid, Stage, Visible,
};

mod answers;
mod batch;
mod flow;
mod replay;
mod speech;
mod step;

use batch::Batch;
pub use replay::ReplayError;

#[derive(Debug)]
pub struct Table {
    setup: Setup,
    game: Box<dyn Game>,
    seats: Seats,
    draws: Draws,
    /// All events; the one with the number n is at n - 1.
    events: Vec<Arc<Event>>,
    queue: BTreeSet<(Priority, Sid)>,
    /// The game's wish, granted once the queue is empty.
    wanted: Option<Next>,
    batch: Option<Batch>,
    batches: u32,
    /// Changes that wait for the batch.
    deferred: Vec<Change>,
    /// One for each seat.
    memories: Vec<Memory>,
    /// Delivered events, in their order.
    delivered: Vec<Sid>,
    spoken_tokens: u64,
    /// Times in a row that the game did nothing.
    idle: u32,
    is_started: bool,
    is_waiting: bool,
    ending: Option<Ending>,
    log: Vec<Entry>,
    facts: Vec<Fact>,
    effects: Vec<Effect>,
}

impl Table {
    /// A table whose game has not started. The setup must be that of the game.
    pub fn new(setup: Setup, game: Box<dyn Game>) -> Self {
        let seats = Seats::new(&setup.seats);
        Self {
            draws: Draws::new(setup.seed),
            memories: vec![Memory::default(); seats.len()],
            seats,
            setup,
            game,
            events: Vec::new(),
            queue: BTreeSet::new(),
            wanted: None,
            batch: None,
            batches: 0,
            deferred: Vec::new(),
            delivered: Vec::new(),
            spoken_tokens: 0,
            idle: 0,
            is_started: false,
            is_waiting: false,
            ending: None,
            log: Vec::new(),
            facts: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Takes an input and returns what is to be done. A refused input changes nothing.
    pub fn step(&mut self, input: Input) -> Result<Vec<Effect>, Refusal> {
        self.take_input(input)?;
        Ok(std::mem::take(&mut self.effects))
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn seats(&self) -> &Seats {
        &self.seats
    }

    pub fn game(&self) -> &dyn Game {
        &*self.game
    }

    pub fn phase(&self) -> Phase {
        match &self.batch {
            _ if self.ending.is_some() => Phase::Ended,
            _ if !self.is_started => Phase::New,
            Some(batch) if batch.is_paused() => Phase::Paused,
            None if self.is_waiting => Phase::Waiting,
            _ => Phase::Ongoing,
        }
    }

    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The entries so far. Answers of an open batch are not among them.
    pub fn entries(&self) -> &[Entry] {
        &self.log
    }

    pub fn log(&self) -> Log {
        Log { setup: self.setup.clone(), entries: self.log.clone() }
    }

    /// Every event, queued ones included. Not for players.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(|event| &**event)
    }

    pub fn event(&self, sid: Sid) -> Option<&Event> {
        let at = usize::try_from(sid.0).ok()?.checked_sub(1)?;
        self.events.get(at).map(|event| &**event)
    }

    /// The memory of a seat.
    pub fn memory(&self, seat: SeatId) -> Option<&Memory> {
        self.memories.get(usize::from(seat.0))
    }

    /// The messages to the model of a player. `style` is the persona's manner of speaking, in a few words.
    ///
    /// Ask for it while the question is open: memories do not change until all of its batch have answered.
    pub fn prompt(&self, ask: &Ask, style: Option<&str>) -> Prompt {
        let empty = Memory::default();
        let memory = self.memory(ask.seat).unwrap_or(&empty);
        let rules = self.game.how_to_play(&self.seats);
        let system = format!("{rules}\n\n{}", render::conventions(self.seats.name(ask.seat)));
        Prompt { system, messages: render::messages(memory, ask, &self.seats, style) }
    }

    /// The delivered events that a viewer may see, each with the number under which this viewer knows it.
    /// They still have the numbers of the machine: players get [`Table::seen`].
    pub fn view(&self, viewer: Viewer) -> Vec<(usize, &Event)> {
        if let Viewer::Seat(seat) = viewer {
            return self.memory(seat).map(|memory| memory.lines().collect()).unwrap_or_default();
        }
        let delivered = self.delivered.iter().filter_map(|sid| self.event(*sid));
        let seen = delivered.filter(|event| viewer == Viewer::Master || event.visible == Visible::All);
        seen.enumerate().map(|(at, event)| (at + 1, event)).collect()
    }

    /// What [`Table::view`] has, without anything by which hidden events could be noticed.
    pub fn seen(&self, viewer: Viewer) -> Vec<Seen<'_>> {
        let view = self.view(viewer);
        let numbers: HashMap<Sid, usize> = view.iter().map(|(number, event)| (event.sid, *number)).collect();
        let seen =
            view.iter().map(|(number, event)| Seen::new(*number, event, |sid| numbers.get(&sid).copied()));
        seen.collect()
    }

    /// One line of JSON per event that a viewer may see, in the form of prompts.
    pub fn transcript(&self, viewer: Viewer) -> String {
        let view = self.view(viewer);
        let numbers: HashMap<Sid, usize> = view.iter().map(|(number, event)| (event.sid, *number)).collect();
        let number_of = |event: &Event| numbers.get(event.blocks.first()?).copied();
        view.iter()
            .map(|(number, event)| render::line(*number, event, &self.seats, number_of) + "\n")
            .collect()
    }

    /// Questions without an answer yet.
    pub fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        self.batch.iter().flat_map(Batch::open_asks)
    }

    /// Answers an information tool of an open ask.
    pub fn look(&self, ask: &Ask, act: &Act) -> Result<String, String> {
        let is_offered = ask.tools.iter().any(|tool| tool.name == act.tool);
        let output = is_offered.then(|| self.game.look(ask.seat, act, &self.seats)).flatten();
        output.ok_or_else(|| format!("There is no tool {:?} that answers questions now.", act.tool))
    }

    /// Fails if the game does not accept an action now, in words for the player. For loops that tell a model
    /// before its answer is complete.
    pub fn check(&self, ask: &Ask, act: &Act) -> Result<(), String> {
        match ask.kind {
            AskKind::Turn => self.game.check(ask.seat, act, &self.seats),
            _ => Ok(()),
        }
    }

    /// Calls the game, and queues what it tells.
    fn with_game<T>(&mut self, call: impl FnOnce(&mut dyn Game, &mut Desk<'_>) -> T) -> T {
        let mut told = Vec::new();
        let mut desk = Desk::new(&self.seats, &mut self.draws, &mut told);
        let result = call(&mut *self.game, &mut desk);
        self.note_draws();
        for (visible, payload) in told {
            self.post(New::of_table(visible, payload));
        }
        result
    }

    fn note_draws(&mut self) {
        let drawn = self.draws.take_drawn();
        self.facts.extend(drawn.into_iter().map(|draw| Fact::Drawn { draw }));
    }

    /// Queues an event.
    fn post(&mut self, new: New) -> Sid {
        let sid = Sid(u32::try_from(self.events.len() + 1).unwrap_or(u32::MAX));
        let New { src, visible, blocks, priority, depth, successive, payload } = new;
        let stage = Stage::Tentative;
        let event = Event { sid, stage, src, visible, blocks, priority, depth, successive, payload };
        self.facts.push(Fact::Event { event: event.clone() });
        self.events.push(Arc::new(event));
        self.queue.insert((priority, sid));
        sid
    }

    fn record(&mut self, cause: Cause) {
        let seq = u32::try_from(self.log.len() + 1).unwrap_or(u32::MAX);
        let facts = std::mem::take(&mut self.facts);
        self.log.push(Entry { seq, cause, facts });
    }
}

/// An event that is about to be queued.
#[derive(Debug)]
struct New {
    src: Option<SeatId>,
    visible: Visible,
    blocks: Vec<Sid>,
    priority: Priority,
    depth: u32,
    successive: u32,
    payload: Payload,
}

impl New {
    fn of_table(visible: Visible, payload: Payload) -> Self {
        let priority = Priority::Ordinary;
        Self { src: None, visible, blocks: Vec::new(), priority, depth: 0, successive: 0, payload }
    }
}
