//! One event: interrupts before its delivery, reactions after it.

use std::sync::Arc;

use super::{New, Table};
use crate::event::Priority;
use crate::log::{ChainEnd, Dropped, Fact};
use crate::reply::{Cut, Line};
use crate::{Effect, Event, Floor, Payload, SeatId, Sid, Stage, limits, sentence, talk};

impl Table {
    /// Takes an event from the queue.
    pub(super) fn handle(&mut self, sid: Sid) {
        self.set_stage(sid, Stage::Handling, None);
        let interrupters = self.interrupters(sid);
        if !interrupters.is_empty() {
            self.open_offers(sid, interrupters);
            return;
        }
        self.deliver(sid, None);
        self.open_reactions(sid);
    }

    /// The seats that may cut a speech off: they would hear it, and no cap is reached.
    fn interrupters(&self, sid: Sid) -> Vec<SeatId> {
        let Some(event) = self.event(sid) else { return Vec::new() };
        let limits = &self.setup.limits;
        let is_open = event.payload.content().is_some()
            && limits.max_successive_interrupt.allows(event.successive)
            && event.depth + 1 < limits.depth;
        if !is_open {
            return Vec::new();
        }
        self.others(event).filter(|seat| self.game.may_interrupt(*seat, event)).collect()
    }

    /// Players who may see an event of another one, and may speak.
    fn others<'a>(&'a self, event: &'a Event) -> impl Iterator<Item = SeatId> + 'a {
        let players = self.seats.players().filter(|seat| self.seats.may_speak(*seat));
        players.filter(|seat| event.visible.includes(*seat) && event.src != Some(*seat))
    }

    /// Brings an event to those who may see it; a speech up to `bytes`.
    pub(super) fn deliver(&mut self, sid: Sid, bytes: Option<usize>) {
        if let Some(bytes) = bytes {
            self.update(sid, |event| event.payload.cut_at(bytes));
        }
        self.set_stage(sid, Stage::Handled, bytes);
        let Some(event) = self.shared(sid) else { return };
        for seat in self.seats.present() {
            if event.visible.includes(seat.id)
                && let Some(memory) = self.memories.get_mut(usize::from(seat.id.0))
            {
                memory.witness(&event);
            }
        }
        self.delivered.push(sid);
        self.spoken_tokens += event.payload.content().map_or(0, talk::estimated_tokens);
        self.effects.push(Effect::Show(event.clone()));
        if self.ending.is_none() {
            self.with_game(|game, desk| game.heard(&event, desk));
        }
    }

    fn open_reactions(&mut self, sid: Sid) {
        let Some(event) = self.shared(sid) else { return };
        let reactors: Vec<SeatId> =
            self.others(&event).filter(|seat| self.game.may_react(*seat, &event)).collect();
        let end = if event.depth + 1 >= self.setup.limits.depth {
            Some(ChainEnd::Depth)
        } else {
            event.payload.content().filter(|content| talk::is_courtesy(content)).map(|_| ChainEnd::Courtesies)
        };
        let is_allowed = self.setup.limits.max_react_per_event.allows(0);
        match end {
            _ if reactors.is_empty() || !is_allowed => self.finish(sid),
            Some(end) => {
                self.facts.push(Fact::ChainEnds { sid, end });
                self.finish(sid);
            }
            None => {
                self.open_reaction_asks(sid, reactors);
            }
        }
    }

    /// Brings an event to its last stage.
    pub(super) fn finish(&mut self, sid: Sid) {
        self.set_stage(sid, Stage::Final, None);
        // Memories keep the newest state.
        let Some(event) = self.shared(sid) else { return };
        for memory in &mut self.memories {
            if memory.number(sid).is_some() {
                memory.witness(&event);
            }
        }
    }

    /// All offers are in: the earliest cut wins, then the higher bid, then a draw.
    pub(super) fn settle_offers(&mut self, sid: Sid, offers: &[(SeatId, Cut)]) {
        let earliest = offers.iter().map(|(_, cut)| cut.end).min();
        let Some(earliest) = earliest else {
            self.deliver(sid, None);
            self.open_reactions(sid);
            return;
        };
        let highest = offers.iter().filter(|(_, cut)| cut.end == earliest).map(|(_, cut)| cut.bid).max();
        let best: Vec<SeatId> = offers
            .iter()
            .filter(|(_, cut)| cut.end == earliest && Some(cut.bid) == highest)
            .map(|(seat, _)| *seat)
            .collect();
        let at = usize::try_from(self.draws.below("interrupts", best.len() as u64)).unwrap_or_default();
        self.note_draws();
        let winner = best[at];
        for (seat, cut) in offers.iter().filter(|(seat, _)| *seat != winner) {
            let dropped = if cut.end > earliest {
                Dropped::LaterCut
            } else if Some(cut.bid) < highest {
                Dropped::LowerBid
            } else {
                Dropped::LostDraw
            };
            self.facts.push(Fact::Dropped { seat: *seat, dropped });
        }
        self.facts.push(Fact::Cut { sid, by: winner, end: earliest });
        let ends = self.event(sid).and_then(|event| event.payload.content()).map(sentence::sentence_ends);
        let bytes = ends.and_then(|ends| ends.get(earliest - 1).copied());
        self.deliver(sid, bytes);
        self.open_interrupt(sid, winner);
    }

