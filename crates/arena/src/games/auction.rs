//! Auction: lots with private values, sealed and open bids, budgets. Decisions, not only talk.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{SetupError, settings};
use crate::{Act, Desk, Ending, Game, Move, Next, Outcome, Request, SeatId, Seats, Setup, Visible};

mod bidding;
mod rules;

/// The way in which a lot is sold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sale {
    /// One sealed bid each; the highest one pays its bid.
    #[default]
    Sealed,
    /// One sealed bid each; the highest one pays the second highest bid.
    SecondPrice,
    /// Rising bids in public. Who does not raise is out.
    Open,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lot {
    pub name: String,
    #[serde(default)]
    pub sale: Sale,
    /// The least price.
    #[serde(default = "default_reserve")]
    pub reserve: i64,
}

fn default_reserve() -> i64 {
    1
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuctionSettings {
    pub lots: Vec<Lot>,
    /// The money of each player, for all lots.
    pub budget: i64,
    /// The least step of an open bid.
    pub step: i64,
    /// Values are drawn between these, for each player and lot.
    pub least_value: i64,
    pub most_value: i64,
    /// True if everybody may speak before each lot.
    pub talk: bool,
}

impl Default for AuctionSettings {
    fn default() -> Self {
        let lot = |name: &str, sale| Lot { name: name.to_owned(), sale, reserve: default_reserve() };
        Self {
            lots: vec![
                lot("the clock", Sale::Sealed),
                lot("the map", Sale::SecondPrice),
                lot("the violin", Sale::Open),
            ],
            budget: 100,
            step: 5,
            least_value: 10,
            most_value: 80,
            talk: true,
        }
    }
}

/// Amounts stay far below what an integer holds.
const MOST_MONEY: i64 = 1_000_000_000;
const MOST_LOTS: usize = 50;

#[derive(Debug)]
pub struct Auction {
    settings: AuctionSettings,
    bidders: BTreeMap<SeatId, Bidder>,
    lot: usize,
    phase: Phase,
    /// Players who still speak or bid.
    order: VecDeque<SeatId>,
    /// The highest open bid.
    high: Option<(SeatId, i64)>,
}

#[derive(Debug, Default)]
struct Bidder {
    purse: i64,
    /// The worth of each lot to this player.
    values: Vec<i64>,
    /// The lots that it has, with their prices.
    won: Vec<(usize, i64)>,
}

impl Bidder {
    /// The worth of its lots, less their prices.
    fn profit(&self) -> i64 {
        self.won.iter().map(|(lot, price)| self.values[*lot] - price).sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begin,
    Announce,
    Talk,
    Sealed,
    Open,
}

impl Auction {
    pub fn open(setup: &Setup) -> Result<Self, SetupError> {
        let settings: AuctionSettings = settings(setup)?;
        let players = Seats::new(&setup.seats).players().count();
        if players < 2 {
            return Err(SetupError::Players {
                game: "auction",
                least: 2,
                most: crate::limits::SEATS,
                found: players,
            });
        }
        let money = [settings.budget, settings.step, settings.least_value, settings.most_value];
        let is_money = |amount: &i64| (0..=MOST_MONEY).contains(amount);
        let invalid = |field, problem: &str| Err(SetupError::Invalid { field, problem: problem.to_owned() });
        if settings.lots.is_empty() || settings.lots.len() > MOST_LOTS {
            return invalid("lots", "an auction has 1 to 50 lots");
        }
        if !money.iter().all(is_money)
            || settings.lots.iter().any(|lot| !(1..=MOST_MONEY).contains(&lot.reserve))
        {
            return invalid("budget", "amounts are 0 to 1,000,000,000, and a reserve at least 1");
        }
        if settings.step < 1 || settings.least_value > settings.most_value {
            return invalid("step", "the step is at least 1, and least_value at most most_value");
        }
        Ok(Self {
            settings,
            bidders: BTreeMap::new(),
            lot: 0,
            phase: Phase::Begin,
            order: VecDeque::new(),
            high: None,
        })
    }

    fn begin(&mut self, desk: &mut Desk<'_>) {
        let (least, most) = (self.settings.least_value, self.settings.most_value);
        let span = usize::try_from(most - least + 1).unwrap_or(1);
        for seat in desk.seats.players() {
            let values: Vec<i64> = self
                .settings
                .lots
                .iter()
                .map(|_| least + i64::try_from(desk.below("values", span)).unwrap_or_default())
                .collect();
            let bidder = Bidder { purse: self.settings.budget, values, won: Vec::new() };
            let text = self.worths(&bidder);
            desk.tell_to(Visible::only([seat]), "values", text, json!({"values": bidder.values}));
            self.bidders.insert(seat, bidder);
        }
        self.phase = Phase::Announce;
    }

    fn worths(&self, bidder: &Bidder) -> String {
        let worth = self.settings.lots.iter().zip(&bidder.values);
        let worth: Vec<String> = worth.map(|(lot, value)| format!("{} {value}", lot.name)).collect();
        format!("What the lots are worth to you: {}.", worth.join(", "))
    }

    fn current(&self) -> Option<&Lot> {
        self.settings.lots.get(self.lot)
    }

    fn purse(&self, seat: SeatId) -> i64 {
        self.bidders.get(&seat).map_or(0, |bidder| bidder.purse)
    }

    fn announce(&mut self, desk: &mut Desk<'_>) -> Next {
        let Some(lot) = self.current() else { return Next::End(self.ending(desk.seats)) };
        let text = format!("Lot {}: {}. {}", self.lot + 1, lot.name, rules::sale(lot, self.settings.step));
        desk.tell("lot", text, json!({"lot": lot}));
        self.high = None;
        self.order = desk.seats.players().collect();
        let by = self.lot % self.order.len().max(1);
        self.order.rotate_left(by);
        self.phase = Phase::Talk;
        Next::Again
    }

    fn talk(&mut self) -> Next {
        let speaker = if self.settings.talk { self.order.pop_front() } else { None };
        if let Some(seat) = speaker {
            return Next::Ask(vec![Request::speak(
                seat,
                "You may speak before the bids, and need not tell the truth.",
            )]);
        }
        let least = self.current().map_or(0, |lot| lot.reserve);
        self.order = self.bidders.keys().copied().filter(|seat| self.purse(*seat) >= least).collect();
        let by = self.lot % self.order.len().max(1);
        self.order.rotate_left(by.min(self.order.len()));
        self.phase = match self.current().map(|lot| lot.sale) {
            Some(Sale::Open) => Phase::Open,
            _ => Phase::Sealed,
        };
        Next::Again
    }

    /// A question with a reminder of the player's own value and purse.
    fn question(&self, seat: SeatId, what: &str) -> String {
        let value =
            self.bidders.get(&seat).and_then(|bidder| bidder.values.get(self.lot)).copied().unwrap_or(0);
        let name = self.current().map_or("", |lot| lot.name.as_str());
        format!("{what} {name} is worth {value} to you. You have {}.", self.purse(seat))
    }

    fn ending(&self, seats: &Seats) -> Ending {
        let scores: Vec<(SeatId, i64)> =
            self.bidders.iter().map(|(seat, bidder)| (*seat, bidder.profit())).collect();
        let best = scores.iter().map(|(_, profit)| *profit).max();
        let is_sold = self.bidders.values().any(|bidder| !bidder.won.is_empty());
        let winners: Vec<SeatId> = scores
            .iter()
            .filter(|(_, profit)| is_sold && Some(*profit) == best)
            .map(|(seat, _)| *seat)
            .collect();
        let shown: Vec<String> =
            scores.iter().map(|(seat, profit)| format!("{} {profit}", seats.name(*seat))).collect();
        let text = format!("The auction is over. Profits: {}.", shown.join(", "));
        Ending { winners, scores, ..Ending::new(Outcome::Finished, text) }
    }
}

impl Game for Auction {
    fn name(&self) -> &'static str {
        "auction"
    }

    fn how_to_play(&self, _seats: &Seats) -> String {
        rules::how_to_play(&self.settings)
    }

    fn next(&mut self, desk: &mut Desk<'_>) -> Next {
        match self.phase {
            Phase::Begin => {
                self.begin(desk);
                Next::Again
            }
            Phase::Announce => self.announce(desk),
            Phase::Talk => self.talk(),
            Phase::Sealed => self.sealed(desk),
            Phase::Open => self.rising(desk),
        }
    }

    fn check(&self, seat: SeatId, act: &Act, _seats: &Seats) -> Result<(), String> {
        let least = match self.phase {
            Phase::Open => self.least_raise(),
            _ => self.current().map_or(1, |lot| lot.reserve),
        };
        act.integer("amount", least, self.purse(seat)).map(|_| ())
    }

    fn take(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        match self.phase {
            Phase::Sealed => self.take_sealed(moves, desk),
            Phase::Open => self.take_raise(moves, desk),
            Phase::Begin | Phase::Announce | Phase::Talk => {}
        }
    }

    fn look(&self, seat: SeatId, act: &Act, _seats: &Seats) -> Option<String> {
        let bidder = self.bidders.get(&seat).filter(|_| act.tool == "purse")?;
        let won =
            bidder.won.iter().map(|(lot, price)| format!("{} for {price}", self.settings.lots[*lot].name));
        let won: Vec<String> = won.collect();
        let won = if won.is_empty() { "nothing".to_owned() } else { won.join(", ") };
        Some(format!("You have {}. You hold {won}. {}", bidder.purse, self.worths(bidder)))
    }
}
