//! The day: talk and whispers, accusations, a sealed vote.

use serde_json::{Value, json};

use super::night::leaders;
use super::{Mafia, NOBODY, Phase, Tie, aim};
use crate::{Desk, Move, Next, Request, SeatId};

impl Mafia {
    pub(super) fn discussion(&mut self, desk: &mut Desk<'_>) -> Next {
        let Some(seat) = self.next_speaker() else {
            self.order = self.living().into();
            self.phase = Phase::Accusation;
            return Next::Again;
        };
        let left = self.settings.whispers.saturating_sub(self.whispered.get(&seat).copied().unwrap_or(0));
        let request = self.ask(seat, "It is day. Speak to the town.", desk.seats);
        Next::Ask(vec![request.whispering(left > 0)])
    }

    /// One after the other may accuse, in public.
    pub(super) fn accusation(&mut self, desk: &mut Desk<'_>) -> Next {
        if let Some(seat) = self.next_speaker() {
            let tool = self.aim_at(seat, "accuse", "Accuses a player: the town will vote on it.", desk.seats);
            let request = self.ask(seat, "You may accuse one player, with or without a speech.", desk.seats);
            return Next::Ask(vec![request.with(vec![tool])]);
        }
        self.accused.retain(|seat| !self.out.contains(seat));
        if self.accused.is_empty() {
            desk.tell("no_vote", "Nobody was accused. There is no vote today.", Value::Null);
            self.fall_night(desk);
        } else {
            self.open_vote(self.accused.clone(), false, desk);
        }
        Next::Again
    }

    pub(super) fn accuse(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        for it in moves {
            let accused = it.act.as_ref().and_then(|act| desk.seats.resolve(act.text("player").ok()?));
            let Some(accused) = accused else { continue };
            let text = format!("{} accuses {}.", desk.seats.name(it.seat), desk.seats.name(accused));
            desk.tell("accused", text, json!({"by": it.seat, "accused": accused}));
            if !self.accused.contains(&accused) {
                self.accused.push(accused);
            }
        }
    }

    fn open_vote(&mut self, candidates: Vec<SeatId>, is_runoff: bool, desk: &mut Desk<'_>) {
        let what = if is_runoff { "The vote is tied. The town votes again" } else { "The town votes" };
        let text = format!("{what} on: {}.", desk.seats.names(candidates.iter().copied()));
        desk.tell("vote", text, json!({"candidates": candidates, "runoff": is_runoff}));
        self.phase = Phase::Vote { candidates, is_runoff };
    }

    pub(super) fn vote(&mut self, candidates: &[SeatId], desk: &mut Desk<'_>) -> Next {
        let candidates = candidates.iter().filter(|seat| !self.out.contains(seat));
        let names: Vec<&str> = candidates.map(|seat| desk.seats.name(*seat)).chain([NOBODY]).collect();
        let requests = self.living().into_iter().map(|seat| {
            let prompt = format!("{} Votes are sealed until all are in.", self.reminder(seat, desk.seats));
            let tool = aim("vote", "Votes for a player to be out, or for nobody.", names.iter().copied());
            Request::act(seat, prompt, vec![tool])
        });
        Next::Ask(requests.collect())
    }

    /// All votes are in, and are revealed together.
    pub(super) fn count(
        &mut self,
        moves: &[Move],
        candidates: &[SeatId],
        is_runoff: bool,
        desk: &mut Desk<'_>,
    ) {
        let mut lines = Vec::new();
        let mut votes: Vec<Option<SeatId>> = Vec::new();
        for it in moves {
            let name = desk.seats.name(it.seat);
            let vote = it.act.as_ref().and_then(|act| act.text("player").ok());
            let target =
                vote.and_then(|vote| desk.seats.resolve(vote)).filter(|seat| candidates.contains(seat));
            match (vote, target) {
                (None, _) => lines.push(format!("{name} does not vote")),
                (Some(_), target) => {
                    lines.push(format!("{name}: {}", target.map_or(NOBODY, |seat| desk.seats.name(seat))));
                    votes.push(target);
                }
            }
        }
        desk.tell("votes", format!("The votes: {}.", lines.join(", ")), Value::Null);
        let leading = leaders(votes.into_iter());
        let tied: Vec<SeatId> = leading.iter().copied().flatten().collect();
        let out = match (leading.as_slice(), self.settings.tie) {
            ([one], _) => *one,
            ([], _) | (_, Tie::Nobody) => None,
            (_, Tie::Drawn) => desk.pick("tie", &leading).flatten(),
            (_, Tie::Runoff) if is_runoff || tied.is_empty() => None,
            (_, Tie::Runoff) => return self.open_vote(tied, true, desk),
        };
        match out.filter(|seat| !self.out.contains(seat)) {
            Some(seat) => self.put_out(seat, "was voted out", desk),
            None => desk.tell("spared", "Nobody was voted out.", Value::Null),
        }
        self.fall_night(desk);
    }
}
