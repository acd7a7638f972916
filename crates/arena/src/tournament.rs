//! Arithmetic of tournaments: schedules, intervals, strengths.
//!
//! No game is played here. Every number that is drawn comes from a seed, so a table can be made again from
//! the results.

use crate::{Entry, Fact, SeatId};

mod bootstrap;
mod schedule;
mod strength;

pub use bootstrap::{Ranking, Standing, games_to_overturn, rank};
pub use schedule::{Pairing, Schedule, ScheduleError};
pub use strength::{Comparison, Strengths, comparisons, fit};

/// The normal quantile of 95 % intervals.
const Z95: f64 = 1.959_963_984_540_054;
/// The normal quantile of a power of 80 %.
const Z80: f64 = 0.841_621_233_572_914_2;

/// A share with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// The Wilson interval of `wins` in `games`. Without games nothing is known.
pub fn wilson(wins: u32, games: u32) -> Share {
    if games == 0 {
        return Share { share: 0.0, low: 0.0, high: 1.0 };
    }
    let (wins, count) = (f64::from(wins.min(games)), f64::from(games));
    let share = wins / count;
    let square = Z95 * Z95;
    let scale = 1.0 + square / count;
    let center = (share + square / (2.0 * count)) / scale;
    let half = Z95 * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt() / scale;
    Share { share, low: (center - half).max(0.0), high: (center + half).min(1.0) }
}

/// Games that tell a share of wins from another one: two-sided at 5 %, with a power of 80 %. `None` if the
/// shares are equal or no shares.
pub fn games_needed(share: f64, against: f64) -> Option<u64> {
    let is_share = |share: f64| share > 0.0 && share < 1.0;
    let difference = (share - against).abs();
    if !is_share(share) || !is_share(against) || difference < 1e-6 {
        return None;
    }
    let spread = |share: f64| (share * (1.0 - share)).sqrt();
    let games = ((Z95 * spread(against) + Z80 * spread(share)) / difference).powi(2);
    // At most about 1e13, as the difference is at least 1e-6.
    Some(games.ceil() as u64)
}

/// How a seat answered in a game, to be shown beside its wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conduct {
    /// Questions that it was asked.
    pub asked: u32,
    /// Answers that were not accepted.
    pub invalid: u32,
    /// Questions that the rules answered for it.
    pub fell_back: u32,
}

/// Counts the questions and faults of a seat.
pub fn conduct(entries: &[Entry], seat: SeatId) -> Conduct {
    let mut conduct = Conduct::default();
    for fact in entries.iter().flat_map(|entry| &entry.facts) {
        match fact {
            Fact::Asked { seats, .. } => conduct.asked += u32::from(seats.contains(&seat)),
            Fact::Invalid { seat: by, .. } => conduct.invalid += u32::from(*by == seat),
            Fact::FellBack { seat: by, .. } => conduct.fell_back += u32::from(*by == seat),
            _ => {}
        }
    }
    conduct
}

#[cfg(test)]
mod tests;
