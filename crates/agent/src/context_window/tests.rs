use super::*;
use crate::turn::tests::turns;

/// Ten rounds of a conversation whose texts are 1,000 bytes long.
fn conversation() -> Conversation {
    let word = "x".repeat(1_000);
    turns(&format!("u:{word} t:{word} ").repeat(10)).into()
}

/// Two bytes are one token.
fn count(text: &str) -> usize {
    text.len() / 2
}

/// The number of turns that are summed up, of 20 turns with 508 tokens each.
#[track_caller]
fn check(window: Option<u32>, prompt_tokens: usize, is_refused: bool, expected: usize) {
    let turns = conversation();
    let window = ContextWindow { tokens: window, prompt_tokens, answer_tokens: Some(0) };
    let overflow = window.overflow(&turns, &count, is_refused);
    let at = |through| turns.iter().position(|turn| turn.id == through).expect("a turn");
    let summed_up = overflow.map_or(0, |overflow| at(overflow.through) + 1);
    assert_eq!(summed_up, expected, "{window:?}");
}

#[test]
fn turns_are_summed_up_at_four_fifths_of_the_window() {
    check(Some(100_000), 0, false, 0);
    check(Some(12_600), 0, false, 0);
    check(Some(12_500), 0, false, 12);
    check(Some(5_000), 0, false, 18);
}

#[test]
fn the_prompt_takes_room_from_the_turns() {
    check(Some(50_000), 37_400, false, 0);
    check(Some(50_000), 37_500, false, 12);
    check(Some(50_000), 200_000, false, 18);
}

#[test]
fn an_unknown_window_is_full_when_the_model_refuses() {
    check(None, 0, false, 0);
    check(None, 0, true, 14);
    check(Some(1_000_000), 0, true, 10);
}

#[test]
fn an_answer_takes_at_most_half_of_the_window() {
    let turns = conversation();
    let kept = |answer_tokens| {
        let window = ContextWindow { tokens: Some(20_000), prompt_tokens: 0, answer_tokens };
        window.overflow(&turns, &count, false).map(|overflow| overflow.keep)
    };
    assert_eq!(kept(Some(0)), None);
    assert_eq!(kept(None), None);
    assert_eq!(kept(Some(u32::MAX)), Some(3_500));
}

#[test]
fn a_short_conversation_is_not_counted() {
    let turns = turns("u:hello t:hi").into();
    let window = ContextWindow { tokens: Some(8_000), prompt_tokens: 0, answer_tokens: None };
    let overflow = window.overflow(&turns, &|_| panic!("was counted"), false);
    assert_eq!(overflow, None);
}
