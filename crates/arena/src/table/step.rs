//! Inputs: what each of them changes.

use super::{New, Table};
use crate::event::Priority;
use crate::log::{Cause, Change, Dropped, Fact};
use crate::{
    Attempt, Audience, Effect, Ending, Fault, Input, Memory, Outcome, Payload, Refusal, SeatId, SeatKind,
    Visible, limits,
};

impl Table {
    pub(super) fn take_input(&mut self, input: Input) -> Result<(), Refusal> {
        if self.ending.is_some() {
            return Err(Refusal::Over);
        }
        match (&input, self.is_started) {
            (Input::Start, true) => return Err(Refusal::Started),
            (Input::Start, false) => {}
            (_, false) => return Err(Refusal::NotStarted),
            (_, true) => {}
        }
        match input {
            Input::Start => self.start(),
            Input::Answer { ask, answer } if answer.is_too_long() => {
                self.attempt(ask, Attempt::Fault(Fault::Garbage))?;
            }
            Input::Answer { ask, answer } => self.attempt(ask, Attempt::Answer(answer))?,
            Input::Fault { ask, fault } => self.attempt(ask, Attempt::Fault(fault))?,
            Input::Retry => self.retry()?,
            Input::Diary { ask, text } => self.take_diary(ask, text)?,
            Input::Say { seat, audience, content } => self.say(seat, audience, content)?,
            Input::Join { newcomer } => self.change(Change::Join(newcomer))?,
            Input::Leave { seat } => self.change(Change::Leave(seat))?,
            Input::Mute { seat, muted: true } => self.change(Change::Mute(seat))?,
            Input::Mute { seat, muted: false } => self.change(Change::Unmute(seat))?,
            Input::TimeUp => self.change(Change::TimeUp)?,
            Input::Stop => {
                self.end(Ending::new(Outcome::Stopped, "The game was stopped."));
                self.record(Cause::Stop);
            }
        }
        Ok(())
    }

    fn start(&mut self) {
        self.is_started = true;
        let players = self.seats.present().map(|seat| seat.name.clone()).collect();
        let game = self.game.name().to_owned();
        self.post(New::of_table(Visible::All, Payload::GameStart { game, players }));
        self.run();
        self.record(Cause::Start);
    }

    fn say(&mut self, seat: SeatId, audience: Audience, content: String) -> Result<(), Refusal> {
        let host = self.seats.get(seat).filter(|host| !host.left).ok_or(Refusal::NoSeat)?;
        if host.kind != SeatKind::Host {
            return Err(Refusal::NotHost);
        }
        if content.trim().is_empty() || content.len() > limits::SPEECH_BYTES {
            return Err(Refusal::Unspeakable);
        }
        let visible = match &audience {
            Audience::All => Visible::All,
            Audience::Only(seats) => Visible::only(seats.iter().copied().chain([seat])),
        };
        let cause = Cause::Say { seat, audience: audience.clone(), content: content.clone() };
        self.is_waiting = false;
        self.post(New {
            src: Some(seat),
            visible,
            blocks: Vec::new(),
            priority: Priority::Ordinary,
            depth: 0,
            successive: 0,
            payload: Payload::Speech { audience, content, cut: false },
        });
        self.run();
        self.record(cause);
        Ok(())
    }

    /// Makes a change, or keeps it until the open batch is complete.
    fn change(&mut self, change: Change) -> Result<(), Refusal> {
        let leaves = |seat: SeatId| self.deferred.contains(&Change::Leave(seat));
        let is_there = |seat| self.seats.get(seat).is_some_and(|it| !it.left) && !leaves(seat);
        let joins = self.deferred.iter().filter(|it| matches!(it, Change::Join(_))).count();
        match change {
            Change::Join(_) if self.seats.len() + joins >= limits::SEATS => return Err(Refusal::Full),
            Change::Leave(seat) | Change::Mute(seat) | Change::Unmute(seat) if !is_there(seat) => {
                return Err(Refusal::NoSeat);
            }
            _ => {}
        }
        if self.batch.is_none() {
            self.make(change.clone());
            self.run();
            self.record(Cause::Change { change });
            return Ok(());
        }
        let leaver = if let Change::Leave(seat) = change { Some(seat) } else { None };
        self.deferred.push(change);
        if let Some(leaver) = leaver {
            self.settle_left(leaver);
        }
        Ok(())
    }

    /// Makes a change that was checked.
    pub(super) fn make(&mut self, change: Change) {
        match change {
            Change::Join(newcomer) => {
                let seat = self.seats.add(&newcomer);
                self.memories.push(Memory::default());
                let name = self.seats.name(seat).to_owned();
                self.post(New::of_table(Visible::All, Payload::AddPlayer { seat, name }));
                self.with_game(|game, desk| game.joined(seat, desk));
            }
            Change::Leave(seat) => {
                let Some(leaver) = self.seats.get_mut(seat) else { return };
                leaver.left = true;
                let name = leaver.name.clone();
                self.post(New::of_table(Visible::All, Payload::RemovePlayer { seat, name }));
                self.with_game(|game, desk| game.left(seat, desk));
            }
            Change::Mute(seat) => self.set_muted(seat, true),
            Change::Unmute(seat) => self.set_muted(seat, false),
            Change::TimeUp => self.with_game(|game, desk| game.time_up(desk)),
        }
    }

    fn set_muted(&mut self, seat: SeatId, muted: bool) {
        if let Some(found) = self.seats.get_mut(seat) {
            found.muted = muted;
        }
    }

    /// Ends the game at once: what is queued is dropped, and asks under way are stale.
    pub(super) fn end(&mut self, ending: Ending) {
        self.batch = None;
        self.deferred.clear();
        self.wanted = None;
        for (_, sid) in std::mem::take(&mut self.queue) {
            let seat = self.event(sid).and_then(|event| event.src);
            if let Some(seat) = seat {
                self.facts.push(Fact::Dropped { seat, dropped: Dropped::Ended { sid } });
            }
        }
        let payload = Payload::GameEnd { ending: ending.clone() };
        let sid = self.post(New { priority: Priority::Last, ..New::of_table(Visible::All, payload) });
        self.queue.clear();
        self.ending = Some(ending.clone());
        self.deliver(sid, None);
        self.finish(sid);
        self.effects.push(Effect::End(ending));
    }
}
