//! Batches: questions that are put at the same time, and their answers.

use super::Table;
use crate::log::{Cause, Dropped, Fact, SlotRecord};
use crate::memory::most_diary_bytes;
use crate::reply::{INTERRUPT, Reply};
use crate::{
    Act, Ask, AskId, AskKind, Attempt, Compact, Effect, Fault, Floor, Move, Request, SeatId, Sid, Tool,
    render, sentence,
};

/// Questions whose answers count together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u32,
    purpose: Purpose,
    /// In the order of the requests. Each seat occurs once.
    pub(super) slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Turns,
    Offers(Sid),
    Interrupt(Sid),
    Reactions(Sid),
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) ask: Ask,
    pub(super) floor: Option<Floor>,
    /// The diary that arrived, and the lines that it replaces.
    pub(super) diary: Option<(Option<String>, usize)>,
    pub(super) attempts: Vec<Attempt>,
    /// Reasons why answers were not accepted.
    pub(super) invalid: Vec<String>,
    pub(super) failures: u32,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// A diary of so many lines comes first.
    Compacting(usize),
    Asked,
    /// The provider failed.
    Paused,
    Settled(Settled),
}

#[derive(Debug)]
pub(super) enum Settled {
    Reply(Reply),
    /// By a fault; `None`: invalid answers.
    FellBack(Option<Fault>),
    /// Muted or gone: not asked.
    Absent,
}

impl Batch {
    pub(super) fn is_paused(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.state, State::Paused))
    }

    pub(super) fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        self.slots.iter().filter(|slot| !matches!(slot.state, State::Settled(_))).map(|slot| &slot.ask)
    }

    fn is_settled(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot.state, State::Settled(_)))
    }
}

impl Table {
    pub(super) fn open_turns(&mut self, requests: Vec<Request>) {
        self.open(Purpose::Turns, &AskKind::Turn, requests);
    }

    pub(super) fn open_offers(&mut self, sid: Sid, seats: Vec<SeatId>) {
        let Some(event) = self.shared(sid) else { return };
        let content = event.payload.content().unwrap_or_default();
        let ends = sentence::sentence_ends(content);
        let sentences: Vec<String> = sentence::sentences(content, &ends).map(str::to_owned).collect();
        let name = event.src.map_or("", |seat| self.seats.name(seat));
        let prompt = format!("{name} is about to say these sentences. You may cut in.");
        let last = i64::try_from(sentences.len()).unwrap_or(i64::MAX);
        let tool = Tool::action(INTERRUPT, "Cuts in after a sentence of the speech that is about to come.")
            .integer("after", 1, last)
            .integer("bid", 0, crate::reply::HIGHEST_BID);
        let request = |seat| Request::act(seat, prompt.clone(), vec![tool.clone()]);
        let requests = seats.into_iter().map(request).collect();
        self.open(Purpose::Offers(sid), &AskKind::Offer { to: sid, sentences }, requests);
    }

    pub(super) fn open_interrupt(&mut self, sid: Sid, seat: SeatId) {
        let requests = self.replies_to(sid, vec![seat]);
        self.open(Purpose::Interrupt(sid), &AskKind::Interrupt { to: sid }, requests);
    }

    pub(super) fn open_reaction_asks(&mut self, sid: Sid, seats: Vec<SeatId>) {
        let requests = self.replies_to(sid, seats);
        self.open(Purpose::Reactions(sid), &AskKind::React { to: sid }, requests);
    }

    /// A reaction's audience is at most that of the event.
    fn replies_to(&self, sid: Sid, seats: Vec<SeatId>) -> Vec<Request> {
        let Some(event) = self.event(sid) else { return Vec::new() };
        let request = |seat| {
            let request = Request::speak(seat, "").heard_by(event.visible.clone());
            request.whispering(self.game.may_whisper()).answering(sid, event.depth + 1)
        };
        seats.into_iter().map(request).collect()
    }

    fn open(&mut self, purpose: Purpose, kind: &AskKind, requests: Vec<Request>) {
        self.batches += 1;
        let number = self.batches;
        let mut slots: Vec<Slot> = Vec::new();
        for request in requests {
            if slots.iter().all(|slot| slot.ask.seat != request.seat) {
                slots.push(self.slot(number, kind.clone(), request));
            }
        }
        let batch = Batch { number, purpose, slots };
        let is_asked = |slot: &&Slot| !matches!(slot.state, State::Settled(_));
        let seats: Vec<SeatId> = batch.slots.iter().filter(is_asked).map(|slot| slot.ask.seat).collect();
        if seats.is_empty() {
            // Nobody can answer: that is an answer of nobody.
            self.settle(batch.purpose, batch.slots);
            return;
        }
        self.facts.push(Fact::Asked { batch: number, seats });
        self.batch = Some(batch);
        self.repeat_asks();
    }

