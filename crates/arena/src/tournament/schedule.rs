//! The games of a tournament: blocks that rotate all personas through one arrangement.

use crate::draw::Draws;

/// A tournament that cannot be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error(
        "a game has {seats} seats, and there are only {personas} personas; name as many as seats, or more"
    )]
    TooFew { personas: usize, seats: usize },
    #[error("a game needs a seat")]
    NoSeats,
}

/// The games of a tournament.
///
/// A block has as many games as there are personas. Its games have one seed, so their roles lie at the same
/// seats, and each persona sits at each seat once. In the whole tournament, the games of two personas at a
/// seat differ by one at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub games: Vec<Pairing>,
}

/// One game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    pub block: u32,
    /// For the game's setup: it decides the roles.
    pub seed: u64,
    /// The persona at each seat.
    pub personas: Vec<usize>,
    /// The display name of each seat, as a number: names change from game to game, and tell nothing.
    pub names: Vec<usize>,
}

impl Schedule {
    pub fn new(personas: usize, seats: usize, games: usize, seed: u64) -> Result<Self, ScheduleError> {
        if seats == 0 {
            return Err(ScheduleError::NoSeats);
        }
        if personas < seats {
            return Err(ScheduleError::TooFew { personas, seats });
        }
        let mut draws = Draws::new(seed);
        let mut order: Vec<usize> = Vec::new();
        let mut block_seed = 0;
        let pairing = |game: usize| {
            let turn = game % personas;
            if turn == 0 {
                order = shuffled(&mut draws, "blocks", personas);
                block_seed = draws.below("seeds", u64::MAX);
            }
            Pairing {
                block: u32::try_from(game / personas).unwrap_or(u32::MAX),
                seed: block_seed,
                personas: (0..seats).map(|seat| order[(turn + seat) % personas]).collect(),
                names: shuffled(&mut draws, "names", seats),
            }
        };
        Ok(Self { games: (0..games).map(pairing).collect() })
    }
}

fn shuffled(draws: &mut Draws, purpose: &str, count: usize) -> Vec<usize> {
    let mut items: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let other = usize::try_from(draws.below(purpose, last as u64 + 1)).unwrap_or_default();
        items.swap(last, other);
    }
    // Nobody reads these draws: the schedule itself is kept.
    draws.take_drawn();
    items
}
