//! The certainty of a ranking: blocks are drawn again with replacement, and each draw is ranked.

use std::collections::BTreeMap;

use super::Z95;
use super::strength::{Comparison, fit};
use crate::draw::Draws;

/// One persona's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    pub persona: usize,
    /// In logits; 0 is the mean.
    pub strength: f64,
    pub low: f64,
    pub high: f64,
    /// From 1, the strongest.
    pub rank: usize,
    pub best_rank: usize,
    pub worst_rank: usize,
}

/// A table with 95 % intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The strongest first.
    pub standings: Vec<Standing>,
    /// The effect of each seat, in logits.
    pub seats: Vec<f64>,
    /// `beats[a][b]`: the share of draws in which a is stronger than b.
    pub beats: Vec<Vec<f64>>,
}

/// Ranks personas by the comparisons of their games, with so many draws.
pub fn rank(personas: usize, seats: usize, comparisons: &[Comparison], draws: usize, seed: u64) -> Ranking {
    let whole = fit(personas, seats, comparisons);
    let mut blocks: BTreeMap<u32, Vec<Comparison>> = BTreeMap::new();
    for comparison in comparisons {
        blocks.entry(comparison.block).or_default().push(*comparison);
    }
    let blocks: Vec<Vec<Comparison>> = blocks.into_values().collect();
    let mut numbers = Draws::new(seed);
    let fits: Vec<Vec<f64>> = (0..draws)
        .map(|_| {
            let drawn: Vec<Comparison> = (0..blocks.len())
                .flat_map(|_| {
                    let at =
                        usize::try_from(numbers.below("bootstrap", blocks.len() as u64)).unwrap_or_default();
                    blocks[at].iter().copied()
                })
                .collect();
            numbers.take_drawn();
            fit(personas, seats, &drawn).personas
        })
        .collect();
    let ranks: Vec<Vec<usize>> = fits.iter().map(|strengths| ranks(strengths)).collect();
    let own = self::ranks(&whole.personas);
    let standing = |persona: usize| {
        let half =
            half_width(&fits.iter().map(|strengths| strengths[persona]).collect::<Vec<_>>(), blocks.len());
        let (best_rank, worst_rank) = middle(ranks.iter().map(|ranks| ranks[persona]).collect());
        let (strength, rank) = (whole.personas[persona], own[persona]);
        Standing {
            persona,
            strength,
            low: strength - half,
            high: strength + half,
            rank,
            best_rank: best_rank.unwrap_or(rank),
            worst_rank: worst_rank.unwrap_or(rank),
        }
    };
    let mut standings: Vec<Standing> = (0..personas).map(standing).collect();
    standings.sort_by_key(|standing| standing.rank);
    let beats = |one: usize, other: usize| {
        let wins = fits.iter().filter(|strengths| strengths[one] > strengths[other]).count();
        wins as f64 / fits.len().max(1) as f64
    };
    let beats = (0..personas).map(|one| (0..personas).map(|other| beats(one, other)).collect()).collect();
    Ranking { standings, seats: whole.seats, beats }
}

/// The rank of each, from 1. Equals are ranked by their number.
fn ranks(strengths: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..strengths.len()).collect();
    order.sort_by(|one, other| strengths[*other].total_cmp(&strengths[*one]));
    let mut ranks = vec![0; strengths.len()];
    order.into_iter().enumerate().for_each(|(at, persona)| ranks[persona] = at + 1);
    ranks
}

/// Half of a 95 % interval, from the spread of the draws. Percentiles of the draws would be too narrow for
/// few blocks; Student's quantile and the factor for a sample's spread make up for that.
fn half_width(values: &[f64], blocks: usize) -> f64 {
    if values.len() < 2 || blocks < 2 {
        return f64::INFINITY;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let freedom = blocks as f64 - 1.0;
    let variance = squares / (values.len() as f64 - 1.0) * (blocks as f64 / freedom);
    // The first terms of the expansion of Student's quantile.
    let quantile = Z95 + (Z95.powi(3) + Z95) / (4.0 * freedom);
    quantile * variance.sqrt()
}

/// The bounds of the middle 95 %.
fn middle<T: Copy + PartialOrd>(mut values: Vec<T>) -> (Option<T>, Option<T>) {
    values.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    let cut = values.len() / 40;
    (values.get(cut).copied(), values.len().checked_sub(cut + 1).and_then(|at| values.get(at).copied()))
}

/// The wins that have to be dropped, one after the other, until the first of the table is no longer first.
/// `None` if even `most` do not do it.
pub fn games_to_overturn(
    personas: usize,
    seats: usize,
    comparisons: &[Comparison],
    most: usize,
) -> Option<usize> {
    let first = |comparisons: &[Comparison]| {
        ranks(&fit(personas, seats, comparisons).personas).iter().position(|rank| *rank == 1)
    };
    let leader = first(comparisons)?;
    let mut left = comparisons.to_vec();
    for dropped in 1..=most {
        // The win that counts most.
        let wins = left.iter().enumerate().filter(|(_, it)| it.winner == leader);
        let heaviest = wins.max_by(|(_, one), (_, other)| one.weight.total_cmp(&other.weight));
        let (at, _) = heaviest?;
        left.remove(at);
        if first(&left) != Some(leader) {
            return Some(dropped);
        }
    }
    None
}