    fn slot(&self, batch: u32, kind: AskKind, request: Request) -> Slot {
        let Request { seat, prompt, floor, tools } = request;
        let budget = self.memory_bytes();
        let state = match self.memory(seat).map_or(0, |memory| memory.surplus(budget)) {
            _ if !self.seats.may_speak(seat) => State::Settled(Settled::Absent),
            0 => State::Asked,
            lines => State::Compacting(lines),
        };
        let ask = Ask {
            id: AskId { batch, seat, attempt: 1 },
            seat,
            kind,
            prompt,
            tools,
            may_speak: floor.is_some(),
            may_whisper: floor.as_ref().is_some_and(|floor| floor.whispers),
            invalid: None,
            sampling_seed: self.sampling_seed(batch, seat, 1),
            as_of: self.delivered.len(),
        };
        Slot { ask, floor, diary: None, attempts: Vec::new(), invalid: Vec::new(), failures: 0, state }
    }

    pub(super) fn sampling_seed(&self, batch: u32, seat: SeatId, attempt: u32) -> u32 {
        self.draws.sampling(&format!("{batch}/{}/{attempt}", seat.0))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        usize::try_from(self.setup.limits.memory_tokens.saturating_mul(4)).unwrap_or(usize::MAX)
    }

    /// Repeats what the open batch waits for.
    pub(super) fn repeat_asks(&mut self) {
        let Some(batch) = &self.batch else { return };
        let effects = batch.slots.iter().filter_map(|slot| match slot.state {
            State::Compacting(lines) => Some(self.compaction(&slot.ask, lines)),
            State::Asked => Some(Effect::Ask(slot.ask.clone())),
            State::Paused | State::Settled(_) => None,
        });
        let effects: Vec<Effect> = effects.collect();
        self.effects.extend(effects);
    }

    fn compaction(&self, ask: &Ask, lines: usize) -> Effect {
        let memory = &self.memories[usize::from(ask.seat.0)];
        let from = memory.diary().lines;
        Effect::Compact(Compact {
            ask: ask.id,
            seat: ask.seat,
            diary: memory.diary().text.clone(),
            lines: render::transcript(memory, &self.seats, from..from + lines),
            most_bytes: most_diary_bytes(self.memory_bytes()),
        })
    }

    /// Goes on if the batch is complete.
    pub(super) fn complete(&mut self) {
        let Some(batch) = self.batch.take_if(|batch| batch.is_settled()) else { return };
        let records = batch.slots.iter().map(|slot| SlotRecord {
            seat: slot.ask.seat,
            diary: slot.diary.as_ref().map(|(text, _)| text.clone().unwrap_or_default()),
            attempts: slot.attempts.clone(),
        });
        let changes = std::mem::take(&mut self.deferred);
        let slots = records.collect();
        self.settle(batch.purpose, batch.slots);
        changes.iter().for_each(|change| self.make(change.clone()));
        self.run();
        self.record(Cause::Replies { batch: batch.number, slots, changes });
    }

    /// Applies the answers, in the order of the requests.
    fn settle(&mut self, purpose: Purpose, slots: Vec<Slot>) {
        let mut answers = Vec::new();
        for slot in slots {
            let (reply, fell_back) = self.note(&slot);
            answers.push((slot.ask.seat, slot.floor, reply, fell_back));
        }
        match purpose {
            Purpose::Turns => self.settle_turns(answers),
            Purpose::Offers(sid) => {
                let offers = answers.into_iter().filter_map(|(seat, _, reply, _)| Some((seat, reply.cut?)));
                let offers: Vec<_> = offers.collect();
                self.settle_offers(sid, &offers);
            }
            Purpose::Interrupt(sid) => {
                let answer = answers.into_iter().next();
                if let Some((seat, _, reply, _)) = answer {
                    self.settle_interrupt(sid, seat, reply.say);
                }
            }
            Purpose::Reactions(sid) => {
                let lines = answers.into_iter().filter_map(|(seat, _, reply, _)| Some((seat, reply.say?)));
                let lines = lines.collect();
                self.settle_reactions(sid, lines);
            }
        }
    }

    /// Writes down what came of a question; returns the reply, and true if the player fell back.
    fn note(&mut self, slot: &Slot) -> (Reply, bool) {
        let seat = slot.ask.seat;
        if let Some((text, lines)) = &slot.diary {
            self.facts.push(Fact::Diary { seat, lines: *lines, failed: text.is_none() });
        }
        self.facts.extend(slot.invalid.iter().map(|reason| Fact::Invalid { seat, reason: reason.clone() }));
        match &slot.state {
            State::Settled(Settled::Reply(reply)) => {
                let dropped = |dropped: &Dropped| Fact::Dropped { seat, dropped: dropped.clone() };
                self.facts.extend(reply.dropped.iter().map(dropped));
                (reply.clone(), false)
            }
            State::Settled(Settled::FellBack(fault)) => {
                self.facts.push(Fact::FellBack { seat, fault: *fault });
                (Reply::default(), true)
            }
            _ => (Reply::default(), false),
        }
    }

    fn settle_turns(&mut self, answers: Vec<(SeatId, Option<Floor>, Reply, bool)>) {
        let mut moves = Vec::new();
        for (seat, floor, reply, fell_back) in answers {
            let mut act: Option<Act> = reply.act;
            if fell_back {
                act = self.with_game(|game, desk| game.fallback(seat, desk));
            }
            let spoke = match (floor, reply.say) {
                (Some(floor), Some(line)) => self.take_floor(seat, &floor, line),
                _ => false,
            };
            moves.push(Move { seat, act, spoke, fell_back });
        }
        self.with_game(|game, desk| game.take(&moves, desk));
    }
}
