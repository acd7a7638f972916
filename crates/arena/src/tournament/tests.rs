use std::collections::BTreeMap;

use super::*;
use crate::draw::Draws;

#[test]
fn wilson_intervals_are_the_published_ones() {
    let rounded = |share: Share| [share.share, share.low, share.high].map(|it| (it * 1e4).round() / 1e4);
    assert_eq!(rounded(wilson(5, 10)), [0.5, 0.2366, 0.7634]);
    assert_eq!(rounded(wilson(0, 10)), [0.0, 0.0, 0.2775]);
    assert_eq!(rounded(wilson(10, 10)), [1.0, 0.7225, 1.0]);
    assert_eq!(rounded(wilson(0, 0)), [0.0, 0.0, 1.0]);
}

#[test]
fn a_small_difference_needs_many_games() {
    assert_eq!(games_needed(0.55, 0.5), Some(783));
    assert_eq!(games_needed(0.45, 0.5), Some(783));
    assert!(games_needed(0.9, 0.5).is_some_and(|games| games < 20));
    assert_eq!(games_needed(0.5, 0.5), None);
    assert_eq!(games_needed(1.0, 0.5), None);
}

#[test]
fn personas_sit_everywhere_equally_often() {
    for (personas, seats, games) in [(4, 4, 4), (4, 4, 10), (6, 4, 33), (5, 2, 100), (1, 1, 3)] {
        let schedule = Schedule::new(personas, seats, games, 7).expect("a schedule");
        assert_eq!(schedule.games.len(), games);
        let mut counts: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for game in &schedule.games {
            for (seat, persona) in game.personas.iter().enumerate() {
                *counts.entry((*persona, seat)).or_default() += 1;
            }
            let distinct: std::collections::BTreeSet<_> = game.personas.iter().collect();
            assert_eq!(distinct.len(), seats, "nobody plays twice in a game");
        }
        let count = |persona, seat| counts.get(&(persona, seat)).copied().unwrap_or(0);
        let all: Vec<u32> = (0..personas)
            .flat_map(|it| (0..seats).map(move |seat| (it, seat)))
            .map(|(it, seat)| count(it, seat))
            .collect();
        let (least, most) = (all.iter().min().expect("a count"), all.iter().max().expect("a count"));
        assert!(most - least <= 1, "{personas} personas, {seats} seats, {games} games: {all:?}");
    }
}

#[test]
fn a_block_has_one_seed_and_names_change() {
    let schedule = Schedule::new(4, 4, 12, 7).expect("a schedule");
    let seeds: Vec<u64> = schedule.games.iter().map(|game| game.seed).collect();
    assert!(seeds.chunks(4).all(|block| block.iter().all(|seed| *seed == block[0])));
    assert_ne!(seeds[0], seeds[4]);
    let names: std::collections::BTreeSet<_> = schedule.games.iter().map(|game| game.names.clone()).collect();
    assert!(names.len() > 5);
    assert_eq!(schedule, Schedule::new(4, 4, 12, 7).expect("a schedule"));
    assert_ne!(schedule, Schedule::new(4, 4, 12, 8).expect("a schedule"));
    assert_eq!(Schedule::new(3, 4, 1, 7), Err(ScheduleError::TooFew { personas: 3, seats: 4 }));
    assert_eq!(Schedule::new(3, 0, 1, 7), Err(ScheduleError::NoSeats));
}

#[test]
fn a_game_counts_one() {
    let pairs = |winners: &[usize]| comparisons(0, &[7, 8, 9], winners);
    for winners in [&[0][..], &[0, 1], &[], &[0, 1, 2]] {
        let sum: f64 = pairs(winners).iter().map(|pair| pair.weight).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{winners:?}");
    }
    let one = pairs(&[1]);
    assert_eq!(one.len(), 2);
    assert!(one.iter().all(|pair| (pair.winner, pair.winner_seat) == (8, 1)));
    assert_eq!(pairs(&[]).len(), 6);
}

#[test]
fn who_never_lost_has_a_finite_strength() {
    let wins: Vec<Comparison> = (0..50).flat_map(|block| comparisons(block, &[0, 1], &[0])).collect();
    let strengths = fit(2, 2, &wins);
    assert!(strengths.personas[0] > 0.5 && strengths.personas[0] < 10.0, "{strengths:?}");
    assert!(strengths.personas.iter().sum::<f64>().abs() < 1e-9);
}

/// The comparisons of a tournament whose strengths are known.
fn planted(strengths: &[f64], seat_effect: f64, games: usize, seed: u64) -> Vec<Comparison> {
    let schedule = Schedule::new(strengths.len(), 2, games, seed).expect("a schedule");
    let mut draws = Draws::new(seed);
    let mut found = Vec::new();
    for game in schedule.games {
        let [one, other] = game.personas[..] else { panic!("two seats") };
        let chance = 1.0 / (1.0 + (strengths[other] - strengths[one] - seat_effect).exp());
        let first_wins = (draws.below("games", 1_000_000) as f64) < chance * 1e6;
        found.extend(comparisons(game.block, &game.personas, &[usize::from(!first_wins)]));
    }
    found
}

#[test]
fn intervals_cover_planted_strengths_in_spite_of_seats() {
    let strengths = [0.6, 0.2, -0.2, -0.6];
    let (mut covered, mut seats) = ([0; 4], 0.0);
    for seed in 0..100 {
        let found = rank(4, 2, &planted(&strengths, 0.8, 240, seed), 80, seed);
        for standing in &found.standings {
            let truth = strengths[standing.persona];
            covered[standing.persona] += u32::from((standing.low..=standing.high).contains(&truth));
        }
        seats += found.seats[0] - found.seats[1];
    }
    assert!(covered.iter().all(|count| *count >= 90), "{covered:?}");
    assert!((0.7..0.9).contains(&(seats / 100.0)), "{}", seats / 100.0);
}

#[test]
fn a_ranking_says_how_sure_it_is() {
    let clear = rank(3, 2, &planted(&[2.0, 0.0, -2.0], 0.0, 300, 1), 100, 1);
    let order: Vec<usize> = clear.standings.iter().map(|standing| standing.persona).collect();
    assert_eq!(order, [0, 1, 2]);
    assert!(
        clear.standings.iter().all(|it| (it.best_rank, it.worst_rank) == (it.rank, it.rank)),
        "{clear:?}"
    );
    assert!(clear.beats[0][2] > 0.99 && clear.beats[2][0] < 0.01);
    let close = rank(3, 2, &planted(&[0.0, 0.0, 0.0], 0.0, 30, 1), 100, 1);
    assert!(close.standings.iter().all(|it| it.worst_rank > it.best_rank), "{close:?}");
}

#[test]
fn a_narrow_lead_is_overturned_by_few_games() {
    let narrow: Vec<Comparison> =
        (0..21).flat_map(|at| comparisons(at, &[0, 1], &[usize::from(at % 2 == 1)])).collect();
    assert!(games_to_overturn(2, 2, &narrow, 10).is_some_and(|games| games <= 2));
    let wide: Vec<Comparison> =
        (0..40).flat_map(|at| comparisons(at, &[0, 1], &[usize::from(at % 10 == 9)])).collect();
    assert_eq!(games_to_overturn(2, 2, &wide, 10), None);
}
