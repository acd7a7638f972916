//! Mafia: hidden roles, nights and days, whispers, accusations, a sealed vote.
//!
//! The knowledge of a role is told to its players alone. Nothing public depends on a hidden role before it is
//! revealed: neither a question asked in public nor a notice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{SetupError, settings};
use crate::{
    Act, Desk, Ending, Event, Game, Move, Next, Outcome, Payload, Request, SeatId, Seats, Setup, Tool,
    Visible,
};

mod day;
mod night;
mod rules;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Mafia,
    Doctor,
    Detective,
    Townsperson,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::Mafia => "mafia",
            Self::Doctor => "the doctor",
            Self::Detective => "the detective",
            Self::Townsperson => "a townsperson",
        }
    }
}

/// The result of a tied vote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tie {
    #[default]
    Nobody,
    /// A second vote among those who tied; after another tie, nobody.
    Runoff,
    Drawn,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MafiaSettings {
    /// Members of the mafia. 0: a quarter of the players.
    pub mafia: usize,
    pub doctor: bool,
    pub detective: bool,
    /// Rounds of talk of the mafia each night.
    pub night_talk: u32,
    /// Rounds of talk each day.
    pub discussion: u32,
    /// Whispers of each player each day.
    pub whispers: u32,
    /// True if everybody learns who whispers to whom, without the words.
    pub whispers_seen: bool,
    pub tie: Tie,
    /// True if the role of a player who is out becomes known.
    pub reveal: bool,
    /// After so many days nobody wins.
    pub days: u32,
    /// Roles by name. The others are drawn.
    pub roles: BTreeMap<String, Role>,
}

impl Default for MafiaSettings {
    fn default() -> Self {
        Self {
            mafia: 0,
            doctor: true,
            detective: true,
            night_talk: 1,
            discussion: 1,
            whispers: 1,
            whispers_seen: true,
            tie: Tie::Nobody,
            reveal: true,
            days: 10,
            roles: BTreeMap::new(),
        }
    }
}

#[derive(Debug)]
pub struct Mafia {
    settings: MafiaSettings,
    roles: BTreeMap<SeatId, Role>,
    out: BTreeSet<SeatId>,
    phase: Phase,
    day: u32,
    /// Players who still speak in this phase.
    order: VecDeque<SeatId>,
    /// Players accused today, in order.
    accused: Vec<SeatId>,
    whispered: BTreeMap<SeatId, u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    Deal,
    NightTalk,
    Night,
    Discussion,
    Accusation,
    Vote { candidates: Vec<SeatId>, is_runoff: bool },
}

const MOST_ROUNDS: u32 = 20;
const NOBODY: &str = "nobody";

impl Mafia {
    pub fn open(setup: &Setup) -> Result<Self, SetupError> {
        let mut settings: MafiaSettings = settings(setup)?;
        let seats = Seats::new(&setup.seats);
        let players = seats.players().count();
        let invalid = |field, problem: &str| Err(SetupError::Invalid { field, problem: problem.to_owned() });
        if !(4..=crate::limits::SEATS).contains(&players) {
            return Err(SetupError::Players {
                game: "mafia",
                least: 4,
                most: crate::limits::SEATS,
                found: players,
            });
        }
        if settings.night_talk > MOST_ROUNDS || settings.discussion > MOST_ROUNDS {
            return invalid("discussion", "there are at most 20 rounds of talk each day and each night");
        }
        if settings.mafia == 0 {
            settings.mafia = (players / 4).max(1);
        }
        let town_roles = usize::from(settings.doctor) + usize::from(settings.detective);
        if settings.mafia * 2 >= players || settings.mafia + town_roles > players {
            return invalid(
                "mafia",
                "the mafia must be fewer than the others, and every role needs a player",
            );
        }
        let mut left = deck(&settings, players);
        for (name, role) in &settings.roles {
            let is_known = seats.resolve(name).is_some();
            let at = left.iter().position(|it| it == role);
            match at {
                Some(at) if is_known => left.swap_remove(at),
                _ => return invalid("roles", "each names a player and a role that the game has left"),
            };
        }
        Ok(Self {
            settings,
            roles: BTreeMap::new(),
            out: BTreeSet::new(),
            phase: Phase::Deal,
            day: 0,
            order: VecDeque::new(),
            accused: Vec::new(),
            whispered: BTreeMap::new(),
        })
    }

