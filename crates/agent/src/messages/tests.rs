use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use llm::ToolCall;

use super::*;
use crate::turn::tests::turns;

fn messages(turns: &[Turn]) -> Vec<Message> {
    Messages::of(turns).all().iter().map(|message| Message::clone(message)).collect()
}

/// Messages in the notation `user(results, texts) assistant(blocks)`: a result is `id=output`, with
/// `!` in place of `=` where it is an error; a call is `id?`; a text with a provider's state ends in `+`.
fn shown(messages: &[Message]) -> String {
    let message = |message: &Message| match message {
        Message::User { results, texts } => {
            let results = results.iter().map(|result| {
                let sign = if result.is_error { '!' } else { '=' };
                let output = if result.output == INTERRUPTED { "interrupted" } else { &result.output };
                format!("{}{sign}{output}", result.call_id)
            });
            let parts: Vec<String> = results.chain(texts.iter().cloned()).collect();
            format!("user({})", parts.join(", "))
        }
        Message::Assistant(blocks) => {
            let blocks = blocks.iter().map(|block| match block {
                Block::Text { text, state: None } => text.clone(),
                Block::Text { text, state: Some(_) } => format!("{text}+"),
                Block::ToolCall(block) => format!("{}?", block.call.id),
            });
            format!("assistant({})", blocks.collect::<Vec<_>>().join(", "))
        }
    };
    messages.iter().map(message).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(script: &str, expected: &str) {
    let shown = shown(&messages(&turns(script)));
    let shown = shown.replace("What was said before, in short:\n\n", "short:").replace(OPENED, "opened");
    assert_eq!(shown, expected, "{script}");
}

#[test]
fn turns_that_belong_together_become_one_message() {
    check("", "");
    check("u:hi", "user(hi)");
    check("u:hi t:hello", "user(hi) assistant(hello)");
    check("u:hi t:hello u:bye", "user(hi) assistant(hello) user(bye)");
    check("u:hi t:one c:a r:a t:two", "user(hi) assistant(one, a?) user(a=ok) assistant(two)");
    check(
        "u:hi t:one c:a c:b r:a r:b t:two",
        "user(hi) assistant(one, a?, b?) user(a=ok, b=ok) assistant(two)",
    );
    check("u:hi t:one c:a t:two c:b r:a r:b", "user(hi) assistant(one, a?, two, b?) user(a=ok, b=ok)");
    check("u:hi c:a e:a c:b r:b", "user(hi) assistant(a?) user(a!no) assistant(b?) user(b=ok)");
    check("u:hi p:one t:two", "user(hi) assistant(one+, two)");
}

#[test]
fn a_user_speaks_first() {
    check("t:hello", "user(opened) assistant(hello)");
    check("t:hello u:hi t:good", "user(opened) assistant(hello) user(hi) assistant(good)");
    check("t:hello u:hi s1:short", "user(short:short, hi)");
}

#[test]
fn results_come_before_the_next_user_text() {
    check("u:hi c:a r:a u:bye", "user(hi) assistant(a?) user(a=ok, bye)");
    check("u:hi u:there", "user(hi, there)");
}

#[test]
fn results_stand_in_the_order_of_their_calls() {
    check("u:hi c:a c:b r:b r:a", "user(hi) assistant(a?, b?) user(a=ok, b=ok)");
    check("u:hi c:a c:b c:d r:d e:a r:b", "user(hi) assistant(a?, b?, d?) user(a!no, b=ok, d=ok)");
    check(
        "u:hi c:a t:one c:b r:b r:a t:on",
        "user(hi) assistant(a?, one, b?) user(a=ok, b=ok) assistant(on)",
    );
    check("u:hi c:a c:b r:b r:a u:bye", "user(hi) assistant(a?, b?) user(a=ok, b=ok, bye)");
    check("u:hi c:a c:b c:a r:b r:a e:a", "user(hi) assistant(a?, b?, a?) user(a=ok, b=ok, a!no)");
}

#[test]
fn no_call_stays_without_a_result() {
    check("u:hi c:a", "user(hi) assistant(a?) user(a!interrupted)");
    check("u:hi c:a c:b r:b", "user(hi) assistant(a?, b?) user(a!interrupted, b=ok)");
    check("u:hi c:a u:bye", "user(hi) assistant(a?) user(a!interrupted, bye)");
    check("u:hi c:a u:bye r:a", "user(hi) assistant(a?) user(a!interrupted, bye)");
    check("u:hi c:a c:b r:a t:on", "user(hi) assistant(a?, b?) user(a=ok, b!interrupted) assistant(on)");
}

#[test]
fn no_result_stays_without_a_call() {
    check("u:hi r:a", "user(hi)");
    check("u:hi c:a r:a r:a", "user(hi) assistant(a?) user(a=ok)");
    check("r:a", "");
}

#[test]
fn ids_may_come_again() {
    check("u:hi c:a r:a c:a e:a", "user(hi) assistant(a?) user(a=ok) assistant(a?) user(a!no)");
    check("u:hi c:a c:a r:a e:a", "user(hi) assistant(a?, a?) user(a=ok, a!no)");
}

#[test]
fn a_summary_replaces_the_turns_it_covers() {
    check("u:one t:two u:three s2:short", "user(short:short, three)");
    check("u:one c:a r:a t:two s3:short", "user(short:short) assistant(two)");
    check("u:one t:two s1:old u:three s4:new t:on", "user(short:new) assistant(on)");
    // Without the turn that it names, a summary hides nothing.
    check("u:one t:two s99:short", "user(short:short, one) assistant(two)");
    // A result whose call was summed up is not for anybody.
    check("u:one c:a r:a t:two s2:short", "user(short:short) assistant(two)");
}

#[test]
fn a_call_is_sent_back_as_it_came() {
    let mut turns = turns("u:hi c:a");
    let input: serde_json::Map<_, _> = [("path".to_owned(), "a.md".into())].into_iter().collect();
    let call = ToolCall { id: "a".into(), name: "read_file".into(), input };
    turns[1].body = TurnBody::ToolCall { call: call.clone(), malformed: None };
    let state = llm::ProviderState { provider: "x".into(), data: "signature".into() };
    turns[1].provider_state = Some(state.clone());
    let made = messages(&turns);
    let block = CallBlock { call, malformed: None, state: Some(state) };
    assert_eq!(made[1], Message::Assistant(vec![Block::ToolCall(block)]));
    let Message::User { results, .. } = &made[2] else { panic!("{made:?}") };
    assert_eq!(results[0].tool_name, "read_file", "some protocols name the tool beside its result");
}

/// Any list of turns, whether or not a run could have left it.
pub(crate) fn any_turns() -> impl Strategy<Value = Vec<Turn>> {
    let word = prop_oneof![
        2 => Just("u:said".to_owned()),
        2 => Just("t:said".to_owned()),
        1 => Just("p:".to_owned()),
        4 => "c:[abc]",
        4 => "[re]:[abc]",
        1 => (0..20_usize).prop_map(|through| format!("s{through}:short")),
    ];
    prop::collection::vec(word, 0..20).prop_map(|words| turns(&words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6d73),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_turns_the_messages_are_in_order(turns in any_turns()) {
        let made = messages(&turns);
        prop_assert!(!matches!(made.first(), Some(Message::Assistant(_))), "a user speaks first");
        let mut calls: Vec<&str> = Vec::new();
        let mut was_user = None;
        for message in &made {
            let is_user = matches!(message, Message::User { .. });
            prop_assert_ne!(was_user.replace(is_user), Some(is_user), "messages alternate");
            match message {
                Message::User { results, texts } => {
                    prop_assert!(results.len() + texts.len() > 0, "a message says something");
                    let answered: Vec<&str> = results.iter().map(|result| result.call_id.as_str()).collect();
                    prop_assert_eq!(&answered, &calls, "each call is answered at once, in its place, and nothing else is");
                    calls.clear();
                }
                Message::Assistant(blocks) => {
                    prop_assert!(!blocks.is_empty(), "a message says something");
                    calls.extend(blocks.iter().filter_map(|block| match block {
                        Block::ToolCall(block) => Some(block.call.id.as_str()),
                        Block::Text { .. } => None,
                    }));
                }
            }
        }
        prop_assert!(calls.is_empty(), "the last calls are answered too");
    }

    #[test]
    fn no_text_is_lost_whatever_the_turns(turns in any_turns()) {
        let made = messages(&turns);
        let said = |turn: &&Turn| !matches!(turn.body, TurnBody::ToolResult { .. });
        let expected = in_force(&turns).filter(said).count();
        let found: usize = made.iter().map(|message| match message {
            Message::User { texts, .. } => texts.iter().filter(|text| *text != OPENED).count(),
            Message::Assistant(blocks) => blocks.len(),
        }).sum();
        prop_assert_eq!(found, expected);
    }
}
