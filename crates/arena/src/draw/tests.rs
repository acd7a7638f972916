use super::*;

fn numbers(draws: &mut Draws, purpose: &str, of: u64, count: usize) -> Vec<u64> {
    (0..count).map(|_| draws.below(purpose, of)).collect()
}

#[test]
fn a_seed_gives_the_same_numbers() {
    let mut one = Draws::new(7);
    let mut other = Draws::new(7);
    assert_eq!(numbers(&mut one, "roles", 6, 50), numbers(&mut other, "roles", 6, 50));
    assert_ne!(numbers(&mut one, "roles", 6, 50), numbers(&mut Draws::new(8), "roles", 6, 50));
}

#[test]
fn streams_do_not_move_one_another() {
    let mut alone = Draws::new(7);
    let mut mixed = Draws::new(7);
    let expected = numbers(&mut alone, "roles", 100, 20);
    let mut found = Vec::new();
    for _ in 0..20 {
        mixed.below("ties", 3);
        found.push(mixed.below("roles", 100));
    }
    assert_eq!(found, expected);
    assert_ne!(numbers(&mut alone, "ties", 100, 20), expected);
}

#[test]
fn numbers_are_spread_evenly() {
    let mut counts = [0_u32; 6];
    for seed in 0..10 {
        for number in numbers(&mut Draws::new(seed), "roles", 6, 600) {
            counts[usize::try_from(number).expect("a small number")] += 1;
        }
    }
    // 1,000 expected each; six standard deviations are 173.
    assert!(counts.iter().all(|count| (827..=1_173).contains(count)), "{counts:?}");
}

#[test]
fn each_draw_is_kept_for_the_log() {
    let mut draws = Draws::new(1);
    let value = draws.below("ties", 3);
    assert_eq!(draws.below("ties", 1), 0);
    assert_eq!(draws.take_drawn(), [Draw { purpose: "ties".into(), of: 3, value }]);
    assert!(draws.take_drawn().is_empty());
}
