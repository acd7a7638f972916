//! Answers as they arrive: accepted, asked for once more, or replaced by what the rules say.

use super::Table;
use super::batch::{Settled, Slot, State};
use crate::log::Cause;
use crate::reply::{Reader, Reply};
use crate::{Answer, AskId, AskKind, Attempt, Effect, Ending, Fault, Outcome, Refusal, SeatId, limits};

enum Verdict {
    Settled(Settled),
    Invalid(String),
    ProviderFailed,
}

impl Table {
    pub(super) fn take_diary(&mut self, id: AskId, text: Option<String>) -> Result<(), Refusal> {
        let budget = self.memory_bytes();
        let slot = self.open_slot(id)?;
        let State::Compacting(lines) = slot.state else { return Err(Refusal::Stale) };
        let text = text.filter(|text| !text.trim().is_empty());
        slot.state = State::Asked;
        slot.diary = Some((text.clone(), lines));
        let ask = slot.ask.clone();
        self.memories[usize::from(id.seat.0)].compact(lines, text.as_deref(), budget);
        self.effects.push(Effect::Ask(ask));
        Ok(())
    }

    fn open_slot(&mut self, id: AskId) -> Result<&mut Slot, Refusal> {
        let batch = self.batch.as_mut().filter(|batch| batch.number == id.batch).ok_or(Refusal::Stale)?;
        let slot = batch.slots.iter_mut().find(|slot| slot.ask.seat == id.seat).ok_or(Refusal::Stale)?;
        let is_open = !matches!(slot.state, State::Settled(_)) && slot.ask.id.attempt == id.attempt;
        if is_open { Ok(slot) } else { Err(Refusal::Stale) }
    }

    /// Takes an answer, or the lack of one.
    pub(super) fn attempt(&mut self, id: AskId, attempt: Attempt) -> Result<(), Refusal> {
        let slot = self.open_slot(id)?;
        if matches!(slot.state, State::Compacting(_)) && attempt != Attempt::Left {
            return Err(Refusal::Stale);
        }
        let seed = self.sampling_seed(id.batch, id.seat, id.attempt + 1);
        let verdict = self.judge(id, &attempt)?;
        let limits = self.setup.limits.clone();
        let slot = self.open_slot(id)?;
        slot.attempts.push(attempt);
        slot.ask.id.attempt += 1;
        slot.ask.sampling_seed = seed;
        match verdict {
            Verdict::Settled(settled) => slot.state = State::Settled(settled),
            Verdict::Invalid(reason) => {
                slot.ask.invalid = Some(reason.clone());
                slot.invalid.push(reason);
                if slot.invalid.len() > limits.retries as usize {
                    slot.state = State::Settled(Settled::FellBack(None));
                } else {
                    slot.state = State::Asked;
                    let ask = slot.ask.clone();
                    self.effects.push(Effect::Ask(ask));
                }
            }
            Verdict::ProviderFailed => {
                slot.failures += 1;
                let failures = slot.failures;
                if failures <= limits.provider_retries {
                    slot.state = State::Paused;
                    let ask = slot.ask.id;
                    self.effects.push(Effect::Pause { ask, failures });
                } else if limits.on_provider_fault == limits::ProviderPolicy::Void {
                    self.void(id.seat);
                    return Ok(());
                } else {
                    slot.state = State::Settled(Settled::FellBack(Some(Fault::Provider)));
                }
            }
        }
        self.complete();
        Ok(())
    }

    fn judge(&self, id: AskId, attempt: &Attempt) -> Result<Verdict, Refusal> {
        let batch = self.batch.as_ref().ok_or(Refusal::Stale)?;
        let slot = batch.slots.iter().find(|slot| slot.ask.seat == id.seat).ok_or(Refusal::Stale)?;
        Ok(match attempt {
            Attempt::Answer(answer) => match self.read(slot, answer) {
                Ok(reply) => Verdict::Settled(Settled::Reply(reply)),
                Err(reason) => Verdict::Invalid(reason),
            },
            Attempt::Fault(Fault::Garbage) => {
                Verdict::Invalid("Your answer could not be read, or is too long.".to_owned())
            }
            Attempt::Fault(Fault::TimedOut) => Verdict::Settled(Settled::FellBack(Some(Fault::TimedOut))),
            Attempt::Fault(Fault::Provider) => Verdict::ProviderFailed,
            Attempt::Left => Verdict::Settled(Settled::Absent),
        })
    }

    fn read(&self, slot: &Slot, answer: &Answer) -> Result<Reply, String> {
        let offered = match slot.ask.kind {
            AskKind::Offer { to, .. } => self.event(to).and_then(|event| event.payload.content()),
            _ => None,
        };
        let reader = Reader {
            seat: slot.ask.seat,
            seats: &self.seats,
            kind: &slot.ask.kind,
            floor: slot.floor.as_ref(),
            tools: &slot.ask.tools,
            offered: offered.unwrap_or_default(),
        };
        let reply = reader.read(answer)?;
        if let Some(act) = &reply.act {
            self.game.check(slot.ask.seat, act, &self.seats)?;
        }
        Ok(reply)
    }

    pub(super) fn retry(&mut self) -> Result<(), Refusal> {
        let Some(batch) = self.batch.as_mut().filter(|batch| batch.is_paused()) else {
            return Err(Refusal::NotPaused);
        };
        for slot in batch.slots.iter_mut().filter(|slot| matches!(slot.state, State::Paused)) {
            slot.state = State::Asked;
            self.effects.push(Effect::Ask(slot.ask.clone()));
        }
        Ok(())
    }

    /// A player that leaves is not waited for.
    pub(super) fn settle_left(&mut self, seat: SeatId) {
        let slots = self.batch.as_ref().map(|batch| (batch.number, &batch.slots));
        let Some((batch, slots)) = slots else { return };
        let Some(slot) = slots.iter().find(|slot| slot.ask.seat == seat) else { return };
        let attempt = slot.ask.id.attempt;
        // A stale ask has its answer already.
        let _ = self.attempt(AskId { batch, seat, attempt }, Attempt::Left);
    }

    /// The provider of a seat failed for good.
    pub(super) fn void(&mut self, seat: SeatId) {
        let name = self.seats.name(seat).to_owned();
        self.end(Ending::new(Outcome::Void, format!("The game is void: {name} cannot be reached.")));
        self.record(Cause::Void { seat });
    }
}