    /// The interrupter has spoken, or has nothing to say after all.
    pub(super) fn settle_interrupt(&mut self, sid: Sid, seat: SeatId, line: Option<Line>) {
        if let (Some(line), Some(parent)) = (line, self.shared(sid))
            && !self.is_echo(seat, &line.content)
        {
            let target_speech_content = parent.payload.content().unwrap_or_default().to_owned();
            let Line { audience, visible, content } = line;
            let payload = Payload::Interrupt { target_speech_content, audience, content, cut: false };
            self.post(New {
                src: Some(seat),
                visible: visible.within(&parent.visible),
                blocks: vec![sid],
                priority: Priority::Interrupt,
                depth: parent.depth + 1,
                successive: parent.successive + 1,
                payload,
            });
        }
        self.finish(sid);
    }

    /// All reactions are in. Over the limit, a draw decides which ones are kept.
    pub(super) fn settle_reactions(&mut self, sid: Sid, lines: Vec<(SeatId, Line)>) {
        let Some(parent) = self.shared(sid) else { return };
        let mut kept: Vec<(SeatId, Line)> = Vec::new();
        for (seat, line) in lines {
            if !self.is_echo(seat, &line.content) {
                kept.push((seat, line));
            }
        }
        let count = |kept: &Vec<_>| u32::try_from(kept.len()).unwrap_or(u32::MAX);
        while count(&kept) > 0 && !self.setup.limits.max_react_per_event.allows(count(&kept) - 1) {
            let at = usize::try_from(self.draws.below("reactions", kept.len() as u64)).unwrap_or_default();
            let (seat, _) = kept.remove(at);
            self.note_draws();
            self.facts.push(Fact::Dropped { seat, dropped: Dropped::TooManyReactions });
        }
        for (seat, Line { audience, visible, content }) in kept {
            self.post(New {
                src: Some(seat),
                visible: visible.within(&parent.visible),
                blocks: vec![sid],
                priority: Priority::Reaction,
                depth: parent.depth + 1,
                successive: 0,
                payload: Payload::speech(audience, content),
            });
        }
        self.finish(sid);
    }

    /// A player takes the floor that the game gave it. False if its words are an echo of the chain.
    pub(super) fn take_floor(&mut self, seat: SeatId, floor: &Floor, line: Line) -> bool {
        if !floor.blocks.is_empty() && self.is_echo(seat, &line.content) {
            return false;
        }
        self.post(New {
            src: Some(seat),
            visible: line.visible,
            blocks: floor.blocks.clone(),
            priority: Priority::Ordinary,
            depth: floor.depth,
            successive: 0,
            payload: Payload::speech(line.audience, line.content),
        });
        true
    }

    /// True if the words repeat one of the last speeches that this player knows. The log says so.
    fn is_echo(&mut self, seat: SeatId, content: &str) -> bool {
        // Courtesies are alike, and end their chains in another way.
        let Some(memory) = self.memories.get(usize::from(seat.0)).filter(|_| !talk::is_courtesy(content))
        else {
            return false;
        };
        let spoken = memory.lines().rev().filter_map(|(_, event)| event.payload.content());
        let is_echo = spoken.take(limits::ECHO_WINDOW).any(|other| talk::is_echo(content, other));
        if is_echo {
            self.facts.push(Fact::Dropped { seat, dropped: Dropped::Echo });
        }
        is_echo
    }

    fn set_stage(&mut self, sid: Sid, stage: Stage, spoken: Option<usize>) {
        self.update(sid, |event| event.stage = stage);
        self.facts.push(Fact::Stage { sid, stage, spoken });
    }

    fn update(&mut self, sid: Sid, change: impl FnOnce(&mut Event)) {
        let at = usize::try_from(sid.0).unwrap_or_default().checked_sub(1);
        if let Some(event) = at.and_then(|at| self.events.get_mut(at)) {
            change(Arc::make_mut(event));
        }
    }

    pub(super) fn shared(&self, sid: Sid) -> Option<Arc<Event>> {
        let at = usize::try_from(sid.0).ok()?.checked_sub(1)?;
        self.events.get(at).cloned()
    }
}