    /// Players who are not out, in seat order.
    fn living(&self) -> Vec<SeatId> {
        self.roles.keys().copied().filter(|seat| !self.out.contains(seat)).collect()
    }

    fn living_mafia(&self) -> Vec<SeatId> {
        self.living().into_iter().filter(|seat| self.roles[seat] == Role::Mafia).collect()
    }

    fn living_town(&self) -> Vec<SeatId> {
        self.living().into_iter().filter(|seat| self.roles[seat] != Role::Mafia).collect()
    }

    fn deal(&mut self, desk: &mut Desk<'_>) {
        let players: Vec<SeatId> = desk.seats.players().collect();
        let mut deck = deck(&self.settings, players.len());
        let fixed = self.settings.roles.iter();
        let fixed: BTreeMap<SeatId, Role> =
            fixed.filter_map(|(name, role)| Some((desk.seats.resolve(name)?, *role))).collect();
        for role in fixed.values() {
            if let Some(at) = deck.iter().position(|it| it == role) {
                deck.remove(at);
            }
        }
        desk.shuffle("roles", &mut deck);
        for seat in players {
            let role = fixed.get(&seat).copied().or_else(|| deck.pop()).unwrap_or(Role::Townsperson);
            self.roles.insert(seat, role);
        }
        for (seat, role) in &self.roles {
            let text = format!("You are {}.", role.word());
            desk.tell_to(Visible::only([*seat]), "role", text, json!({ "role": role }));
        }
        let mafia = self.living_mafia();
        if mafia.len() > 1 {
            let text = format!("The mafia: {}.", desk.seats.names(mafia.iter().copied()));
            desk.tell_to(Visible::only(mafia), "mafia", text, Value::Null);
        }
        self.fall_night(desk);
    }

    /// A reminder for every question, because diaries forget. Has the player's own knowledge only.
    fn reminder(&self, seat: SeatId, seats: &Seats) -> String {
        let role = self.roles.get(&seat).copied().unwrap_or(Role::Townsperson);
        let partners: Vec<SeatId> = match role {
            Role::Mafia => self
                .roles
                .iter()
                .filter(|(other, it)| **it == role && **other != seat)
                .map(|it| *it.0)
                .collect(),
            _ => Vec::new(),
        };
        let with =
            if partners.is_empty() { String::new() } else { format!(" with {}", seats.names(partners)) };
        let living = seats.names(self.living());
        format!("You are {}{with}. In the game: {living}.", role.word())
    }

    fn put_out(&mut self, seat: SeatId, what: &str, desk: &mut Desk<'_>) {
        self.out.insert(seat);
        let name = desk.seats.name(seat);
        let role = self.roles.get(&seat).copied().unwrap_or(Role::Townsperson);
        let data =
            if self.settings.reveal { json!({"out": name, "role": role}) } else { json!({"out": name}) };
        let text = match self.settings.reveal {
            true => format!("{name} {what}. {name} was {}.", role.word()),
            false => format!("{name} {what}."),
        };
        desk.tell("out", text, data);
    }

    fn ending(&self, seats: &Seats) -> Option<Ending> {
        let (mafia, town) = (self.living_mafia().len(), self.living_town().len());
        let team = |is_mafia: bool| {
            self.roles
                .iter()
                .filter(|(_, role)| (**role == Role::Mafia) == is_mafia)
                .map(|(seat, _)| *seat)
                .collect()
        };
        let (winners, text) = if mafia == 0 {
            (team(false), "The town wins.")
        } else if mafia >= town {
            (team(true), "The mafia wins.")
        } else if self.day >= self.settings.days && self.phase == Phase::NightTalk {
            (Vec::new(), "Nobody wins: the days are over.")
        } else {
            return None;
        };
        let roles = self.roles.iter().map(|(seat, role)| (seats.name(*seat).to_owned(), json!(role)));
        let listed =
            self.roles.iter().map(|(seat, role)| format!("{} was {}", seats.name(*seat), role.word()));
        let text = format!("{text} {}.", listed.collect::<Vec<_>>().join(", "));
        let data = json!({ "roles": Value::Object(roles.collect()) });
        Some(Ending { data, ..Ending { winners, ..Ending::new(Outcome::Finished, text) } })
    }
}

