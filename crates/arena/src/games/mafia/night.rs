//! The night: the mafia talks, and the roles act, sealed.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::{Mafia, Phase, Role};
use crate::{Act, Desk, Move, Next, Request, SeatId, Visible};

impl Mafia {
    pub(super) fn fall_night(&mut self, desk: &mut Desk<'_>) {
        desk.tell("night", format!("Night {} falls.", self.day + 1), json!({ "night": self.day + 1 }));
        let mafia = self.living_mafia();
        // Alone, nobody talks.
        let rounds = if mafia.len() > 1 { self.settings.night_talk } else { 0 };
        self.order = (0..rounds).flat_map(|_| mafia.iter().copied()).collect();
        self.phase = Phase::NightTalk;
    }

    pub(super) fn night_talk(&mut self, desk: &mut Desk<'_>) -> Next {
        let Some(seat) = self.next_speaker() else {
            self.phase = Phase::Night;
            return Next::Again;
        };
        let hears = Visible::only(self.living_mafia());
        let request =
            self.ask(seat, "It is night. Only the mafia hears you. Whom do you want to kill?", desk.seats);
        Next::Ask(vec![request.heard_by(hears)])
    }

    /// All roles act at once. The others sleep.
    pub(super) fn night(&mut self, desk: &mut Desk<'_>) -> Next {
        let requests = self.living().into_iter().filter_map(|seat| {
            let (tool, description) = match self.roles[&seat] {
                Role::Mafia => ("kill", "Votes whom the mafia kills tonight."),
                Role::Doctor => ("protect", "Saves a player from being killed tonight."),
                Role::Detective => ("investigate", "Finds out whether a player is mafia."),
                Role::Townsperson => return None,
            };
            let prompt = format!("{} It is night. Act, or pass.", self.reminder(seat, desk.seats));
            Some(Request::act(seat, prompt, vec![self.aim_at(seat, tool, description, desk.seats)]))
        });
        Next::Ask(requests.collect())
    }

    pub(super) fn dawn(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        let aimed = |tool: &str| -> Vec<(SeatId, SeatId)> {
            let aim = |act: &Act| desk.seats.resolve(act.text("player").ok()?);
            let acts = moves.iter().filter_map(|it| Some((it.seat, it.act.as_ref()?)));
            acts.filter(|(_, act)| act.tool == tool)
                .filter_map(|(seat, act)| Some((seat, aim(act)?)))
                .collect()
        };
        let (kills, saves, looks) = (aimed("kill"), aimed("protect"), aimed("investigate"));
        self.day += 1;
        let victim = leaders(kills.iter().map(|(_, target)| *target));
        let victim = desk.pick("kill", &victim);
        for (seat, target) in looks {
            let is_mafia = self.roles.get(&target) == Some(&Role::Mafia);
            let name = desk.seats.name(target);
            let text = format!("{name} is {}mafia.", if is_mafia { "" } else { "not " });
            desk.tell_to(Visible::only([seat]), "found", text, json!({"player": name, "mafia": is_mafia}));
        }
        desk.tell("day", format!("Day {} begins.", self.day), json!({ "day": self.day }));
        match victim {
            Some(victim)
                if saves.iter().all(|(_, saved)| *saved != victim) && !self.out.contains(&victim) =>
            {
                self.put_out(victim, "was killed in the night", desk);
            }
            _ => desk.tell("quiet", "Nobody died in the night.", Value::Null),
        }
        self.begin_day();
    }

    fn begin_day(&mut self) {
        let mut living = self.living();
        if !living.is_empty() {
            let by = self.day as usize % living.len();
            living.rotate_left(by);
        }
        self.order =
            (0..self.settings.discussion).flat_map(|_| living.iter().copied()).collect::<VecDeque<_>>();
        self.accused.clear();
        self.whispered.clear();
        self.phase = Phase::Discussion;
    }
}

/// The most frequent ones.
pub(super) fn leaders<T: Ord + Copy>(votes: impl Iterator<Item = T>) -> Vec<T> {
    let mut counts: BTreeMap<T, u32> = BTreeMap::new();
    votes.for_each(|vote| *counts.entry(vote).or_default() += 1);
    let most = counts.values().copied().max();
    counts.into_iter().filter(|(_, count)| Some(*count) == most).map(|(vote, _)| vote).collect()
}
