//! Debate: a motion, two sides, cross-examination with interrupts, a judge who scores.
//!
//! The judge gives points; the winner follows from them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{SetupError, settings, times};
use crate::{
    Act, Desk, Ending, Event, Game, Move, Next, Outcome, Payload, Request, SeatId, Seats, Setup, Tool,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DebateSettings {
    pub motion: String,
    /// Names. Without any: every other player, the first one included.
    pub proposition: Vec<String>,
    /// Names. Without any: the others.
    pub opposition: Vec<String>,
    /// A name. Without one: the last player.
    pub judge: Option<String>,
    /// Statements of each side between opening and closing.
    pub rounds: u32,
    /// True if each statement of a round is followed by a question of the other side.
    pub cross_examination: bool,
    /// Times that the questioner may cut in on one answer.
    pub interrupts: u32,
    /// The judge scores each from 0 to 10, for each side.
    pub criteria: Vec<String>,
}

impl Default for DebateSettings {
    fn default() -> Self {
        Self {
            motion: String::new(),
            proposition: Vec::new(),
            opposition: Vec::new(),
            judge: None,
            rounds: 2,
            cross_examination: true,
            interrupts: 1,
            criteria: ["argument", "evidence", "delivery"].map(str::to_owned).to_vec(),
        }
    }
}

const SIDES: [&str; 2] = ["proposition", "opposition"];
const MOST_POINTS: i64 = 10;
const VERDICT: &str = "verdict";
const MOST_ROUNDS: u32 = 20;

#[derive(Debug)]
pub struct Debate {
    settings: DebateSettings,
    /// The proposition, then the opposition.
    sides: [Vec<SeatId>; 2],
    judge: SeatId,
    agenda: VecDeque<Step>,
    now: Option<Step>,
    announced: bool,
    cuts: u32,
    ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Opening(SeatId),
    Statement { by: SeatId, round: u32 },
    Question { by: SeatId, to: SeatId },
    Answer { by: SeatId, to: SeatId },
    Closing(SeatId),
    Verdict,
}

impl Debate {
    pub fn open(setup: &Setup) -> Result<Self, SetupError> {
        let settings: DebateSettings = settings(setup)?;
        let seats = Seats::new(&setup.seats);
        let players: Vec<SeatId> = seats.players().collect();
        let invalid = |field, problem: &str| SetupError::Invalid { field, problem: problem.to_owned() };
        if players.len() < 3 {
            let most = crate::limits::SEATS;
            return Err(SetupError::Players { game: "debate", least: 3, most, found: players.len() });
        }
        if settings.motion.trim().is_empty() {
            return Err(invalid("motion", "a debate needs a motion"));
        }
        if settings.rounds > MOST_ROUNDS {
            return Err(invalid("rounds", "a debate has at most 20 rounds"));
        }
        let is_word = |word: &String| {
            !word.is_empty() && word.chars().all(|char| char.is_ascii_lowercase() || char == '_')
        };
        if settings.criteria.is_empty() || !settings.criteria.iter().all(is_word) {
            return Err(invalid("criteria", "each is a word of small letters"));
        }
        let resolve = |name: &String| seats.resolve(name).filter(|seat| players.contains(seat));
        let judge = match &settings.judge {
            Some(name) => {
                resolve(name).ok_or_else(|| invalid("judge", "nobody at the table has this name"))?
            }
            None => players[players.len() - 1],
        };
        let named = |names: &[String]| names.iter().map(resolve).collect::<Option<Vec<SeatId>>>();
        let sides = named(&settings.proposition).zip(named(&settings.opposition));
        let (mut proposition, mut opposition) =
            sides.ok_or_else(|| invalid("sides", "somebody named is not at the table"))?;
        if proposition.is_empty() && opposition.is_empty() {
            let debaters = players.iter().copied().filter(|seat| *seat != judge).enumerate();
            let (first, second): (Vec<_>, Vec<_>) = debaters.partition(|(at, _)| at % 2 == 0);
            proposition = first.into_iter().map(|(_, seat)| seat).collect();
            opposition = second.into_iter().map(|(_, seat)| seat).collect();
        }
        let mut all: Vec<SeatId> = proposition.iter().chain(&opposition).copied().chain([judge]).collect();
        all.sort();
        let count = all.len();
        all.dedup();
        if proposition.is_empty() || opposition.is_empty() || all.len() != count {
            return Err(invalid("sides", "each side needs a speaker, and nobody has two parts"));
        }
        let sides = [proposition, opposition];
        let agenda = agenda(&settings, &sides);
        Ok(Self { settings, sides, judge, agenda, now: None, announced: false, cuts: 0, ending: None })
    }

    fn side_of(&self, seat: SeatId) -> usize {
        usize::from(!self.sides[0].contains(&seat))
    }

    fn request(&self, step: Step, seats: &Seats) -> Request {
        let side = |seat: SeatId| SIDES[self.side_of(seat)];
        match step {
            Step::Opening(seat) => Request::speak(seat, format!("Open for the {}.", side(seat))),
            Step::Statement { by, round } => {
                Request::speak(by, format!("Round {}: speak for the {}.", round + 1, side(by)))
            }
            Step::Question { by, to } => {
                Request::speak(by, format!("Cross-examination: ask {} one question.", seats.name(to)))
            }
            Step::Answer { by, to } => {
                Request::speak(by, format!("Answer the question of {}.", seats.name(to)))
            }
            Step::Closing(seat) => Request::speak(seat, format!("Close for the {}.", side(seat))),
            Step::Verdict => {
                Request::act(self.judge, "You are the judge. Give your verdict.", vec![self.verdict_tool()])
            }
        }
    }

    fn keys(&self) -> impl Iterator<Item = (usize, String)> {
        let sides = SIDES.iter().enumerate();
        sides.flat_map(|(at, side)| self.settings.criteria.iter().map(move |it| (at, format!("{side}_{it}"))))
    }

    fn verdict_tool(&self) -> Tool {
        let tool = Tool::action(VERDICT, "Scores both sides. The higher sum wins; equal sums are a draw.");
        let tool = self.keys().fold(tool, |tool, (_, key)| tool.integer(&key, 0, MOST_POINTS));
        tool.text("reasons", "Why, in a few sentences.")
    }

    fn verdict(&self, act: &Act, seats: &Seats) -> Ending {
        let mut sums = [0; 2];
        for (side, key) in self.keys() {
            sums[side] += act.integer(&key, 0, MOST_POINTS).unwrap_or(0);
        }
        let winners = match sums[0].cmp(&sums[1]) {
            std::cmp::Ordering::Equal => Vec::new(),
            order => self.sides[usize::from(order.is_lt())].clone(),
        };
        let result = match winners.first() {
            Some(winner) => format!("The {} wins", SIDES[self.side_of(*winner)]),
            None => "A draw".to_owned(),
        };
        let judge = seats.name(self.judge);
        let reasons = act.text("reasons").unwrap_or_default().trim();
        let text = format!("{result}, {} to {}. {judge}: {reasons}", sums[0], sums[1]);
        let scores =
            self.sides.iter().zip(sums).flat_map(|(side, sum)| side.iter().map(move |seat| (*seat, sum)));
        let data = json!({ "points": act.input });
        Ending { winners, scores: scores.collect(), data, ..Ending::new(Outcome::Finished, text) }
    }
}

fn agenda(settings: &DebateSettings, sides: &[Vec<SeatId>; 2]) -> VecDeque<Step> {
    let speaker = |side: usize, round: u32| sides[side][round as usize % sides[side].len()];
    let mut agenda = VecDeque::from([Step::Opening(speaker(0, 0)), Step::Opening(speaker(1, 0))]);
    for round in 0..settings.rounds {
        for side in 0..2 {
            let (by, other) = (speaker(side, round), speaker(1 - side, round));
            agenda.push_back(Step::Statement { by, round });
            if settings.cross_examination {
                agenda.push_back(Step::Question { by: other, to: by });
                agenda.push_back(Step::Answer { by, to: other });
            }
        }
    }
    // Who opened first closes last.
    agenda.extend([Step::Closing(speaker(1, 0)), Step::Closing(speaker(0, 0)), Step::Verdict]);
    agenda
}

impl Game for Debate {
    fn name(&self) -> &'static str {
        "debate"
    }

    fn how_to_play(&self, seats: &Seats) -> String {
        let settings = &self.settings;
        let names = |side: usize| seats.names(self.sides[side].iter().copied());
        let mut rules = vec![
            format!("This is a debate. The motion: {}", settings.motion),
            format!("For it (proposition): {}. Against it (opposition): {}.", names(0), names(1)),
            match settings.rounds {
                0 => "Each side opens, then closes.".to_owned(),
                rounds => format!("Each side opens, then speaks {} in turn, then closes.", times(rounds)),
            },
        ];
        if settings.cross_examination {
            rules.push("After each of these speeches the other side asks a question.".to_owned());
            rules.push(match settings.interrupts {
                0 => "Answers are not interrupted.".to_owned(),
                most => {
                    format!("The questioner may cut in on the answer, {} for each question.", times(most))
                }
            });
        }
        let criteria = settings.criteria.join(", ");
        rules.push(format!(
            "The judge is {}, and scores each side from 0 to {MOST_POINTS} in: {criteria}. The higher sum wins.",
            seats.name(self.judge)
        ));
        rules.join("\n")
    }

    fn next(&mut self, desk: &mut Desk<'_>) -> Next {
        if !self.announced {
            self.announced = true;
            desk.tell("motion", format!("The motion: {}", self.settings.motion), Value::Null);
            return Next::Again;
        }
        if let Some(ending) = self.ending.take() {
            return Next::End(ending);
        }
        let Some(step) = self.agenda.pop_front() else {
            return Next::End(Ending::new(Outcome::Finished, "The debate ends without a verdict."));
        };
        if !matches!(step, Step::Answer { .. }) {
            self.cuts = 0;
        }
        self.now = Some(step);
        Next::Ask(vec![self.request(step, desk.seats)])
    }

    fn check(&self, _seat: SeatId, act: &Act, _seats: &Seats) -> Result<(), String> {
        self.keys().try_for_each(|(_, key)| act.integer(&key, 0, MOST_POINTS).map(|_| ()))?;
        act.text("reasons").map(|_| ())
    }

    fn take(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        let act = moves.first().and_then(|it| it.act.as_ref());
        if let (Some(Step::Verdict), Some(act)) = (self.now, act) {
            self.ending = Some(self.verdict(act, desk.seats));
        }
    }

    fn heard(&mut self, event: &Event, _desk: &mut Desk<'_>) {
        // Cut off by a question, the answer goes on.
        if let (Payload::Interrupt { .. }, Some(Step::Answer { .. })) = (&event.payload, self.now) {
            self.cuts += 1;
            self.agenda.extend(self.now);
            self.agenda.rotate_right(1);
        }
    }

    fn may_interrupt(&self, seat: SeatId, event: &Event) -> bool {
        let Some(Step::Answer { by, to }) = self.now else { return false };
        self.cuts < self.settings.interrupts && seat == to && event.src == Some(by)
    }
}
