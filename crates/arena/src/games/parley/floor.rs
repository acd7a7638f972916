//! The questions of a stretch: to speak, to bid, to call on somebody; and the answers.

use super::{Asked, BID, CALL_ON, CLOSE, Context, Parley, Stretch, Turn, Turns, WAIT};
use crate::{Desk, Move, Next, Request, SeatId, Seats, Tool, Visible, mentions};

impl Parley {
    /// The seats that may be given the floor.
    pub(super) fn eligible(&self, seats: &Seats, hears: &Visible) -> Vec<SeatId> {
        let players = seats.players().filter(|seat| Some(*seat) != self.moderator && seats.may_speak(*seat));
        players.filter(|seat| hears.includes(*seat)).collect()
    }

    fn speak(&self, turn: Turn, stretch: &Stretch, seats: &Seats) -> Request {
        let own = Visible::only(seats.hosts().chain([turn.seat]));
        let hears = match self.settings.context {
            Context::Shared => stretch.hears.clone(),
            Context::Isolated => stretch.hears.within(&own),
        };
        let request = Request::speak(turn.seat, "It is your turn to speak.");
        let request = request.heard_by(hears).whispering(self.settings.whispers);
        match stretch.message {
            Some(message) => request.answering(message, turn.depth),
            None => request,
        }
    }

    /// The next question of the stretch, if it goes on.
    pub(super) fn go_on(&mut self, desk: &mut Desk<'_>) -> Option<Next> {
        let mut stretch = self.stretch.take()?;
        let next = self.question(&mut stretch, desk);
        self.stretch = Some(stretch);
        if next.is_none() {
            self.close();
        }
        next
    }

    fn question(&mut self, stretch: &mut Stretch, desk: &mut Desk<'_>) -> Option<Next> {
        if stretch.turns >= self.settings.turns_per_message || stretch.courtesies >= 2 {
            return None;
        }
        let eligible = self.eligible(desk.seats, &stretch.hears);
        stretch.agenda.retain(|turn| eligible.contains(&turn.seat));
        self.asked = Asked::Speech;
        if self.settings.turns == Turns::Parallel {
            let most = self.settings.turns_per_message as usize;
            let turns: Vec<Turn> = stretch.agenda.drain(..).take(most).collect();
            stretch.turns += u32::try_from(turns.len()).unwrap_or(u32::MAX);
            let requests: Vec<Request> =
                turns.into_iter().map(|turn| self.speak(turn, stretch, desk.seats)).collect();
            return (!requests.is_empty()).then_some(Next::Ask(requests));
        }
        if let Some(turn) = stretch.agenda.pop_front() {
            stretch.turns += 1;
            return Some(Next::Ask(vec![self.speak(turn, stretch, desk.seats)]));
        }
        if stretch.addressed || stretch.pooled || eligible.is_empty() {
            return None;
        }
        match self.settings.turns {
            Turns::Bidding => {
                self.asked = Asked::Bids;
                let waits = |seat: &SeatId| eligible.len() > 1 && Some(*seat) == self.last;
                let bidders = eligible.iter().filter(|seat| !waits(seat));
                Some(Next::Ask(bidders.map(|seat| bid(*seat)).collect()))
            }
            Turns::Moderator => match self.moderator.filter(|moderator| desk.seats.may_speak(*moderator)) {
                Some(moderator) => {
                    self.asked = Asked::Moderator;
                    Some(Next::Ask(vec![self.call(moderator, &eligible, desk.seats)]))
                }
                None => {
                    stretch.pooled = true;
                    self.pool(stretch, desk);
                    Some(Next::Again)
                }
            },
            _ => None,
        }
    }

    fn call(&self, moderator: SeatId, eligible: &[SeatId], seats: &Seats) -> Request {
        let names: Vec<&str> = eligible.iter().map(|seat| seats.name(*seat)).collect();
        let call = Tool::action(CALL_ON, "Calls on the next speaker.").choice("name", names);
        let end = match self.is_hosted() {
            true => Tool::action(WAIT, "Lets the host speak next."),
            false => Tool::action(CLOSE, "Ends the round."),
        };
        Request::act(moderator, "You moderate. Who speaks next?", vec![call, end])
    }

    pub(super) fn close(&mut self) {
        if self.stretch.take().is_some_and(|stretch| stretch.spoken == 0) && !self.is_hosted() {
            self.rounds = u32::MAX;
        }
    }

    pub(super) fn take_bids(&mut self, moves: &[Move], seats: &Seats) {
        let named = mentions(&self.last_words, seats);
        let level = |it: &Move| it.act.as_ref().and_then(|act| act.integer("level", 0, 4).ok()).unwrap_or(0);
        let rank = |it: &Move| {
            let heard = self.heard.get(&it.seat).copied().unwrap_or(0);
            (level(it), named.includes(it.seat), std::cmp::Reverse((heard, it.seat)))
        };
        let best = moves.iter().filter(|it| level(it) > 0).max_by_key(|it| rank(it)).map(|it| it.seat);
        match (best, &mut self.stretch) {
            (Some(seat), Some(stretch)) => stretch.agenda.push_back(Turn { seat, depth: 0 }),
            _ => self.close(),
        }
    }

    pub(super) fn take_call(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        let called = moves.first();
        let is_unusable = called.is_none_or(|it| it.fell_back);
        let seat = called.and_then(|it| it.act.as_ref()).filter(|act| act.tool == CALL_ON);
        let seat = seat.and_then(|act| desk.seats.resolve(act.text("name").ok()?));
        let Some(mut stretch) = self.stretch.take() else { return };
        match seat {
            _ if is_unusable => {
                stretch.pooled = true;
                self.pool(&mut stretch, desk);
            }
            Some(seat) => stretch.agenda.push_back(Turn { seat, depth: 0 }),
            None => {
                self.stretch = Some(stretch);
                return self.close();
            }
        }
        self.stretch = Some(stretch);
    }
}

fn bid(seat: SeatId) -> Request {
    let levels = "0: I listen. 1: I could add something. 2: I have something to say. 3: it is urgent. 4: I was \
                  addressed.";
    let tool = Tool::action(BID, format!("Bids for the floor. {levels}")).integer("level", 0, 4);
    Request::act(seat, "Do you want to speak next? Bids are sealed.", vec![tool])
}
