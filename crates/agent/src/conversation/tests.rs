use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::messages::tests::any_turns;
use crate::turn::tests::turns;

/// The place of the first message that two requests do not share.
fn shared(earlier: &[SharedMessage], later: &[SharedMessage]) -> usize {
    let pairs = earlier.iter().zip(later);
    pairs.take_while(|(one, other)| std::ptr::eq::<llm::Message>(&***one, &***other)).count()
}

#[test]
fn a_message_that_was_sent_is_sent_again_and_not_built_again() {
    let mut conversation = Conversation::from(turns("u:one t:two u:three t:four"));
    let first = conversation.messages();
    conversation.extend(turns("u:five c:a r:a"));
    let second = conversation.messages();
    assert_eq!((first.len(), second.len(), shared(&first, &second)), (4, 7, 4));
    conversation.extend(turns("t:six"));
    let third = conversation.messages();
    // The result was the last message, which the next turn could still change.
    assert_eq!((third.len(), shared(&second, &third)), (8, 6));
}

#[test]
fn a_turn_is_counted_once() {
    let counted = Cell::new(0);
    let count = |text: &str| {
        counted.set(counted.get() + 1);
        text.len()
    };
    let mut conversation = Conversation::from(turns("u:one t:three"));
    let sum = |conversation: &Conversation| -> usize {
        conversation.tokens_in_force(&count).map(|(_, tokens)| tokens).sum()
    };
    assert_eq!((sum(&conversation), sum(&conversation), counted.get()), (8, 8, 2));
    conversation.extend(turns("u:five"));
    assert_eq!((sum(&conversation), counted.get(), conversation.bytes_in_force()), (12, 3, 12));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6d73),
        ..ProptestConfig::default()
    })]

    /// Turn by turn, with some taken back on the way, and whether or not a request was made in between.
    #[test]
    fn a_conversation_that_grows_equals_one_that_was_read(turns in any_turns(), back in 0..5_usize) {
        let mut grown = Conversation::default();
        for turn in &turns {
            grown.push(turn.clone());
            grown.messages();
        }
        grown.extend(turns.iter().take(back).cloned());
        grown.truncate(turns.len());
        let read = Conversation::from(turns);
        prop_assert_eq!(grown.messages(), read.messages());
        prop_assert_eq!(grown.bytes_in_force(), read.bytes_in_force());
        prop_assert_eq!(grown.memory_bytes(), read.memory_bytes());
    }
}