/// The roles of a game, the special ones first.
fn deck(settings: &MafiaSettings, players: usize) -> Vec<Role> {
    let mut deck = vec![Role::Mafia; settings.mafia];
    deck.extend(settings.doctor.then_some(Role::Doctor));
    deck.extend(settings.detective.then_some(Role::Detective));
    deck.resize(players, Role::Townsperson);
    deck
}

/// A tool whose only input is one of these players.
fn aim<'a>(name: &str, description: &str, choices: impl IntoIterator<Item = &'a str>) -> Tool {
    Tool::action(name, description).choice("player", choices)
}

impl Game for Mafia {
    fn name(&self) -> &'static str {
        "mafia"
    }

    fn how_to_play(&self, _seats: &Seats) -> String {
        rules::how_to_play(&self.settings)
    }

    fn next(&mut self, desk: &mut Desk<'_>) -> Next {
        if self.phase == Phase::Deal {
            self.deal(desk);
            return Next::Again;
        }
        if let Some(ending) = self.ending(desk.seats) {
            return Next::End(ending);
        }
        match self.phase.clone() {
            Phase::Deal => Next::Again,
            Phase::NightTalk => self.night_talk(desk),
            Phase::Night => self.night(desk),
            Phase::Discussion => self.discussion(desk),
            Phase::Accusation => self.accusation(desk),
            Phase::Vote { candidates, .. } => self.vote(&candidates, desk),
        }
    }

    fn check(&self, seat: SeatId, act: &Act, seats: &Seats) -> Result<(), String> {
        if act.tool == "vote" && act.text("player").is_ok_and(|name| name.trim().eq_ignore_ascii_case(NOBODY))
        {
            return Ok(());
        }
        act.seat("player", seats, &self.targets(seat, &act.tool)).map(|_| ())
    }

    fn take(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        match self.phase.clone() {
            Phase::Night => self.dawn(moves, desk),
            Phase::Accusation => self.accuse(moves, desk),
            Phase::Vote { candidates, is_runoff } => self.count(moves, &candidates, is_runoff, desk),
            Phase::Deal | Phase::NightTalk | Phase::Discussion => {}
        }
    }

    fn heard(&mut self, event: &Event, desk: &mut Desk<'_>) {
        let (Phase::Discussion, Some(seat), Payload::Speech { .. }, Visible::Some(heard)) =
            (&self.phase, event.src, &event.payload, &event.visible)
        else {
            return;
        };
        *self.whispered.entry(seat).or_default() += 1;
        if self.settings.whispers_seen {
            let to = desk.seats.names(heard.iter().copied().filter(|it| *it != seat));
            desk.tell("whisper", format!("{} whispers to {to}.", desk.seats.name(seat)), Value::Null);
        }
    }

    fn left(&mut self, seat: SeatId, desk: &mut Desk<'_>) {
        if self.roles.contains_key(&seat) && !self.out.contains(&seat) {
            self.put_out(seat, "has left and is out", desk);
        }
    }
}

impl Mafia {
    /// The players that a tool may be aimed at.
    fn targets(&self, seat: SeatId, tool: &str) -> Vec<SeatId> {
        match (tool, &self.phase) {
            ("kill", _) => self.living_town(),
            ("protect", _) => self.living(),
            ("vote", Phase::Vote { candidates, .. }) => candidates.clone(),
            _ => self.living().into_iter().filter(|other| *other != seat).collect(),
        }
    }

    fn aim_at(&self, seat: SeatId, tool: &str, description: &str, seats: &Seats) -> Tool {
        let names: Vec<&str> = self.targets(seat, tool).iter().map(|it| seats.name(*it)).collect();
        aim(tool, description, names)
    }

    /// The next one in the order who is still in the game.
    fn next_speaker(&mut self) -> Option<SeatId> {
        loop {
            let seat = self.order.pop_front()?;
            if !self.out.contains(&seat) {
                return Some(seat);
            }
        }
    }

    fn ask(&self, seat: SeatId, question: &str, seats: &Seats) -> Request {
        Request::speak(seat, format!("{} {question}", self.reminder(seat, seats)))
    }
}
