use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::*;

#[test]
fn counts_are_those_of_the_encoding() {
    assert_eq!(Tokenizer.count(""), 0);
    assert_eq!(Tokenizer.count("hello world"), 2);
    assert_eq!(Tokenizer.tokenizer(), "o200k_base");
}

#[test]
fn an_endless_word_is_counted_in_pieces() {
    let text = "é".repeat(200_000);
    let started = std::time::Instant::now();
    assert!(Tokenizer.count(&text) > 1_000);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

/// Random lines of what makes tokens reach across line ends.
fn text(random: &mut StdRng) -> String {
    const PIECES: [&str; 20] = [
        "word", " word", "Word", "1234", ".", "!!", "\n", "\n\n", " \n", "\r\n", "  ", "\t", "/", "//", "- ",
        "## ", "\u{a0}", "é", "日本", "**b**:",
    ];
    (0..random.random_range(0..12)).map(|_| PIECES[random.random_range(0..PIECES.len())]).collect()
}

#[test]
fn texts_that_are_apart_have_their_tokens_together() {
    let mut random = StdRng::seed_from_u64(20_260_728);
    let long = "x".repeat(RUN_BYTES + 1);
    let (mut apart, mut long_ones) = (0, 0);
    for round in 0..20_000 {
        let above = text(&mut random) + "\n";
        let mut below = text(&mut random);
        if round % 100 == 0 {
            below.push_str(&long);
            long_ones += 1;
        }
        let whole = format!("{above}{below}");
        if Tokenizer.is_apart(&below) {
            apart += 1;
            let sum = Tokenizer.count(&above) + Tokenizer.count(&below);
            assert_eq!(
                Tokenizer.count(&whole),
                sum,
                "{above:?} {:?}",
                below.chars().take(80).collect::<String>()
            );
        }
        assert_eq!(lines(&whole).collect::<String>(), whole);
    }
    assert!(apart > 5_000 && long_ones > 100, "{apart} {long_ones}");
    // These reach across the line end.
    assert!(!Tokenizer.is_apart("/etc") && !Tokenizer.is_apart("\nword") && !Tokenizer.is_apart(" \nword"));
}

#[test]
fn remembered_counts_are_the_same() {
    let counts = RememberedCounts::default();
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..200 {
        let text = text(&mut random);
        for _ in 0..2 {
            assert_eq!(counts.count(&text), Tokenizer.count(&text));
        }
    }
    assert!(counts.0.get().is_some_and(|counts| counts.len() > 100));
    assert_eq!(counts.tokenizer(), Tokenizer.tokenizer());
}
