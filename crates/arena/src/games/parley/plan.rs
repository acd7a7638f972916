//! The order of speakers after a message, and after calls by name.

use std::collections::VecDeque;

use super::{Parley, ParleySettings, Stretch, Turn, Turns};
use crate::{Desk, Mentions, SeatId, Sid, Visible, mentions};

impl Parley {
    /// Opens the stretch of turns that a message, or a round, leads to.
    pub(super) fn begin(
        &mut self,
        message: Option<Sid>,
        hears: Visible,
        content: &str,
        by_host: bool,
        desk: &mut Desk<'_>,
    ) {
        let eligible = self.eligible(desk.seats, &hears);
        let named = mentions(content, desk.seats);
        let mut stretch = Stretch {
            message,
            hears,
            agenda: VecDeque::new(),
            addressed: false,
            pooled: false,
            turns: 0,
            spoken: 0,
            courtesies: 0,
        };
        self.stretches += 1;
        let addressed: Vec<SeatId> = named.addressed().filter(|seat| eligible.contains(seat)).collect();
        if by_host && !named.everyone && !addressed.is_empty() {
            stretch.addressed = true;
            stretch.agenda = turns(addressed);
        } else {
            match self.settings.turns {
                Turns::RoundRobin => stretch.agenda = turns(rotated(&eligible, self.stretches - 1)),
                Turns::Natural => stretch.agenda = turns(self.natural(&eligible, &named, desk)),
                Turns::Pooled => self.pool(&mut stretch, desk),
                Turns::Parallel => stretch.agenda = turns(eligible),
                // They are asked one by one.
                Turns::Bidding | Turns::Moderator => {}
            }
        }
        self.stretch = Some(stretch);
    }

    /// Everybody once, in a drawn order.
    pub(super) fn pool(&self, stretch: &mut Stretch, desk: &mut Desk<'_>) {
        let mut seats = self.eligible(desk.seats, &stretch.hears);
        desk.shuffle("pool", &mut seats);
        stretch.agenda = turns(seats);
    }

    fn natural(&self, eligible: &[SeatId], named: &Mentions, desk: &mut Desk<'_>) -> Vec<SeatId> {
        let mut order: Vec<SeatId> =
            named.seats.iter().map(|mention| mention.seat).filter(|seat| eligible.contains(seat)).collect();
        let mut others: Vec<SeatId> = eligible
            .iter()
            .copied()
            .filter(|seat| !order.contains(seat) && (Some(*seat) != self.last || eligible.len() == 1))
            .collect();
        desk.shuffle("natural order", &mut others);
        for seat in &others {
            let talkativeness = desk.seats.get(*seat).map_or(0, |it| it.talkativeness);
            if desk.chance("talkativeness", talkativeness) {
                order.push(*seat);
            }
        }
        if order.is_empty() {
            order.extend(desk.pick("natural", &others));
        }
        order
    }
}

fn turns(seats: Vec<SeatId>) -> VecDeque<Turn> {
    seats.into_iter().map(|seat| Turn { seat, depth: 0 }).collect()
}

fn rotated(seats: &[SeatId], by: usize) -> Vec<SeatId> {
    let mut seats = seats.to_vec();
    if !seats.is_empty() {
        let by = by % seats.len();
        seats.rotate_left(by);
    }
    seats
}

/// A player's `@name` calls that seat up, or brings it forward. `@all` of a player is ignored. A plain name
/// brings forward where the order is not fixed.
pub(super) fn follow_up(
    settings: &ParleySettings,
    stretch: &mut Stretch,
    speaker: SeatId,
    depth: u32,
    named: &Mentions,
) {
    if !settings.follows_calls() {
        return;
    }
    let is_free = matches!(settings.turns, Turns::Natural | Turns::Pooled);
    for mention in named.seats.iter().rev().filter(|mention| mention.seat != speaker) {
        let waiting = stretch.agenda.iter().position(|turn| turn.seat == mention.seat);
        let turn = match waiting {
            Some(at) if mention.addressed || is_free => stretch.agenda.remove(at),
            None if mention.addressed && depth + 1 < settings.depth => {
                Some(Turn { seat: mention.seat, depth: depth + 1 })
            }
            _ => None,
        };
        if let Some(turn) = turn {
            stretch.agenda.push_front(turn);
        }
    }
}
